#include "interpose/record/run/own_cost.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "interpose/record/delta_coding.hpp"
#include "interpose/record/recorder.hpp"

namespace penstock::record {

std::uint64_t measure_event_cost_ps() noexcept {
  constexpr std::size_t rounds = 5;
  constexpr std::size_t events = 512;
  alignas(64) static std::array<std::byte, 64 * trace::record_bytes> scratch;
  static trace::DeltaWriter deltas;
  std::uint64_t best_ns = std::numeric_limits<std::uint64_t>::max();
  for (std::size_t round = 0; round < rounds; ++round) {  // the quickest counts, as others were interrupted
    std::byte* next = scratch.data();
    const std::uint64_t begin = now_ns();
    for (std::size_t event = 0; event < events; ++event) {
      trace::MpiCall record{};
      record.call_site = call_site_of(__builtin_return_address(0));
      record.begin_ns = now_ns();
      record.kind = trace::RecordKind::mpi_call;
      record.end_ns = now_ns();
      if (next > scratch.data() + scratch.size() / 2) next = scratch.data();
      next = deltas.write(&record, next);
    }
    best_ns = std::min(best_ns, now_ns() - begin);
  }
  return best_ns * 1000 / events;
}

}  // namespace penstock::record
