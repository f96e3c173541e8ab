#include "analysis/report/text/report_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/report/text_figures.hpp"

namespace penstock::analysis {
ReportWriter::ReportWriter(const Report& shown, const TextOptions& how)
    : report(shown),
      options(how),
      ranks(static_cast<double>(std::max<std::uint64_t>(shown.counted_ranks, 1))),
      unit(static_cast<double>(shown.total_ns) / ranks),
      is_exposed(counts_exposed(shown)),
      whole(whole_of(shown)),
      of_whole_title(fmt::format("of {}", whole)) {}

std::string ReportWriter::styled(const char* code, std::string_view content) const {
  return options.colours ? fmt::format("\033[{}m{}\033[0m", code, content) : std::string(content);
}

void ReportWriter::dim_lines(std::string_view content, std::size_t indent) {
  for (const std::string& each : wrapped(content, options.columns, indent)) {
    line(dim(each));
  }
}

void ReportWriter::warn(std::string_view content) {
  for (const std::string& each : wrapped(content, options.columns, 2)) {
    line(styled("33", each));
  }
}

void ReportWriter::table(const TextTable& table) {
  line();
  bool is_title = true;
  for (const std::string& each : table.lines(options.columns)) {
    line(is_title ? bold(each) : each);
    is_title = false;
  }
}

void ReportWriter::note_more(std::size_t all, std::size_t shown) {
  if (all > shown) {
    line(dim(fmt::format("… and {} more (--{} {})", all - shown, options.all ? "top" : "all --top", all)));
  }
}

std::string ReportWriter::marked(std::string content, std::uint64_t figure_ns,
                                 std::uint64_t within_error_ns) {
  if (!is_within_error(figure_ns, within_error_ns)) {
    return content;
  }
  has_marks_ = true;
  return std::move(content) + " ‡";
}

}  // namespace penstock::analysis
