#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/report/text/sections.hpp"

namespace penstock::analysis {
namespace {

/// Bars are as long as on a screen of 100 columns; a narrower one has what the numbers leave, or none.
std::size_t bar_columns(std::size_t columns) {
  constexpr std::size_t of_numbers = 70;
  constexpr std::size_t longest = 30;
  return std::min(columns - std::min(columns, of_numbers), longest);
}

/// Rows of times that stand for a step or for the run, of the average rank.
class PartRows {
 public:
  explicit PartRows(ReportWriter& out)
      : out_(out),
        steps_(has_steps(out.report) ? static_cast<double>(out.report.steps->each.size()) : 1.0),
        unit_(static_cast<double>(out.report.total_ns) / out.ranks / steps_),
        rows_({{has_steps(out.report) ? "Where the time of a step goes" : "Where the time goes"},
               {fmt::format("{}/{}", unit_.name(), has_steps(out.report) ? "step" : "rank"), Align::right},
               {out.of_whole_title, Align::right},
               {out.report.counted_ranks > 1 ? "most" : "", Align::right},
               {out.report.counted_ranks > 1 ? "rank" : "", Align::right},
               {""}}) {}

  /// `time_in`: takes a rank's parts, or all ranks'.
  template <typename TimeIn>
  void add(std::string title, TimeIn time_in) {
    const std::uint64_t all_ns = time_in(*out_.report.parts);
    std::uint64_t most_ns = 0;
    std::int32_t most_rank = -1;
    for (const RankFigures& rank : out_.report.ranks) {
      const std::uint64_t time_ns = rank.parts ? time_in(*rank.parts) : 0;
      if (time_ns > most_ns) {
        most_ns = time_ns;
        most_rank = rank.rank;
      }
    }
    const bool has_most = out_.report.counted_ranks > 1 && most_rank >= 0;
    rows_.add_row({std::move(title), number(static_cast<double>(all_ns) / out_.ranks), out_.of_whole(all_ns),
                   has_most ? number(static_cast<double>(most_ns)) : "",
                   has_most ? std::to_string(most_rank) : "",
                   bar_text(share_of(all_ns, out_.report.total_ns), bar_columns(out_.options.columns))});
  }
  void add(TimePart part) {
    parts_.push_back(part);
    add(std::string(name_of(part)), [part](const TimeByPart& times) { return time_of(times, part); });
  }
  void add(TimePart part, std::string title) {
    parts_.push_back(part);
    add(std::move(title), [part](const TimeByPart& times) { return time_of(times, part); });
  }
  [[nodiscard]] const TextTable& table() const noexcept { return rows_; }
  /// Returns those that have a row, in order.
  [[nodiscard]] const std::vector<TimePart>& parts() const noexcept { return parts_; }

 private:
  [[nodiscard]] std::string number(double time_ns) const { return unit_.number(time_ns / steps_); }

  ReportWriter& out_;
  double steps_;
  TimeUnit unit_;
  TextTable rows_;
  std::vector<TimePart> parts_;
};

/// Parts of one kind, largest first; those that have no row of their own come last.
struct PartList {
  std::vector<TimePart> parts;
  std::size_t shown = 0;
};

/// Takes the parts that are there. On the first screen each has a row if they are few, else the largest have.
PartList listed(const ReportWriter& out, bool with_cause) {
  const std::size_t few = with_cause ? 4 : 3;
  const TimeByPart& times = *out.report.parts;
  PartList list;
  for (std::size_t i = 0; i < part_count; ++i) {
    const auto part = static_cast<TimePart>(i);
    if (part != TimePart::kernels && times[i] != 0 && cause_of(part).has_value() == with_cause) {
      list.parts.push_back(part);
    }
  }
  std::stable_sort(list.parts.begin(), list.parts.end(), [&](TimePart left, TimePart right) {
    return time_of(times, left) > time_of(times, right);
  });
  list.shown = list.parts.size() <= few || out.options.all ? list.parts.size() : few - 1;
  return list;
}

/// Returns a function that adds up the parts without a row.
auto sum_of_rest(const PartList& list) {
  return [&list](const TimeByPart& times) {
    std::uint64_t sum_ns = 0;
    for (std::size_t i = list.shown; i < list.parts.size(); ++i) {
      sum_ns += time_of(times, list.parts[i]);
    }
    return sum_ns;
  };
}

/// Adds exposed communication and its causes, indented.
void add_exposed(ReportWriter& out, const PartList& causes, PartRows& rows) {
  rows.add(out.is_exposed ? "exposed communication" : "communication time", exposed_in);
  for (std::size_t i = 0; i < causes.shown; ++i) {
    const auto cause = static_cast<std::size_t>(*cause_of(causes.parts[i]));
    rows.add(causes.parts[i], "  " + out.marked(std::string(name_of(causes.parts[i])),
                                                out.report.by_cause[cause], out.report.within_error[cause]));
  }
  if (causes.shown < causes.parts.size()) {
    rows.add("  other causes", sum_of_rest(causes));
  }
}

}  // namespace

/// Kernels come first, then the largest part.
std::vector<TimePart> write_parts(ReportWriter& out) {
  const PartList causes = listed(out, true);
  const PartList others = listed(out, false);
  const std::uint64_t exposed_ns = exposed_in(*out.report.parts);
  PartRows rows(out);
  if (out.is_exposed) {
    rows.add(TimePart::kernels);
  }
  bool has_exposed = exposed_ns == 0;
  for (std::size_t i = 0; i < others.shown; ++i) {
    if (!has_exposed && exposed_ns > time_of(*out.report.parts, others.parts[i])) {
      add_exposed(out, causes, rows);
      has_exposed = true;
    }
    rows.add(others.parts[i]);
  }
  if (!has_exposed) {
    add_exposed(out, causes, rows);
  }
  if (others.shown < others.parts.size()) {
    rows.add("other", sum_of_rest(others));
  }
  out.table(rows.table());
  return rows.parts();
}

void write_places(ReportWriter& out) {
  if (!out.report.parts) {
    return;
  }
  const double least_share = out.options.all ? 0.01 : 0.05;
  for (const auto& [part, name] :
       {std::pair(TimePart::host_code, "host code (all else)"),
        std::pair(TimePart::other_copies, "where other copies are"),
        std::pair(TimePart::kernel_launch, "where kernel launches are"),
        std::pair(TimePart::cuda_synchronisation, "where CUDA synchronisation is")}) {
    const std::uint64_t all_ns = time_of(*out.report.parts, part);
    const std::span<const PlaceFigures> all = places_of(out.report, part);
    if (share_of(all_ns, out.report.total_ns) < least_share || all.empty()) {
      continue;
    }
    std::vector<std::string> places;
    for (const PlaceFigures& each : all.first(std::min(all.size(), out.options.all ? out.options.top : 1))) {
      places.push_back(
          fmt::format("{} {}", percent_text(share_of(each.time_ns, all_ns)), printable(where_text(each))));
    }
    const std::size_t more = all.size() - places.size();
    out.dim_lines(fmt::format("{}: {}{}", name, fmt::join(places, "; "),
                              more == 0 ? "" : fmt::format(" and {} more", more)),
                  2);
  }
}

}  // namespace penstock::analysis
