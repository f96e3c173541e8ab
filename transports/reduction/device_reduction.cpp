#include "transports/reduction/device_reduction.hpp"

#include <algorithm>

#include "transports/cuda/kernels.hpp"
#include "transports/kernels/copy_batch.hpp"

namespace penstock::transports {
namespace {

using namespace kernels;  // the element types

/// Enough for every processor of a large GPU; with more data each thread combines more.
#ifdef PENSTOCK_SIMULATED_GPU
constexpr std::uint64_t most_reduction_blocks = 4;
#else
constexpr std::uint64_t most_reduction_blocks = 1056;  // 8 on each of 132
#endif

constexpr std::size_t element_bytes[] = {
#define PENSTOCK_ROW(name, Type) sizeof(Type),
    PENSTOCK_REDUCED_TYPES(PENSTOCK_ROW)
#undef PENSTOCK_ROW
};

cuda::Kernel kernel_of(ElementType type) noexcept {
  return static_cast<cuda::Kernel>(static_cast<unsigned>(cuda::Kernel::reduce_int8) +
                                   static_cast<unsigned>(type));
}

Status launch_one(kernels::Reduction& parameters, ElementType type, CUstream stream) noexcept {
  constexpr std::uint64_t vector_bytes = 16;
  const std::uint64_t vectors = parameters.count * bytes_of(type) / vector_bytes + 1;
  const std::uint64_t blocks =
      std::min((vectors + kernels::most_threads - 1) / kernels::most_threads, most_reduction_blocks);
  void* arguments[] = {&parameters};
  return cuda::check(cuda::driver()->cuLaunchKernel(
                         cuda::Kernels::of_process()[kernel_of(type)], static_cast<unsigned>(blocks), 1, 1,
                         kernels::most_threads, 1, 1, 0, stream, arguments, nullptr),
                     "cuLaunchKernel");
}

/// Launches as many kernels as the sources need; the last one raises the flag, if any.
Status launch_one_by_one(const VectorReduction& reduction, const cuda::CompletionFlag* flag,
                         CUstream stream) noexcept {
  kernels::Reduction parameters{};
  parameters.to = reduction.to;
  parameters.count = reduction.count;
  parameters.operation = reduction.operation;
  for (std::size_t next = 0; next < reduction.sources.size();) {
    parameters.sources = 0;
    // from the second launch on, the result of those before is the first source
    if (next != 0) parameters.from[parameters.sources++] = reduction.to;
    while (parameters.sources < kernels::most_sources && next < reduction.sources.size())
      parameters.from[parameters.sources++] = reduction.sources[next++];
    if (next == reduction.sources.size() && flag != nullptr) {
      parameters.flag = flag->device_word();
      parameters.slot = flag->slot();
    }
    if (Status launched = launch_one(parameters, reduction.type, stream); !launched.ok()) return launched;
  }
  return {};
}

}  // namespace

std::size_t bytes_of(ElementType type) noexcept {
  return element_bytes[static_cast<std::size_t>(type)];
}

bool is_defined(ReductionOperation operation, ElementType type) noexcept {
  switch (type) {
#define PENSTOCK_ROW(name, Type) \
  case ElementType::name:        \
    return knows<Type>(operation);
    PENSTOCK_REDUCED_TYPES(PENSTOCK_ROW)
#undef PENSTOCK_ROW
  }
  return false;
}

Status DeviceReduction::launch_in_turn(std::span<const VectorReduction> reductions) noexcept {
  if (Status usable = cuda::Kernels::of_process().status(); !usable.ok()) return usable;
  const cuda::ContextScope scope(*context_);
  if (!scope.status().ok()) return scope.status();
  CUstream stream = nullptr;
  if (Status made = context_->stream(cuda::StreamUse::reduction, stream); !made.ok()) return made;
  // without a flag (nothing could be pinned, or all are in use) this call waits: the kernel waits for nothing
  const Status ready = launch_.prepare(context_, stream);
  if (!ready.ok() && ready.code() != Code::out_of_memory) return ready;
  const cuda::CompletionFlag* const flag = ready.ok() ? &launch_.flag() : nullptr;
  Status launched;
  for (std::size_t i = 0; launched.ok() && i < reductions.size(); ++i)
    launched = launch_one_by_one(reductions[i], i + 1 == reductions.size() ? flag : nullptr, stream);
  if (launched.ok() && flag != nullptr) {
    launch_.launched();
  } else {
    // after a failed launch, those before it still run, and use memory that is about to be freed
    const CUresult waited = cuda::driver()->cuStreamSynchronize(stream);
    if (launched.ok()) launched = cuda::check(waited, "cuStreamSynchronize");
  }
  return launched;
}

}  // namespace penstock::transports
