#include "transports/one_shot/one_shot_collective.hpp"

#include <algorithm>
#include <new>

#include "transports/cuda/kernels.hpp"
#include "transports/kernels/copy_batch.hpp"
#include "transports/stream_order/stream_order.hpp"

namespace penstock::transports {
namespace {

/// A kernel that waits in vain ends after this time, so that others can use the GPU, and is launched again.
/// It is long compared with the offset of processes that begin together, and short compared with any wait for
/// a GPU. If partners may be late, kernels of several collectives may wait for each other's turns, in another
/// order on each GPU, so they end soon.
#ifdef PENSTOCK_SIMULATED_GPU
constexpr std::uint64_t limit_ns = 20'000'000;  // processes share the machine's cores
constexpr std::uint64_t limit_of_late_ns = limit_ns;
constexpr std::uint64_t most_one_shot_blocks = 1;  // blocks run one after the other there
#else
constexpr std::uint64_t limit_ns = 2'000'000;
constexpr std::uint64_t limit_of_late_ns = 100'000;
constexpr std::uint64_t most_one_shot_blocks = 64;  // half of the processors; a line each for 32,768 threads
#endif

/// At the end of each part.
constexpr std::size_t route_bytes = 256;
static_assert(sizeof(kernels::OneShotRoute) <= route_bytes);

/// Returns none if the resident kernel does not know the element type.
std::optional<kernels::ResidentType> resident_type_of(const OneShotWork& work) noexcept {
  if (!work.reduction) return kernels::ResidentType::blocks;
  switch (work.reduction->type) {
#define PENSTOCK_ROW(name, Type) \
  case ElementType::name:        \
    return kernels::ResidentType::name;
    PENSTOCK_RESIDENT_TYPES(PENSTOCK_ROW)
#undef PENSTOCK_ROW
    default:
      return std::nullopt;
  }
}

std::uint64_t lines_of(std::size_t bytes) noexcept {
  return (bytes + kernels::one_shot_line_bytes - 1) / kernels::one_shot_line_bytes;
}

cuda::Kernel kernel_of(const OneShotWork& work) noexcept {
  if (!work.reduction) return cuda::Kernel::one_shot_blocks;
  const ElementType type = work.reduction->type;
  return static_cast<cuda::Kernel>(static_cast<unsigned>(cuda::Kernel::one_shot_int8) +
                                   static_cast<unsigned>(type));
}

constexpr std::size_t line_bytes = kernels::one_shot_line_words * sizeof(std::uint64_t);

}  // namespace

OneShotParts equal_parts(std::size_t bytes, bool is_for_each) noexcept {
  OneShotParts parts{};
  std::ranges::fill(parts.sent, bytes);
  std::ranges::fill(parts.received, bytes);
  parts.is_for_each = is_for_each;
  return parts;
}

std::size_t OneShotCollective::largest_vector(std::size_t memory_bytes, std::size_t processes) noexcept {
  const std::size_t lines = (memory_bytes - route_bytes) / (kernels::one_shot_sets * processes * line_bytes);
  return (lines - kernels::one_shot_header_lines) * kernels::one_shot_line_bytes;
}

std::size_t OneShotCollective::memory_for(std::size_t bytes, std::size_t processes) noexcept {
  const std::size_t lines = kernels::one_shot_header_lines + lines_of(bytes);
  return kernels::one_shot_sets * processes * lines * line_bytes + route_bytes;
}

OneShotCollective::OneShotCollective(const SymmetricMemory& memory, std::size_t own_process,
                                     Partners partners) noexcept
    : memory_(memory), own_process_(own_process), partners_(partners) {
  const std::size_t processes = memory.processes();
  const std::size_t slot_bytes = (memory.bytes() - route_bytes) / (kernels::one_shot_sets * processes) /
                                 kernels::one_shot_line_bytes * kernels::one_shot_line_bytes;
  const auto slot = [&](std::size_t part_of, std::size_t vector_of) {
    return reinterpret_cast<std::uint64_t>(memory.of(part_of) + vector_of * slot_bytes);
  };
  route_.ranks = static_cast<std::uint32_t>(processes);
  route_.set_bytes = processes * slot_bytes;
  for (std::size_t process = 0; process < processes; ++process) {
    route_.outgoing[process] = slot(process, own_process);
    route_.incoming[process] = slot(own_process, process);
  }
  std::byte* const behind_slots = memory.of(own_process) + memory.bytes() - route_bytes;
  const cuda::ContextScope scope(*memory.context());
  const cuda::Driver* driver = cuda::driver();
  CUstream stream = nullptr;
  if (!scope.status().ok() || driver == nullptr ||
      !memory.context()->stream(cuda::StreamUse::one_shot, stream).ok() ||
      driver->cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(behind_slots),
                            reinterpret_cast<CUdeviceptr>(&route_), sizeof route_, stream) != CUDA_SUCCESS ||
      driver->cuStreamSynchronize(stream) != CUDA_SUCCESS) {
    return;
  }
  route_on_device_ = reinterpret_cast<const kernels::OneShotRoute*>(behind_slots);
}

Status OneShotCollective::launch(const OneShotWork& work, std::uint64_t since_ns) noexcept {
  work_ = work;
  if (work_.reduction) work_.reduction->combined = std::min(work_.reduction->combined, route_.ranks);
  largest_ = largest_of(work.parts);
  // the next collective uses the other set, whatever its stamp
  stamp_ = stamp_ == most_collectives ? kernels::one_shot_sets : stamp_ + 1;
  if (since_ns != 0) return launch_kernel(true, since_ns);
  const bool suits_resident_kernel =
      route_on_device_ != nullptr && resident_type_of(work_) && largest_ <= largest_one_shot_order;
  if (suits_resident_kernel && order()) return {};
  if (suits_resident_kernel)
    note_small_copy(memory_.context(), memory_.of(own_process_), largest_ > largest_unshared_one_shot_order);
  return launch_kernel(true);
}

Status OneShotCollective::launch_again() noexcept {
  return launch_kernel(false);
}

/// Orders it from the resident kernel. Returns false if none runs.
bool OneShotCollective::order() noexcept try {
  const OneShotReduction reduction = work_.reduction.value_or(OneShotReduction{});
  ordered_ = order_one_shot({work_.own, work_.to, work_.parts, reduction.combined, route_on_device_, stamp_,
                             *resident_type_of(work_), reduction.operation},
                            memory_.context());
  return ordered_ != nullptr;
} catch (const std::bad_alloc&) {
  return false;
}

Status OneShotCollective::launch_kernel(bool sends, std::uint64_t since_ns) noexcept {
  if (Status usable = cuda::Kernels::of_process().status(); !usable.ok()) return usable;
  const cuda::ContextRef& context = memory_.context();
  const cuda::ContextScope scope(*context);
  if (!scope.status().ok()) return scope.status();
  CUstream stream = nullptr;
  const bool may_be_late = partners_ == Partners::may_be_late;
  const auto use = may_be_late ? cuda::StreamUse::one_shot_beside : cuda::StreamUse::one_shot;
  if (Status made = context->stream(use, stream); !made.ok()) return made;
  if (since_ns != 0) {
    if (Status ordered = cuda::order_after_application(context, stream, since_ns); !ordered.ok())
      return ordered;
  }
  if (Status ready = launch_.prepare(context, stream); !ready.ok()) return ready;

  const std::uint64_t set = stamp_ % kernels::one_shot_sets * route_.set_bytes;
  kernels::OneShotCollective parameters{};
  parameters.to = work_.to;
  parameters.own = work_.own;
  parameters.is_for_each = work_.parts.is_for_each;
  parameters.is_checked = work_.parts.is_checked;
  for (std::uint32_t process = 0; process < route_.ranks; ++process) {
    parameters.peers[process] = {work_.parts.sent[process], work_.parts.received[process],
                                 reinterpret_cast<std::uint64_t*>(route_.outgoing[process] + set),
                                 reinterpret_cast<const std::uint64_t*>(route_.incoming[process] + set)};
  }
  parameters.ranks = route_.ranks;
  parameters.stamp = stamp_;
  if (work_.reduction) {
    parameters.combined = work_.reduction->combined;
    parameters.operation = work_.reduction->operation;
  }
  parameters.sends = sends;
  parameters.limit_ns = may_be_late ? limit_of_late_ns : limit_ns;
  parameters.flag = launch_.flag().device_word();
  parameters.slot = launch_.flag().slot();

  const std::uint64_t lines = std::max<std::uint64_t>(lines_of(largest_), 1);
  const auto threads = static_cast<unsigned>(std::clamp<std::uint64_t>(lines, 32, kernels::most_threads));
  const std::uint64_t blocks = std::min((lines + threads - 1) / threads, most_one_shot_blocks);
  void* arguments[] = {&parameters};
  Status launched = cuda::check(cuda::driver()->cuLaunchKernel(cuda::Kernels::of_process()[kernel_of(work_)],
                                                               static_cast<unsigned>(blocks), 1, 1, threads,
                                                               1, 1, 0, stream, arguments, nullptr),
                                "cuLaunchKernel");
  if (launched.ok()) launch_.launched();
  return launched;
}

Status OneShotCollective::query(Outcome& outcome) noexcept {
  outcome = Outcome::pending;
  if (ordered_ != nullptr) return query_order(outcome);
  bool done = false;
  Status state = launch_.query(done);
  if (!state.ok() || !done) return state;
  switch (launch_.flag().value()) {
    case kernels::one_shot_complete:
      outcome = Outcome::complete;
      break;
    case kernels::one_shot_mismatched:
      outcome = Outcome::mismatched;
      break;
    default:
      outcome = Outcome::waiting;
  }
  return state;
}

Status OneShotCollective::query_order(Outcome& outcome) noexcept {
  auto ended = OrderedCollective::Outcome::pending;
  Status state = ordered_->query(ended);
  if (state.ok() && ended == OrderedCollective::Outcome::pending) return {};
  ordered_ = nullptr;
  if (!state.ok()) return state;
  if (ended == OrderedCollective::Outcome::missed) return launch_kernel(true);
  outcome = ended == OrderedCollective::Outcome::complete ? Outcome::complete : Outcome::waiting;
  return {};
}

}  // namespace penstock::transports
