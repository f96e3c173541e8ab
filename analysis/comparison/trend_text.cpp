#include "analysis/comparison/trend_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/comparison/trend_facts.hpp"
#include "analysis/comparison/trend_tables.hpp"
#include "analysis/comparison/trend_words.hpp"

namespace penstock::analysis {
namespace {

class TrendWriter {
 public:
  TrendWriter(const Trend& trend, const std::vector<LeftOut>& left_out, bool colours, std::size_t top,
              std::size_t columns)
      : left_out_(left_out),
        words_(trend),
        view_{trend, words_, TextPage(colours, columns),
              trend.runs.size() - std::min(top, trend.runs.size())} {}

  [[nodiscard]] std::string write() {
    view_.page.bold("penstock · " + command_text(view_.trend.runs.back().state.program));
    view_.page.dim(words_.what_ran());
    view_.page.line();
    view_.page.bold(words_.headline());
    write_tables(view_);
    changes();
    view_.page.line();
    view_.page.dim(words_.explanation());
    for (const std::string& remark : words_.remarks(left_out_, view_.first)) {
      view_.page.warning(remark);
    }
    return view_.page.take();
  }

 private:
  /// Prints a line for each run whose time changed.
  void changes() {
    bool is_first = true;
    for (std::size_t i = view_.first; i < view_.trend.runs.size(); ++i) {
      const TrendRun& run = view_.trend.runs[i];
      const std::string change = words_.change_of(run);
      if (change.empty()) {
        continue;
      }
      if (std::exchange(is_first, false)) {
        view_.page.line();
      }
      const std::string commit = run.facts.commit.empty() ? "" : fmt::format(" ({})", commit_of(run));
      view_.page.plain(printable(fmt::format("Run {}{}: {}", i + 1, commit, change)));
    }
  }

  const std::vector<LeftOut>& left_out_;
  TrendWords words_;
  TrendView view_;
};

}  // namespace

std::string to_text(const Trend& trend, const std::vector<LeftOut>& left_out, bool colours, std::size_t top,
                    std::size_t columns) {
  return TrendWriter(trend, left_out, colours, top, columns).write();
}

}  // namespace penstock::analysis
