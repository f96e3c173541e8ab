#include "examples/gmh/library/assignment.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>

#include "examples/gmh/library/error.hpp"

namespace gmh {
namespace {

/// A thread that needs a GPU.
struct Seeker {
  std::size_t demand;
  int vgpu;
};

/// Bipartite matching by augmenting paths: a process that sees few GPUs displaces one that sees others.
class Matching {
 public:
  explicit Matching(const std::vector<Demand>& demands) : demands_(demands) {}

  [[nodiscard]] bool place(std::size_t seeker, const std::vector<Seeker>& seekers) {
    std::set<GpuId> tried;
    return place(seeker, seekers, tried);
  }
  [[nodiscard]] const std::map<GpuId, std::size_t>& taken() const { return taken_; }

 private:
  bool place(std::size_t seeker, const std::vector<Seeker>& seekers, std::set<GpuId>& tried) {
    const std::vector<GpuId>& visible = demands_[seekers[seeker].demand].visible;
    for (const GpuId& gpu : visible) {
      if (taken_.emplace(gpu, seeker).second) return true;
    }
    for (const GpuId& gpu : visible) {
      if (tried.insert(gpu).second && place(taken_.at(gpu), seekers, tried)) {
        taken_[gpu] = seeker;
        return true;
      }
    }
    return false;
  }

  const std::vector<Demand>& demands_;
  std::map<GpuId, std::size_t> taken_;
};

std::string complaint_of(const std::vector<Demand>& demands, const Demand& unlucky, const Matching& matching,
                         const std::vector<Seeker>& seekers) {
  std::map<int, int> held;  // by MPI rank: GPUs that the failed process sees
  for (const auto& [gpu, seeker] : matching.taken()) {
    const auto& visible = unlucky.visible;
    if (std::find(visible.begin(), visible.end(), gpu) != visible.end())
      ++held[demands[seekers[seeker].demand].mpi_rank];
  }
  std::string owners;
  for (const auto& [mpi_rank, count] : held)
    owners += text("%s%d by MPI rank %d", owners.empty() ? "" : ", ", count, mpi_rank);
  return text(
      "MPI rank %d asks for %d GPUs and sees %zu on this host, of which are taken: %s. Ask for fewer, or set "
      "GMH_SHARE=1 to let threads share one",
      unlucky.mpi_rank, unlucky.gpus, unlucky.visible.size(), owners.empty() ? "none" : owners.c_str());
}

}  // namespace

Assignment assign_gpus(const std::vector<Demand>& demands, bool share) {
  Assignment result;
  std::vector<Seeker> seekers;
  Matching matching(demands);
  std::vector<Seeker> left_out;
  for (std::size_t demand = 0; demand < demands.size(); ++demand) {
    result.devices.emplace_back(static_cast<std::size_t>(demands[demand].gpus), -1);
    for (int vgpu = 0; vgpu < demands[demand].gpus; ++vgpu) {
      seekers.push_back({demand, vgpu});
      if (matching.place(seekers.size() - 1, seekers)) continue;
      if (!share || demands[demand].visible.empty()) {
        result.complaint = complaint_of(demands, demands[demand], matching, seekers);
        return result;
      }
      left_out.push_back(seekers.back());
    }
  }
  const auto device_of = [&](const Demand& demand, const GpuId& gpu) {
    return static_cast<int>(std::find(demand.visible.begin(), demand.visible.end(), gpu) -
                            demand.visible.begin());
  };
  for (const auto& [gpu, seeker] : matching.taken()) {
    const Seeker& owner = seekers[seeker];
    result.devices[owner.demand][static_cast<std::size_t>(owner.vgpu)] =
        device_of(demands[owner.demand], gpu);
  }
  int next = 0;  // the remaining threads share GPUs round-robin
  for (const Seeker& seeker : left_out) {
    const int count = static_cast<int>(demands[seeker.demand].visible.size());
    result.devices[seeker.demand][static_cast<std::size_t>(seeker.vgpu)] = next++ % count;
  }
  return result;
}

}  // namespace gmh
