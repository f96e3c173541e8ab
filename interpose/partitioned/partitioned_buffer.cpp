#include "interpose/partitioned/partitioned_buffer.hpp"

#include "interpose/binding/mpi_details.hpp"
#include "interpose/progress/progress.hpp"
#include "interpose/staging/staged_call.hpp"

namespace penstock::interpose {
Status PartitionedBuffer::open(const PartitionedArgument& user) {
  if (user.partitions <= 0 || user.count <= 0 || !lies_on_device(user.buffer)) return {};
  const transports::Buffer buffer = transports::inspect(user.buffer);
  if (buffer.kind == transports::BufferKind::unknown)
    return {Code::bad_argument, "device memory that was freed"};
  MPI_Count elements = 0;
  if (__builtin_mul_overflow(user.count, user.partitions, &elements)) return {Code::out_of_memory, "staging"};
  const ByteRange whole(elements, user.datatype);
  if (whole.empty()) return {};  // the address will not be used
  note_gpu_use();
  if (Status opened = stand_in_.open(user.buffer, whole, whole); !opened.ok()) return opened;
  partition_ = ByteRange(user.count, user.datatype).layout();
  distance_ = user.count * extent_of(user.datatype);
  buffer_ = buffer;
  partitions_ = user.partitions;
  is_staged_ = true;
  return {};
}

std::optional<transports::BufferView> PartitionedBuffer::in_one_piece() const {
  const bool has_gaps =
      !partition_.is_contiguous() || distance_ != static_cast<std::ptrdiff_t>(partition_.bytes());
  const std::size_t bytes = partition_.bytes() * static_cast<std::size_t>(partitions_);
  if (has_gaps || !buffer_.holds(partition_.first_offset(), bytes)) return std::nullopt;
  return transports::BufferView{.buffer = buffer_,
                                .layout = transports::Layout::contiguous(bytes, partition_.first_offset())};
}

transports::Layout PartitionedBuffer::bytes_of(std::span<const int> partitions) const {
  transports::Layout bytes;
  for (const int partition : partitions) {
    for (transports::Block block : partition_.blocks()) {
      block.offset += partition * distance_;
      bytes.append(block);
    }
  }
  return bytes;
}

}  // namespace penstock::interpose
