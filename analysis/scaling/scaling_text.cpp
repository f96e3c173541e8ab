#include "analysis/scaling/scaling_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "analysis/layout/text_page.hpp"
#include "analysis/report/text_figures.hpp"

namespace penstock::analysis {
namespace {

using Json = nlohmann::ordered_json;

std::string ranks_text(std::int32_t ranks) {
  return fmt::format("{} rank{}", ranks, ranks == 1 ? "" : "s");
}

/// Returns "3.20 ms/p + 0.10 ms".
std::string law_text(const ScalingLaw& law) {
  std::string text;
  if (law.coefficient != 0) {
    text = time_text(law.coefficient) + scaling_terms()[law.term].words;
  }
  if (law.constant != 0 || text.empty()) {
    text += (text.empty() ? "" : " + ") + time_text(law.constant);
  }
  return text;
}

class ScalingWriter {
 public:
  ScalingWriter(const Scaling& scaling, bool colours, std::size_t columns)
      : scaling_(scaling), page_(colours, columns), unit_(scaling.runs.back().time_ns) {}

  [[nodiscard]] std::string write() {
    page_.bold("penstock · " + command_text(scaling_.program));
    page_.dim(series());
    for (const ScalingForecast& each : scaling_.forecasts) {
      page_.bold(verdict(each));
    }
    times();
    laws();
    page_.line();
    page_.dim(
        "p: ranks. The interval contains 95 % of runs, if one of the laws that fit these runs equally well "
        "is true. Left-out error: the law's error for a run left out of the fit.");
    for (const std::string& remark : scaling_.remarks) {
      page_.warning(remark);
    }
    return page_.take();
  }

 private:
  [[nodiscard]] std::string series() const {
    const std::string of =
        fmt::format("{} run{} on {} to {}", scaling_.runs.size(), scaling_.runs.size() == 1 ? "" : "s",
                    scaling_.runs.front().ranks, ranks_text(scaling_.runs.back().ranks));
    const std::string work =
        fmt::format("{} of a rank go as p^{:.2f}", scaling_.is_exposed ? "kernels" : "what is not MPI",
                    scaling_.work_exponent);
    switch (scaling_.series) {
      case ScalingSeries::strong:
        return fmt::format("strong scaling ({}) · {}", work, of);
      case ScalingSeries::weak:
        return fmt::format("weak scaling ({}) · {}", work, of);
      case ScalingSeries::neither:
        break;
    }
    return fmt::format("neither strong nor weak scaling ({}) · {}", work, of);
  }

  [[nodiscard]] std::string verdict(const ScalingForecast& forecast) const {
    const PredictedValue& time = forecast.time_ns;
    std::string text = fmt::format("{}: {} a {}, {} to {} with 95 %", ranks_text(forecast.ranks),
                                   unit_.with_unit(time.value), scaling_.is_by_step ? "step" : "run",
                                   unit_.number(time.low), unit_.number(time.high));
    if (const std::optional<double> efficiency = efficiency_of(scaling_, forecast.ranks, time.value)) {
      text += fmt::format("; {:.3g} times as fast as {}, efficiency {}",
                          scaling_.runs.front().time_ns / time.value, ranks_text(scaling_.runs.front().ranks),
                          percent_text(*efficiency));
    }
    return text + ".";
  }

  template <typename Times>
  void add_row(TextTable& rows, std::string title, std::int32_t ranks, double time_ns, std::string interval,
               const Times& part_ns) {
    std::vector<std::string> cells{std::move(title), unit_.number(time_ns), std::move(interval)};
    for (const ScalingPartLaw& each : scaling_.laws) {
      cells.push_back(unit_.number(part_ns(static_cast<std::size_t>(each.part))));
    }
    const std::optional<double> efficiency = efficiency_of(scaling_, ranks, time_ns);
    cells.push_back(efficiency ? percent_text(*efficiency) : "–");
    rows.add_row(std::move(cells));
  }

  void times() {
    std::vector<Column> columns{
        {"Ranks"},
        {fmt::format("{} {}", scaling_.is_by_step ? "step" : "run", unit_.name()), Align::right},
        {"with 95 %", Align::right}};
    for (const ScalingPartLaw& each : scaling_.laws) {
      columns.push_back({std::string(name_of(each.part)), Align::right});
    }
    columns.push_back({"efficiency", Align::right});
    TextTable rows(std::move(columns));
    for (const ScalingRun& run : scaling_.runs) {
      add_row(rows, std::to_string(run.ranks), run.ranks, run.time_ns, "",
              [&](std::size_t part) { return run.parts_ns[part]; });
    }
    for (const ScalingForecast& each : scaling_.forecasts) {
      add_row(rows, fmt::format("{} predicted", each.ranks), each.ranks, each.time_ns.value,
              fmt::format("{} … {}", unit_.number(each.time_ns.low), unit_.number(each.time_ns.high)),
              [&](std::size_t part) { return each.parts_ns[part].value; });
    }
    page_.table(rows);
  }

  void laws() {
    TextTable rows({{"Part of the average rank's time"}, {"law"}, {"left-out error", Align::right}});
    for (const ScalingPartLaw& each : scaling_.laws) {
      rows.add_row({std::string(name_of(each.part)), law_text(each.law), percent_text(each.left_out_error)});
    }
    page_.table(rows);
  }

  const Scaling& scaling_;
  TextPage page_;
  TimeUnit unit_;
};

Json seconds_of(const PredictedValue& value) {
  return {{"value_s", value.value * 1e-9}, {"low_s", value.low * 1e-9}, {"high_s", value.high * 1e-9}};
}

Json efficiency_json(const Scaling& scaling, std::int32_t ranks, double time_ns) {
  const std::optional<double> efficiency = efficiency_of(scaling, ranks, time_ns);
  return efficiency ? Json(*efficiency) : Json(nullptr);
}

}  // namespace

std::string to_text(const Scaling& scaling, bool colours, std::size_t columns) {
  return ScalingWriter(scaling, colours, columns).write();
}

std::string to_json(const Scaling& scaling) {
  Json json{{"schema", "penstock-scale-1"},
            {"program", scaling.program},
            {"time_of", scaling.is_by_step ? "step" : "run"},
            {"measure", scaling.is_exposed ? "exposed_communication" : "communication_time"},
            {"series", identifier_of(scaling.series)},
            {"work_exponent", scaling.work_exponent},
            {"runs", Json::array()},
            {"laws", Json::array()},
            {"forecasts", Json::array()},
            {"remarks", scaling.remarks}};
  for (const ScalingRun& run : scaling.runs) {
    Json row{{"ranks", run.ranks}, {"time_s", run.time_ns * 1e-9}, {"parts_s", Json::object()}};
    for (const ScalingPartLaw& each : scaling.laws) {
      row["parts_s"][std::string(identifier_of(each.part))] =
          run.parts_ns[static_cast<std::size_t>(each.part)] * 1e-9;
    }
    row["efficiency"] = efficiency_json(scaling, run.ranks, run.time_ns);
    json["runs"].push_back(std::move(row));
  }
  for (const ScalingPartLaw& each : scaling.laws) {
    json["laws"].push_back({{"part", identifier_of(each.part)},
                            {"constant_s", each.law.constant * 1e-9},
                            {"coefficient_s", each.law.coefficient * 1e-9},
                            {"term", scaling_terms()[each.law.term].words},
                            {"left_out_error", each.left_out_error}});
  }
  for (const ScalingForecast& each : scaling.forecasts) {
    Json row{{"ranks", each.ranks}, {"time_s", seconds_of(each.time_ns)}, {"parts_s", Json::object()}};
    for (const ScalingPartLaw& law : scaling.laws) {
      row["parts_s"][std::string(identifier_of(law.part))] =
          seconds_of(each.parts_ns[static_cast<std::size_t>(law.part)]);
    }
    row["efficiency"] = efficiency_json(scaling, each.ranks, each.time_ns.value);
    json["forecasts"].push_back(std::move(row));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string efficiencies_in_words(const Report& report) {
  if (!report.replay) {
    return {};
  }
  const EfficiencyFigures& now = report.replay->efficiency;
  return fmt::format(
      "on {} the parallel efficiency is {}: load balance {} × serialisation {} × transfer {}; that is what "
      "is lost "
      "now, and not what more ranks would lose",
      ranks_text(report.world_size), percent_text(now.parallel), percent_text(now.load_balance),
      percent_text(now.serialisation), percent_text(now.transfer));
}

}  // namespace penstock::analysis
