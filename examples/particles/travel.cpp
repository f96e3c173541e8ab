// How a simulation hands over its particles to another one, of other owners, and goes on with those of one.
#include <numeric>

#include "examples/particles/simulation.hpp"

namespace particles {
namespace {

template <typename Element>
void clear(const example::Stream& stream, const example::DeviceArray<Element>& array, std::size_t count) {
  example::check(cudaMemsetAsync(array.get(), 0, count * sizeof(Element), stream.get()), "clear counts");
}

template <typename Element>
void copy_to_host(const example::Stream& stream, std::vector<Element>& to,
                  const example::DeviceArray<Element>& from) {
  example::check(
      cudaMemcpyAsync(to.data(), from.get(), to.size() * sizeof(Element), cudaMemcpyDefault, stream.get()),
      "copy counts");
  stream.synchronize();
}

}  // namespace

std::vector<std::uint32_t> Simulation::count_in_voxels() {
  synchronize();
  std::vector<std::uint32_t> counts(static_cast<std::size_t>(domain_.box.voxel_count()));
  const example::DeviceArray<std::uint32_t> on_gpu(counts.size());
  clear(boundary_, on_gpu, counts.size());
  queue_count_in_voxels(boundary_, domain_.box, memory_->moved(), mover_count_, on_gpu.get());
  copy_to_host(boundary_, counts, on_gpu);
  return counts;
}

Travellers Simulation::pack_up(const Owners& owners, int rank_count) {
  synchronize();
  const DeviceCopy<Owner> owners_on_gpu(owners);
  std::vector<std::uint32_t> counts(static_cast<std::size_t>(rank_count));
  const example::DeviceArray<std::uint32_t> on_gpu(counts.size());
  clear(boundary_, on_gpu, counts.size());
  example::check(cudaDeviceSynchronize(), "wait for copies to the GPU");
  queue_count_travellers(boundary_, domain_.box, memory_->moved(), mover_count_, owners_on_gpu.get(),
                         on_gpu.get());
  copy_to_host(boundary_, counts, on_gpu);
  Travellers travellers({counts.begin(), counts.end()});
  example::check(cudaMemcpyAsync(on_gpu.get(), travellers.starts.data(), counts.size() * sizeof counts[0],
                                 cudaMemcpyDefault, boundary_.get()),
                 "copy starts");
  queue_pack_travellers(boundary_, domain_.box, memory_->moved(), mover_count_, owners_on_gpu.get(),
                        on_gpu.get(), travellers.memory->get());
  boundary_.synchronize();
  return travellers;
}

void Simulation::prepare(const Travellers& travellers, const History& past) {
  history_ = past;
  allocate();
  if (static_cast<std::uint32_t>(travellers.all()) > rooms_.particles) {
    halt("its " + std::to_string(travellers.all()) + " particles");
    return;
  }
  mover_count_ = static_cast<std::uint32_t>(travellers.all());
  queue_settle(boundary_, device_tiling_->cells(), travellers.memory->get(), mover_count_, memory_->moved());
  boundary_.synchronize();
}

}  // namespace particles
