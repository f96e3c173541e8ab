// Advises how to reduce exposed time, in words, with the possible gain in seconds and the evidence. Uses a
// finished report alone: only its figures are evidence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::analysis {

struct Report;

/// Possible ways to reduce exposed time. Sums over the counted ranks, as far as they were recorded.
enum class AdviceKind : std::uint8_t {
  better_transport,
  post_receives_early,
  waits_for_kernel,
  pass_device_pointers,
  balance_ranks,
  progress_thread,
  overlap,
  join_messages,
  host_code,
  combine_collectives,
  reduce_less_often,
};
struct Advice {
  AdviceKind kind;
  std::uint64_t saves_ns;  ///< as the replay says; or an upper bound, if it says nothing
  std::string text;        ///< one or two sentences with the evidence
  std::string list = {};   ///< the list of the JSON that shows it; empty: no single row does
  std::size_t row = 0;     ///< the row in that list
  std::optional<std::uint64_t> uncertainty_ns = {};  ///< by which saves_ns may be off; none: not replayed
};

/// Returns advice, what saves most first: each is replayed, if the job was, and saves at least half a
/// hundredth of the time; else it is a bound, and at least a hundredth of the counted time. Each is as if
/// nothing else changed; so they do not add up.
[[nodiscard]] std::vector<Advice> advise(const Report& report);

[[nodiscard]] std::string_view identifier_of(AdviceKind kind) noexcept;

}  // namespace penstock::analysis
