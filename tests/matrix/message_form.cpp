#include "tests/matrix/message_form.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace penstock::matrix {

MessageForm::MessageForm(Form form, std::size_t bytes, Room room) {
  const std::size_t unit = bytes % sizeof(double) == 0 ? sizeof(double) : 1;
  const MPI_Datatype base = unit == 1 ? MPI_BYTE : MPI_DOUBLE;
  const std::size_t units = bytes / unit;

  if (form == Form::contiguous) {
    datatype_ = base;
    const std::size_t spare = room == Room::exact ? 0 : room == Room::more_elements ? 5 : units + 9;
    count_ = static_cast<int>(units + spare);
    block_bytes_ = stride_bytes_ = bytes;
    span_bytes_ = (units + spare) * unit;
    return;
  }

  // rows of a matrix with a gap of half a row (at least one unit) after each
  const std::size_t row = std::max<std::size_t>(1, std::gcd(units, std::size_t{64}));
  const std::size_t pitch = row + std::max<std::size_t>(1, row / 2);
  const std::size_t rows = std::max<std::size_t>(1, units / row);
  const std::size_t rows_in_element = room == Room::larger_element ? 2 * rows + 1 : rows;
  MPI_Type_vector(static_cast<int>(rows_in_element), static_cast<int>(row), static_cast<int>(pitch), base,
                  &datatype_);
  MPI_Type_commit(&datatype_);
  owns_datatype_ = true;
  count_ = room == Room::more_elements ? 3 : bytes == 0 && room == Room::exact ? 0 : 1;
  block_bytes_ = row * unit;
  stride_bytes_ = pitch * unit;
  const std::size_t extent = ((rows_in_element - 1) * pitch + row) * unit;
  span_bytes_ = static_cast<std::size_t>(count_) * extent;
}

MessageForm::~MessageForm() {
  if (owns_datatype_) MPI_Type_free(&datatype_);
}

void MessageForm::make_absolute(const void* data) {
  MPI_Aint address = 0;
  MPI_Get_address(data, &address);
  MPI_Datatype absolute = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed(1, &count_, &address, datatype_, &absolute);
  MPI_Type_commit(&absolute);
  if (owns_datatype_) MPI_Type_free(&datatype_);
  datatype_ = absolute;
  owns_datatype_ = true;
  count_ = 1;
}

void MessageForm::scatter(const std::vector<std::byte>& payload, std::byte* span) const {
  for (std::size_t done = 0, offset = 0; done < payload.size();
       done += block_bytes_, offset += stride_bytes_) {
    std::memcpy(span + offset, payload.data() + done, std::min(block_bytes_, payload.size() - done));
  }
}

}  // namespace penstock::matrix
