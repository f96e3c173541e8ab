// What all sections of the text report write with: one unit of time, shares of one whole, tables and remarks
// of one look. Must not know the sections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/layout/text_table.hpp"
#include "analysis/report/report.hpp"
#include "analysis/report/text/report_text.hpp"
#include "analysis/report/text_figures.hpp"

namespace penstock::analysis {

/// The arguments must outlive the object.
class ReportWriter {
 public:
  ReportWriter(const Report& shown, const TextOptions& how);

  void line(std::string_view content = "") { (text_ += content) += '\n'; }
  [[nodiscard]] std::string bold(std::string_view content) const { return styled("1", content); }
  [[nodiscard]] std::string dim(std::string_view content) const { return styled("2", content); }
  /// Wraps a text into dim lines, of which those after the first are indented.
  void dim_lines(std::string_view content, std::size_t indent = 0);
  void warn(std::string_view content);
  void table(const TextTable& table);
  /// Prints how many rows of a list were not shown.
  void note_more(std::size_t all, std::size_t shown);
  void note_more(std::size_t all) { note_more(all, options.top); }
  [[nodiscard]] std::string per_rank(std::uint64_t time_ns) const {
    return unit.number(static_cast<double>(time_ns) / ranks);
  }
  [[nodiscard]] std::string of_whole(std::uint64_t time_ns) const {
    return percent_text(share_of(time_ns, report.total_ns));
  }
  /// Adds a mark to a figure that the hosts' clocks make meaningless; the closing section explains the mark.
  [[nodiscard]] std::string marked(std::string content, std::uint64_t figure_ns,
                                   std::uint64_t within_error_ns);
  [[nodiscard]] bool has_marks() const noexcept { return has_marks_; }
  [[nodiscard]] std::string take() { return std::move(text_); }

  const Report& report;
  const TextOptions& options;
  const double ranks;  ///< that are counted; 1 if none is
  const TimeUnit unit;
  const bool is_exposed;
  const char* const whole;           ///< the whole of which shares are shown
  const std::string of_whole_title;  ///< "of run"

 private:
  [[nodiscard]] std::string styled(const char* code, std::string_view content) const;

  bool has_marks_ = false;
  std::string text_;
};

}  // namespace penstock::analysis
