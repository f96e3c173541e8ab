#include "interpose/staging/packed_argument.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "interpose/binding/mpi_details.hpp"
#include "interpose/calls/errors.hpp"
#include "interpose/calls/transfer_record.hpp"
#include "interpose/datatypes/datatype_layout.hpp"
#include "interpose/staging/staged_argument.hpp"
#include "transports/copy_selection/blocking_copy.hpp"
#include "transports/host/in_call.hpp"
#include "transports/stream_order/readiness.hpp"

namespace penstock::interpose {

using transports::BufferKind;
using transports::BufferView;

bool pack_into_few_blocks(MPI_Count count, MPI_Datatype datatype, const ByteRange& as_they_lie) {
  constexpr std::size_t few = 4096;
  const std::size_t packed = layout_of(datatype, 1).blocks().size() * static_cast<std::size_t>(count);
  return packed <= std::max(few, 2 * as_they_lie.layout().blocks().size());
}

void PackedArgument::add(MPI_Count count, MPI_Datatype datatype, std::ptrdiff_t address) {
  if (count <= 0) return;
  const transports::Layout elements = layout_of(datatype, count);
  for (transports::Block block : elements.blocks()) {
    block.offset += base_ + address;
    layout_.append(block);
  }
}

MPI_Datatype PackedArgument::make(std::size_t bytes, std::size_t extent) {
  const ByteDatatype& made = made_.emplace_back(static_cast<MPI_Count>(bytes), static_cast<MPI_Aint>(extent));
  if (made.code() != MPI_SUCCESS) throw UnreadableDatatype("MPI_Type_contiguous", made.code());
  last_made_bytes_ = bytes;
  return made.get();
}

MPI_Datatype PackedArgument::element_of(MPI_Datatype datatype) {
  const std::size_t bytes = payload_bytes(1, datatype);
  return !made_.empty() && last_made_bytes_ == bytes ? made_.back().get() : make(bytes, bytes);
}

MPI_Datatype PackedArgument::spaced_element_of(MPI_Datatype datatype) {
  const std::size_t bytes = payload_bytes(1, datatype);
  const std::size_t elements = bytes == 0 ? 0 : layout_.bytes() / bytes;
  const std::ptrdiff_t extent = extent_of(datatype);
  // the extent of a single element may reach from one allocation to another
  if (elements < 2 || extent <= static_cast<std::ptrdiff_t>(bytes)) return element_of(datatype);
  spaced_ = elements;
  element_bytes_ = bytes;
  extent_ = static_cast<std::size_t>(extent);
  return make(bytes, extent_);
}

Status PackedArgument::open(bool is_read, bool is_written) {
  is_read_ = is_read;
  is_written_ = is_written;
  if (are_too_far_)
    return {Code::declined, "2 GiB or more at absolute addresses, with displacements that are ints"};
  memory_ = HostMemory::take(spaced_ == 0 ? layout_.bytes() : spaced_ * extent_);
  if (memory_.data() == nullptr) return {Code::out_of_memory, "staging"};
  if (layout_.bytes() != 0) view_ = absolute_view(std::exchange(layout_, {}));
  return {};
}

Status PackedArgument::fetch(const char* why) const {
  if (!is_read_) return {};
  const BufferView& from = view();
  Status copied = staged_copy(from.layout.bytes(), from.buffer.kind, BufferKind::pageable, why,
                              [&] { return transports::download(memory_.data(), from); });
  if (!copied.ok()) return copied;
  for (std::size_t element = spaced_; element-- > 0;) {
    std::memmove(memory_.data() + element * extent_, memory_.data() + element * element_bytes_,
                 element_bytes_);
  }
  return {};
}

Status PackedArgument::write_back(const char* why) const {
  if (!is_written_) return {};
  for (std::size_t element = 0; element < spaced_; ++element) {
    std::memmove(memory_.data() + element * element_bytes_, memory_.data() + element * extent_,
                 element_bytes_);
  }
  const BufferView& to = view();
  return staged_copy(to.layout.bytes(), BufferKind::pageable, to.buffer.kind, why,
                     [&] { return transports::upload(to, memory_.data()); });
}

bool PackedArgument::is_idle() const {
  return transports::is_idle(view());
}

const BufferView& PackedArgument::view() const {
  view_.handed_over_ns = transports::time_of_call_ns();
  if (!view_.is_scattered()) view_.buffer = transports::inspect(view_.buffer.pointer);
  return view_;
}

}  // namespace penstock::interpose
