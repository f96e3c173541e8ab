// Formats numbers and places for people: times in one unit, shares, bytes, bars, call sites. Must not know
// the layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/report/report.hpp"

namespace penstock::analysis {

/// One unit for all times of a report, so that columns compare at a glance.
class TimeUnit {
 public:
  explicit TimeUnit(double typical_ns);
  [[nodiscard]] const char* name() const noexcept { return name_; }
  [[nodiscard]] double ns() const noexcept { return ns_; }
  [[nodiscard]] std::string number(double time_ns) const;
  [[nodiscard]] std::string with_unit(double time_ns) const;

 private:
  double ns_;
  const char* name_;
};

/// Returns a single time in the unit that suits it: "2.31 s", "417 µs".
[[nodiscard]] std::string time_text(double time_ns);
/// Returns it in a given unit, for a sentence with several times: "0.97 ms".
[[nodiscard]] std::string time_text(double time_ns, const TimeUnit& unit);
/// Returns how a time changed: "+4.2 %", "303 times as long" where percents are hard to read, "new" or "0 %".
[[nodiscard]] std::string change_text(double before_ns, double after_ns);

/// Returns "recorded up to 3.20 s of 8.10 s, when rank 1 ran out of space; the rest is unknown".
[[nodiscard]] std::string recorded_part_text(const RecordedPart& part);
/// Returns the headline of a job that did not end as a clause: "the job did not end: rank 1 was killed, …".
[[nodiscard]] std::string unfinished_clause(const UnfinishedFigures& unfinished);
/// Returns a clause that says why figures of the whole are not known: the job did not end, or records are
/// missing that were to be there. Empty: they are.
[[nodiscard]] std::string what_is_missing(const Report& report);

/// Returns the whole of which a report's shares are: "run", "steps", "recorded part" or "recorded steps".
[[nodiscard]] const char* whole_of(const Report& report) noexcept;

/// Returns of whom times are that are divided by the counted ranks: "the average rank", or "rank 1" alone.
[[nodiscard]] std::string counted_rank_text(const Report& report);

[[nodiscard]] double share_of(std::uint64_t part, std::uint64_t whole) noexcept;
[[nodiscard]] std::string percent_text(double share);
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);
/// Returns "≤ 64 KiB", or "> 256 MiB" for 0, the class without a limit.
[[nodiscard]] std::string size_class_text(std::uint64_t limit_bytes);
/// Returns "1,234,567".
[[nodiscard]] std::string count_text(std::uint64_t count);
/// Returns GB/s without the unit, by two digits that count at least: "430", "13.8", "0.20", "0.0034".
[[nodiscard]] std::string speed_text(double gigabytes_per_s);
/// Returns a bar in eighths of a column, so that small shares are visible.
[[nodiscard]] std::string bar_text(double share, std::size_t columns);
/// Turns "MPICH Version:  4.0.2\nMPICH Release …" into "MPICH 4.0.2"; "Open MPI v4.1.4, package: …" into
/// "Open MPI v4.1.4".
[[nodiscard]] std::string short_version(std::string_view version);
/// Turns "/home/me/app --steps 3" into "app --steps 3".
[[nodiscard]] std::string command_text(std::string_view command_line);
/// Returns "halo.cpp:120 exchange" for a table: the identifying part comes first. Functions' names are
/// short_symbol()s.
[[nodiscard]] std::string place_text(const CallSiteFigures& site);
/// Returns "exchange (halo.cpp:120)" for a sentence.
[[nodiscard]] std::string place_in_sentence(const CallSiteFigures& site);

}  // namespace penstock::analysis
