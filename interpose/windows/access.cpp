#include "interpose/windows/access.hpp"

#include <cstdint>
#include <cstdio>

#include "interpose/datatypes/datatype_layout.hpp"
#include "interpose/node/policy.hpp"
#include "interpose/progress/progress.hpp"
#include "interpose/record/recorder.hpp"
#include "transports/cuda/context.hpp"
#include "transports/host/in_call.hpp"

namespace penstock::interpose {

int check_buffer(MPI_Count count, MPI_Datatype datatype) noexcept {
  if (count < 0) return MPI_ERR_COUNT;
  return datatype == MPI_DATATYPE_NULL ? MPI_ERR_TYPE : MPI_SUCCESS;
}

namespace {

/// Finds an access in the memory that the target gave to the window.
void find_in_member(const Window& window, const TargetPart& part, CheckedTarget& checked) {
  const std::shared_ptr<MemberMemory>& memory = window.member(checked.rank);
  std::ptrdiff_t offset = 0;
  if (part.displacement < 0) {
    checked.code = MPI_ERR_DISP;
  } else if (__builtin_mul_overflow(part.displacement, memory->unit(), &offset)) {
    checked.code = MPI_ERR_RMA_RANGE;
  } else {
    checked.where = layout_of(part.datatype, part.count).shifted(offset);
    checked.memory = memory;
    if (!memory->holds(checked.where)) checked.code = MPI_ERR_RMA_RANGE;
  }
}

/// Says why a region that the target has attached is out of this rank's reach.
void say_out_of_reach(const char* why_not) {
  Line line;
  std::snprintf(line.data(), line.size(), "memory attached to a window cannot be accessed: %s", why_not);
  record::notice(line.data());
}

/// While a GPU works, the driver unmaps nothing, so that memory in the place of what was freed is not mapped.
void wait_until_mapping_is_possible() {
  const std::uint64_t end_ns = transports::steady_now_ns() + policy::quiet_gpu_limit_ns;
  wait_with_progress(
      [&] { return transports::cuda::Context::all_are_quiet() || transports::steady_now_ns() > end_ns; });
}

FoundRegion find_region(RegionCache& regions, std::size_t target, std::uint64_t address,
                        std::uint64_t bytes) {
  FoundRegion found = regions.find(target, address, bytes);
  if (found.why_not == nullptr || !found.is_new) return found;
  wait_until_mapping_is_possible();
  found = regions.find(target, address, bytes);
  if (found.why_not != nullptr) say_out_of_reach(found.why_not);
  return found;
}

/// Finds an access in the regions that the target has attached: the displacement is an address.
void find_in_region(DynamicMemory& dynamic, const TargetPart& part, CheckedTarget& checked) {
  const transports::Layout layout = layout_of(part.datatype, part.count);
  if (layout.bytes() == 0) return;
  const auto [begin, end] = layout.span();
  std::ptrdiff_t first = 0;
  if (__builtin_add_overflow(part.displacement, begin, &first)) {
    checked.code = MPI_ERR_RMA_RANGE;
    return;
  }
  const FoundRegion found = find_region(dynamic.all, checked.rank, static_cast<std::uint64_t>(first),
                                        static_cast<std::uint64_t>(end - begin));
  if (found.why_not != nullptr) {
    checked.code = MPI_ERR_UNSUPPORTED_OPERATION;
  } else if (found.memory == nullptr) {
    checked.code = MPI_ERR_RMA_RANGE;
  } else {
    checked.where = layout.shifted(first - static_cast<std::ptrdiff_t>(found.base) - begin);
    checked.memory = found.memory;
    if (!lies_within(checked.where, found.bytes)) checked.code = MPI_ERR_RMA_RANGE;
  }
}

}  // namespace

CheckedTarget check_target(Window& window, const TargetPart& part) {
  CheckedTarget checked;
  if (part.rank == MPI_PROC_NULL) {
    checked.is_nothing = true;
    return checked;
  }
  checked.code = check_buffer(part.count, part.datatype);
  if (part.rank < 0 || static_cast<std::size_t>(part.rank) >= window.size()) checked.code = MPI_ERR_RANK;
  if (checked.code != MPI_SUCCESS) return checked;
  checked.rank = static_cast<std::size_t>(part.rank);
  if (!window.may_access(checked.rank)) {
    checked.code = MPI_ERR_RMA_SYNC;
    return checked;
  }
  DynamicMemory* const dynamic = window.dynamic();
  dynamic != nullptr ? find_in_region(*dynamic, part, checked) : find_in_member(window, part, checked);
  checked.is_nothing = checked.where.bytes() == 0;
  return checked;
}

transports::BufferView origin_view(const void* buffer, MPI_Count count, MPI_Datatype datatype) {
  transports::BufferView view = view_of(buffer, count, datatype);
  view.handed_over_ns = transports::time_of_call_ns();
  if (transports::lives_on_device(view.buffer.kind)) note_gpu_use();
  return view;
}

WindowCopy copy_that_begins(Direction direction, transports::BufferKind origin, const MemberMemory& memory,
                            std::size_t bytes) noexcept {
  if (!record::is_on()) return {};
  const auto& reached = memory.reached();
  const bool is_on_device = reached && transports::lives_on_device(reached->kind);
  const auto target = reached ? reached->kind : transports::BufferKind::pageable;
  WindowCopy copy{.begin_ns = record::now_ns(), .bytes = bytes};
  copy.transport = is_on_device ? trace::TransportKind::peer : trace::TransportKind::staged;
  if (memory.is_own()) copy.transport = trace::TransportKind::local;
  copy.source = direction == Direction::put ? origin : target;
  copy.destination = direction == Direction::put ? target : origin;
  return copy;
}

}  // namespace penstock::interpose
