// The part of a report with advice: ways to reduce exposed time, in words, with what each may save.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace penstock::analysis {

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
  bool names_action = true;  ///< false: it says what is slow and why, but nothing is known to help
  std::string title = {};    ///< what to do, in a few words; empty: as its kind is called
};

[[nodiscard]] std::string_view identifier_of(AdviceKind kind) noexcept;
/// Returns "Shorten host code", a heading above the text.
[[nodiscard]] std::string_view title_of(const Advice& advice) noexcept;

}  // namespace penstock::analysis
