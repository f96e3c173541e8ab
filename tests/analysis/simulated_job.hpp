// A job of ranks by rules simple enough to be simulated exactly: what tests of predictions are told the truth
// by, as the rules can really be changed. Test only.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis::testing {

/// A job of ranks that compute by kernels (launched, then synchronised), exchange messages with a neighbour
/// and meet at reductions, by rules simple enough to be simulated exactly. Unit: ns.
struct Model {
  std::vector<std::uint64_t> kernel_ns;  ///< by rank, each step
  std::uint64_t host_ns = 2'000;         ///< code of the host, each step
  std::uint64_t wire_ns = 40'000;        ///< a message
  std::uint64_t reduction_ns = 20'000;   ///< once all have come
  bool overlaps = false;                 ///< exchange while the kernel runs, and synchronise behind it
  bool has_messages = true;
  bool has_reductions = true;
  bool kernels_alternate = false;  ///< in every second step the kernel of the rank opposite in `kernel_ns`
  std::uint64_t steps = 20;
  std::uint64_t staged_wire_ns = 0;  ///< a message of every second step, by `staged`; 0: Penstock moves none
  trace::TransportKind others = trace::TransportKind::peer;  ///< the other steps' transport then
  std::uint32_t staged_packed_words = 0;  ///< not 0: what is staged goes as bitmaps of so many
};

struct Simulated {
  std::vector<RecordingBuilder> ranks;
  std::uint64_t total_ns = 0;
};

/// Each step: launch, [synchronise], receive from the left what it sends to the right, [synchronise], reduce.
[[nodiscard]] Simulated simulate(const Model& model);

}  // namespace penstock::analysis::testing
