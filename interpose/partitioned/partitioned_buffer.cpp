#include "interpose/partitioned/partitioned_buffer.hpp"

#include "interpose/binding/mpi_details.hpp"
#include "interpose/progress/progress.hpp"
#include "interpose/staging/staged_call.hpp"

namespace penstock::interpose {
namespace {

constexpr const char* why_partitions_are_staged = "partitioned messages are always staged";

}  // namespace

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
  kind_ = buffer.kind;
  is_staged_ = true;
  return {};
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

Status PartitionedBuffer::fetch(const transports::Layout& bytes) const {
  return stand_in_.fetch(bytes, why_partitions_are_staged);
}

Status PartitionedBuffer::write_back(const transports::Layout& bytes) const {
  return stand_in_.write_back(bytes, why_partitions_are_staged);
}

}  // namespace penstock::interpose
