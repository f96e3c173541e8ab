#include "analysis/comparison/diff_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "analysis/comparison/diff_json.hpp"
#include "analysis/layout/text_page.hpp"
#include "analysis/report/text_figures.hpp"

namespace penstock::analysis {
namespace {

using Json = nlohmann::ordered_json;

class DiffWriter {
 public:
  DiffWriter(const Diff& diff, bool colours, std::size_t columns)
      : diff_(diff),
        page_(colours, columns),
        unit_(std::max(diff.totals.front().before_ns, diff.totals.front().after_ns)) {}

  [[nodiscard]] std::string write(std::size_t top) {
    verdict();
    table("Figure", diff_.totals, diff_.totals.size());
    if (!diff_.parts.empty()) {
      table(diff_.is_by_step ? "Where the time of a step goes" : "Where the time goes", diff_.parts,
            diff_.parts.size());
    } else {
      table(diff_.is_exposed ? "Why exposed" : "Communication time by cause", diff_.causes,
            diff_.causes.size());
    }
    table("Where", diff_.call_sites, top);
    closing();
    return page_.take();
  }

 private:
  [[nodiscard]] static std::string_view verdict_text(Verdict verdict) {
    return verdict == Verdict::unknown ? "?" : identifier_of(verdict);
  }

  /// Returns which part changed most in the direction of the whole.
  [[nodiscard]] std::string main_part_text() const {
    const double whole_ns = diff_.totals.front().after_ns - diff_.totals.front().before_ns;
    const DiffRow* main = nullptr;
    double most_ns = 0;
    for (const DiffRow& part : diff_.parts) {
      const double change_ns = (part.after_ns - part.before_ns) * (whole_ns < 0 ? -1 : 1);
      if (change_ns > most_ns && (part.verdict == Verdict::less || part.verdict == Verdict::more)) {
        most_ns = change_ns;
        main = &part;
      }
    }
    return main == nullptr ? ""
                           : fmt::format("; above all {}: {:+.3f} {}", main->name,
                                         (main->after_ns - main->before_ns) / unit_.ns(), unit_.name());
  }

  void verdict() {
    const DiffRow& time = diff_.totals.front();
    const char* const what = diff_.is_by_step ? "A step" : "The run";
    const std::string times =
        fmt::format("{} before, {} after", unit_.with_unit(time.before_ns), unit_.with_unit(time.after_ns));
    switch (time.verdict) {
      case Verdict::less:
        page_.bold(fmt::format("{} became faster: {} ({}{}).", what, times,
                               change_text(time.before_ns, time.after_ns), main_part_text()));
        break;
      case Verdict::more:
        page_.bold(fmt::format("{} became slower: {} ({}{}).", what, times,
                               change_text(time.before_ns, time.after_ns), main_part_text()));
        break;
      case Verdict::jitter:
        page_.bold(fmt::format("{} takes as long as before within the margin: {} ({}, which may be chance).",
                               what, times, change_text(time.before_ns, time.after_ns)));
        break;
      case Verdict::unknown:
        page_.bold(fmt::format("{}: {} ({}). {}", what, times, change_text(time.before_ns, time.after_ns),
                               diff_.is_known ? "One run each cannot show whether that is chance."
                                              : "Whether that is a change is unknown: records are missing."));
        break;
    }
  }

  void table(const char* title, const std::vector<DiffRow>& list, std::size_t top) {
    if (list.empty()) {
      return;
    }
    TextTable rows({{title, Align::left, true},
                    {fmt::format("{} before", unit_.name()), Align::right},
                    {"after", Align::right},
                    {"change", Align::right},
                    {"±", Align::right},
                    {"", Align::right},
                    {""}});
    for (std::size_t i = 0; i < std::min(list.size(), top); ++i) {
      const DiffRow& row = list[i];
      rows.add_row({printable(row.name), unit_.number(row.before_ns), unit_.number(row.after_ns),
                    fmt::format("{:+.3f}", (row.after_ns - row.before_ns) / unit_.ns()),
                    row.margin_ns ? unit_.number(*row.margin_ns) : "?",
                    change_text(row.before_ns, row.after_ns), std::string(verdict_text(row.verdict))});
    }
    page_.table(rows);
    if (list.size() > top) {
      page_.dim(fmt::format("… and {} more (--top {})", list.size() - top, list.size()));
    }
  }

  void closing() {
    std::string text =
        fmt::format("{} before, {} after; time a {} of the average rank. ", runs_text(diff_.runs_before),
                    runs_text(diff_.runs_after), diff_.is_by_step ? "step" : "run");
    if (!diff_.is_known) {
      text += "Times are of the recorded parts, which may cover different work.";
    } else if (diff_.from_steps) {
      text +=
          "± is the 95 % confidence interval from the variation of the steps within a run; runs may differ "
          "by more: repeat them (penstock diff --before A1 A2 A3 --after B1 B2 B3).";
    } else if (diff_.totals.front().margin_ns) {
      text +=
          "± is the 95 % confidence interval from the variation of the runs; smaller changes are called "
          "jitter.";
    } else {
      text +=
          "Repeat the runs to tell change from jitter (penstock diff --before A1 A2 A3 --after B1 B2 B3).";
    }
    page_.line();
    page_.dim(text);
    for (const std::string& remark : diff_.remarks) {
      page_.warning(remark);
    }
  }
  static std::string runs_text(std::size_t runs) {
    return fmt::format("{} run{}", runs, runs == 1 ? "" : "s");
  }

  const Diff& diff_;
  TextPage page_;
  TimeUnit unit_;
};

Json document_of(const Diff& diff) {
  return {{"schema", "penstock-diff-1"},
          {"runs_before", diff.runs_before},
          {"runs_after", diff.runs_after},
          {"before", json::of(diff.before)},
          {"after", json::of(diff.after)},
          {"time_of", diff.is_by_step ? "step" : "run"},
          {"measure", diff.is_exposed ? "exposed_communication" : "communication_time"},
          {"records_missing", !diff.is_known},
          {"margins_from", diff.from_steps ? "steps" : "runs"},
          {"totals", json::rows_of(diff.totals)},
          {"parts", json::rows_of(diff.parts)},
          {"causes", json::rows_of(diff.causes)},
          {"call_sites", json::rows_of(diff.call_sites)},
          {"remarks", diff.remarks}};
}

}  // namespace

std::string to_text(const Diff& diff, bool colours, std::size_t top, std::size_t columns) {
  return DiffWriter(diff, colours, columns).write(top);
}

std::string to_json(const Diff& diff) {
  return document_of(diff).dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string to_short_json(const Diff& diff, std::size_t most_rows) {
  Json json = document_of(diff);
  if (const std::size_t rows = json["call_sites"].size(); rows > most_rows) {
    json["call_sites_left_out"] = rows - most_rows;
    json["call_sites"].erase(json["call_sites"].begin() + static_cast<std::ptrdiff_t>(most_rows),
                             json["call_sites"].end());
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace penstock::analysis
