// Launches, by the runtime API's back door or by cuLaunchKernel: copies a kernel's arguments, translates the
// device addresses in them, and queues it on its stream.
#include <dlfcn.h>

#include <cstring>
#include <vector>

#include "activity.hpp"
#include "call.hpp"
#include "kernel.hpp"
#include "library.hpp"
#include "memory.hpp"

namespace simulated_gpu {
namespace {

constexpr std::uint32_t most_threads_per_block = 1024;

/// Arguments as the kernel gets them. Every aligned word that holds an address of memory which the device can
/// reach is replaced by the address where that memory is mapped; others stay, and fault when they are used.
std::vector<std::uint64_t> translated(const SimulatedGpuLaunch& launch, Context& context) {
  constexpr std::size_t word_bytes = sizeof(std::uint64_t);
  std::vector<std::uint64_t> words((launch.argument_bytes + word_bytes - 1) / word_bytes + 1);
  std::memcpy(words.data(), launch.arguments, launch.argument_bytes);
  const AddressSpace& space = AddressSpace::instance();
  for (std::size_t i = 0; i < launch.argument_bytes / word_bytes; ++i) {
    if (!space.contains(words[i])) continue;
    AllocationRef allocation = find_allocation(words[i]);
    // A pointer one past the end belongs to no allocation, but may still be compared with. Any other that
    // does not is taken for two numbers of 32 bits, which may look like one.
    if (allocation == nullptr) allocation = find_allocation(words[i] - 1);
    if (allocation != nullptr && context.reaches(*allocation->device))
      words[i] = reinterpret_cast<std::uint64_t>(AddressSpace::mapped(words[i]));
  }
  return words;
}

const char* name_of(const void* function) {
  Dl_info info{};
  return dladdr(function, &info) != 0 && info.dli_sname != nullptr && info.dli_saddr == function
             ? info.dli_sname
             : "(kernel without a dynamic symbol)";
}

std::uint64_t volume(const std::uint32_t (&extent)[3]) {
  return std::uint64_t{extent[0]} * extent[1] * extent[2];
}

/// `name` lives as long as the process.
void submit(const SimulatedGpuLaunch& launch, const char* name, CUstream handle) {
  require(
      volume(launch.grid) > 0 && volume(launch.block) > 0 && volume(launch.block) <= most_threads_per_block,
      CUDA_ERROR_INVALID_VALUE);
  const auto stream = stream_of(handle);
  SimulatedGpuActivity activity{};
  activity.kind = SIMULATED_GPU_KERNEL;
  activity.name = name;
  std::memcpy(activity.grid, launch.grid, sizeof activity.grid);
  std::memcpy(activity.block, launch.block, sizeof activity.block);
  submit_observed(*stream, activity, [kernel = launch, arguments = translated(launch, stream->context())] {
    run_kernel(kernel, arguments.data());
  });
}

/// Function and parameters behind one another, as the kernel's `run` wants them.
std::vector<char> packed(const SimulatedGpuKernel& kernel, void** parameters) {
  std::vector<char> arguments(kernel.argument_bytes);
  std::memcpy(arguments.data(), &kernel.function, sizeof kernel.function);
  for (std::uint32_t i = 0; i < kernel.parameter_count; ++i) {
    std::memcpy(arguments.data() + kernel.offsets[i + 1], parameters[i], kernel.sizes[i + 1]);
  }
  return arguments;
}

}  // namespace
}  // namespace simulated_gpu

using namespace simulated_gpu;

CUresult simulated_gpu_launch(const SimulatedGpuLaunch* launch, CUstream stream) {
  return driver_call(__func__, [&] {
    submit(*launch, name_of(launch->function), stream);
    return CUDA_SUCCESS;
  });
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void** parameters, void** extra) {
  return driver_call(__func__, [&] {
    require(shared_bytes == 0 && extra == nullptr, CUDA_ERROR_NOT_SUPPORTED);
    const SimulatedGpuKernel& kernel = kernel_in(stream_of(stream)->context(), function);
    require(parameters != nullptr || kernel.parameter_count == 0, CUDA_ERROR_INVALID_VALUE);
    const std::vector<char> arguments = packed(kernel, parameters);
    submit({kernel.function,
            kernel.run,
            arguments.data(),
            arguments.size(),
            {grid_x, grid_y, grid_z},
            {block_x, block_y, block_z},
            kernel.blocks_meet},
           kernel.name, stream);
    return CUDA_SUCCESS;
  });
}
