#include "interpose/windows/access.hpp"

#include "interpose/datatypes/datatype_layout.hpp"
#include "interpose/progress/progress.hpp"
#include "transports/host/in_call.hpp"

namespace penstock::interpose {

int check_buffer(MPI_Count count, MPI_Datatype datatype) noexcept {
  if (count < 0) return MPI_ERR_COUNT;
  return datatype == MPI_DATATYPE_NULL ? MPI_ERR_TYPE : MPI_SUCCESS;
}

CheckedTarget check_target(Window& window, const TargetPart& part) {
  CheckedTarget checked;
  if (part.rank == MPI_PROC_NULL) {
    checked.is_nothing = true;
    return checked;
  }
  checked.code = check_buffer(part.count, part.datatype);
  if (part.rank < 0 || static_cast<std::size_t>(part.rank) >= window.size()) checked.code = MPI_ERR_RANK;
  if (checked.code == MPI_SUCCESS && part.displacement < 0) checked.code = MPI_ERR_DISP;
  if (checked.code != MPI_SUCCESS) return checked;
  checked.rank = static_cast<std::size_t>(part.rank);
  if (!window.may_access(checked.rank)) {
    checked.code = MPI_ERR_RMA_SYNC;
    return checked;
  }
  const std::shared_ptr<MemberMemory>& memory = window.member(checked.rank);
  std::ptrdiff_t offset = 0;
  if (__builtin_mul_overflow(part.displacement, memory->unit(), &offset)) {
    checked.code = MPI_ERR_RMA_RANGE;
    return checked;
  }
  checked.where = layout_of(part.datatype, part.count).shifted(offset);
  checked.is_nothing = checked.where.bytes() == 0;
  if (memory->holds(checked.where)) {
    checked.memory = memory;
  } else {
    checked.code = MPI_ERR_RMA_RANGE;
  }
  return checked;
}

transports::BufferView origin_view(const void* buffer, MPI_Count count, MPI_Datatype datatype) {
  transports::BufferView view = view_of(buffer, count, datatype);
  view.handed_over_ns = transports::time_of_call_ns();
  if (transports::lives_on_device(view.buffer.kind)) note_gpu_use();
  return view;
}

}  // namespace penstock::interpose
