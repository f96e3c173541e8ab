// Adds up what NCCL does: its kernels by kind, exposed or hidden, waiting for late ranks or moving, and which
// rank came late. Must not know calls of MPI.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "analysis/figures/figure.hpp"
#include "analysis/figures/late_sums.hpp"
#include "analysis/joining/nccl_work.hpp"

namespace penstock::analysis {

/// Thread: one at a time. Memory: four bytes a kernel of NCCL besides the kinds.
class NcclSums {
 public:
  explicit NcclSums(const FigureContext& context) : index_(context.index), strings_(context.strings) {}
  void add(const RankInput& rank);
  auto members() { return std::tie(sums_, late_, ranks_without_calls_); }
  void finish(Report& report, SiteNames& names);

 private:
  struct Kind {
    NcclKind kind;
    [[nodiscard]] Kind renumbered(const Renumbering&) const { return *this; }
    auto operator<=>(const Kind&) const = default;
  };
  struct Sums {
    std::uint64_t calls = 0;
    std::uint64_t calls_without_bytes = 0;
    std::uint64_t bytes = 0;
    std::uint64_t kernels = 0;
    std::uint64_t joined_kernels = 0;
    std::uint64_t kernel_ns = 0;
    std::uint64_t exposed_ns = 0;
    std::uint64_t waiting_ns = 0;
    std::uint64_t exposed_waiting_ns = 0;
    std::uint64_t waiting_within_error_ns = 0;
    std::vector<float> speeds_gbps;
    auto members() {
      return std::tie(calls, calls_without_bytes, bytes, kernels, joined_kernels, kernel_ns, exposed_ns,
                      waiting_ns, exposed_waiting_ns, waiting_within_error_ns, speeds_gbps);
    }
  };
  struct Who {
    std::int32_t rank;
    NcclKind kind;
    [[nodiscard]] Who renumbered(const Renumbering&) const { return *this; }
    auto operator<=>(const Who&) const = default;
  };
  /// What the other ranks' kernels tell of one.
  struct Meeting;

  void add_kernel(const RankInput& rank, const NcclWork& work, const NcclKernelFacts& kernel);
  void add_calls(const RankInput& rank, std::span<const NcclCallFacts> calls);
  [[nodiscard]] Meeting meeting_of(const RankInput& rank, const trace::DeviceActivity& kernel,
                                   std::span<const NcclCallFacts> calls) const;
  void add_late(const RankInput& rank, NcclKind kind, const Meeting& meeting, std::uint64_t came_ns);

  const MessageIndex& index_;
  const StringPool& strings_;
  SumsBy<Kind, Sums> sums_;
  SumsBy<Who, LateSums> late_;
  std::uint64_t ranks_without_calls_ = 0;
};

}  // namespace penstock::analysis
