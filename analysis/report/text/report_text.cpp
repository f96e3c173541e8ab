#include "analysis/report/text/report_text.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <iterator>
#include <string_view>

#include "analysis/report/text_figures.hpp"
#include "analysis/report/text_table.hpp"

namespace penstock::analysis {
namespace {

constexpr std::size_t few_ranks = 8;
constexpr std::size_t few_pieces_of_advice = 3;

Cause main_cause(const TimeByCause& times) {
  return static_cast<Cause>(std::distance(times.begin(), std::max_element(times.begin(), times.end())));
}

class ReportWriter {
 public:
  ReportWriter(const Report& report, const TextOptions& options)
      : report_(report),
        options_(options),
        ranks_(static_cast<double>(std::max<std::uint64_t>(report.counted_ranks, 1))),
        unit_(static_cast<double>(report.total_ns) / ranks_),
        is_exposed_(report.measure == Measure::exposed_communication),
        whole_(report.recorded_part ? (report.steps ? "recorded steps" : "recorded part")
               : report.steps       ? "steps"
                                    : "run"),
        of_whole_(fmt::format("of {}", whole_)) {}

  [[nodiscard]] std::string write() {
    header();
    recorded_part();
    verdict();
    steps();
    advice();
    replay();
    causes();
    call_sites();
    ranks();
    if (options_.all) {
      kernels();
      collectives();
      late_ranks();
      phases();
      transports();
    }
    closing();
    return std::move(text_);
  }

 private:
  void line(std::string_view content = "") { (text_ += content) += '\n'; }
  [[nodiscard]] std::string styled(const char* code, std::string_view content) const {
    return options_.colours ? fmt::format("\033[{}m{}\033[0m", code, content) : std::string(content);
  }
  [[nodiscard]] std::string bold(std::string_view content) const { return styled("1", content); }
  [[nodiscard]] std::string dim(std::string_view content) const { return styled("2", content); }
  void table(const TextTable& table) {
    line();
    bool is_title = true;
    for (const std::string& each : table.lines(screen_columns)) {
      line(is_title ? bold(each) : each);
      is_title = false;
    }
  }
  /// Prints how many rows of a list were not shown.
  void note_more(std::size_t all, std::size_t shown) {
    if (all > shown) {
      line(dim(fmt::format("… and {} more (--{} {})", all - shown, options_.all ? "top" : "all --top", all)));
    }
  }
  void note_more(std::size_t all) { note_more(all, options_.top); }
  [[nodiscard]] std::string per_rank(std::uint64_t time_ns) const {
    return unit_.number(static_cast<double>(time_ns) / ranks_);
  }
  [[nodiscard]] std::string of_whole(std::uint64_t time_ns) const {
    return percent_text(share_of(time_ns, report_.total_ns));
  }

  /// Adds a mark to a figure that the hosts' clocks make meaningless; closing() explains the mark.
  [[nodiscard]] std::string marked(std::string content, std::uint64_t figure_ns,
                                   std::uint64_t within_error_ns) {
    if (!is_within_error(figure_ns, within_error_ns)) {
      return content;
    }
    has_marks_ = true;
    return std::move(content) + " ‡";
  }

  void header() {
    const auto began = static_cast<std::time_t>(report_.began_realtime_ns / 1'000'000'000);
    std::vector<std::string> facts{
        fmt::format("{} rank{} on {}", report_.world_size, report_.world_size == 1 ? "" : "s",
                    report_.hosts.size() == 1 ? printable(report_.hosts.front())
                                              : fmt::format("{} hosts", report_.hosts.size())),
        short_version(report_.mpi_version)};
    if (report_.simulated_gpu) {
      facts.emplace_back("simulated GPU");
    } else if (!report_.devices.empty()) {
      facts.push_back(printable(report_.devices.front()));
    }
    facts.push_back(fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(began)));
    std::erase(facts, std::string());
    line(bold(shortened("penstock · " + command_text(report_.program), screen_columns)));
    line(dim(shortened(fmt::format("{}", fmt::join(facts, " · ")), screen_columns)));
    line();
  }

  /// Prints what no figure covers.
  void recorded_part() {
    if (report_.recorded_part) {
      warn("! " + recorded_part_text(*report_.recorded_part) + ".");
      line();
    }
  }

  void verdict() {
    const double run_ns = static_cast<double>(report_.total_ns) / ranks_;
    const double counted_ns = static_cast<double>(report_.counted_ns) / ranks_;
    std::string text =
        fmt::format("{} of the {} ({} of {} on the average rank) is ", of_whole(report_.counted_ns), whole_,
                    unit_.with_unit(counted_ns), unit_.with_unit(run_ns));
    if (report_.counted_ranks == 0) {
      text = "No rank could be counted.";
    } else if (report_.total_ns == 0) {
      text = fmt::format("Nothing can be told: the {} is empty.", whole_);
    } else if (is_exposed_) {
      text += "exposed communication: the rank is in MPI and its GPU computes nothing.";
    } else {
      text += fmt::format("communication time. How much of it is exposed cannot be told: {}.",
                          printable(report_.why_not_exposed));
    }
    if (report_.counted_ns != 0 && !report_.call_sites.empty()) {
      const CallSiteFigures& worst = report_.call_sites.front();
      const Cause cause = main_cause(worst.by_cause);
      const std::uint64_t of_cause_ns = worst.by_cause[static_cast<std::size_t>(cause)];
      const std::string who =
          worst.main_counterpart < 0 ? "" : fmt::format("; rank {}", worst.main_counterpart);
      const bool is_unsure =
          is_within_error(of_cause_ns, worst.within_error[static_cast<std::size_t>(cause)]);
      text += fmt::format(" {} of it is {} at {}, above all {} ({} of that{}{}).",
                          percent_text(share_of(worst.counted_ns, report_.counted_ns)),
                          printable(worst.mpi_function), place_in_sentence(worst), name_of(cause),
                          percent_text(share_of(of_cause_ns, worst.counted_ns)), who,
                          is_unsure ? "; no more than the hosts' clocks may be off" : "");
    }
    for (const std::string& each : wrapped(text, screen_columns)) {
      line(bold(each));
    }
  }

  /// Prints what was counted and what was not.
  void steps() {
    if (!has_steps(report_)) {
      return;
    }
    const StepsFigures& steps = *report_.steps;
    std::string text = fmt::format("{} steps ({} {}), median {}", count_text(steps.each.size()),
                                   steps.is_range ? "NVTX range" : "from", printable(steps.mark),
                                   time_text(static_cast<double>(steps.median_ns)));
    const auto slowest = std::max_element(
        steps.each.begin(), steps.each.end(),
        [](const StepFigures& left, const StepFigures& right) { return left.longest_ns < right.longest_ns; });
    text +=
        fmt::format(", longest {} (step {} on rank {}).", time_text(static_cast<double>(slowest->longest_ns)),
                    slowest - steps.each.begin() + 1, slowest->longest_rank);
    text += fmt::format(" Not counted: {}{}.", outside_text("start-up", steps.before),
                        report_.recorded_part ? "" : "; " + outside_text("shutdown", steps.behind));
    line();
    for (const std::string& each : wrapped(text, screen_columns)) {
      line(dim(each));
    }
  }
  [[nodiscard]] std::string outside_text(const char* name, const OutsideFigures& outside) const {
    return fmt::format("{} {} ({} {})", name, time_text(static_cast<double>(outside.total_ns) / ranks_),
                       time_text(static_cast<double>(outside.counted_ns) / ranks_),
                       is_exposed_ ? "exposed" : "in MPI");
  }

  /// Prints the first few pieces of advice; --all prints the rest.
  void advice() {
    if (report_.advice.empty()) {
      return;
    }
    line();
    line(bold(fmt::format("What would help, and at most how much ({}/rank)", unit_.name())));
    const std::size_t shown =
        std::min(report_.advice.size(), options_.all ? options_.top : few_pieces_of_advice);
    for (std::size_t i = 0; i < shown; ++i) {
      const Advice& each = report_.advice[i];
      std::string before = fmt::format("{:>8}  ", per_rank(each.saves_ns));
      for (const std::string& part : wrapped(each.text, screen_columns - before.size())) {
        line(before + part);
        before.assign(before.size(), ' ');
      }
    }
    note_more(report_.advice.size(), shown);
  }

  /// Prints the results of the replay in a few lines; --all adds the trees of efficiencies.
  void replay() {
    if (!report_.replay || report_.replay->observed_ns == 0) {
      if (options_.all && !report_.why_no_replay.empty()) {
        line();
        line(dim("No what-if: " + report_.why_no_replay + "."));
      }
      return;
    }
    const ReplayFigures& replay = *report_.replay;
    TextTable rows({{"What if", Align::left, true},
                    {unit_.name(), Align::right},
                    {"instead of", Align::right},
                    {"", Align::right}});
    for (const WhatIfFigures& each : replay.what_if) {
      const double saved = 1 - static_cast<double>(each.total_ns) / static_cast<double>(replay.observed_ns);
      if (options_.all || saved >= 0.005) {
        rows.add_row({each.words, unit_.number(static_cast<double>(each.total_ns)),
                      unit_.number(static_cast<double>(replay.observed_ns)),
                      std::abs(saved) < 0.0005 ? "0.0 %" : fmt::format("{:+.1f} %", -100 * saved)});
      }
    }
    if (!rows.empty()) {
      table(rows);
    }
    if (options_.all) {
      efficiencies(replay);
      longest_path(replay);
    }
  }

  void efficiencies(const ReplayFigures& replay) {
    TextTable rows({{"Efficiency (POP)"}, {""}, {"of the GPUs (TALP)"}, {""}});
    const EfficiencyFigures& host = replay.efficiency;
    const auto gpu = [&](double GpuEfficiencyFigures::*figure) {
      return replay.gpu_efficiency ? percent_text((*replay.gpu_efficiency).*figure) : std::string("–");
    };
    rows.add_row({"parallel efficiency", percent_text(host.parallel), "parallel efficiency",
                  gpu(&GpuEfficiencyFigures::parallel)});
    rows.add_row({"├─ load balance", percent_text(host.load_balance), "├─ load balance",
                  gpu(&GpuEfficiencyFigures::load_balance)});
    rows.add_row({"└─ communication", percent_text(host.communication), "├─ communication",
                  gpu(&GpuEfficiencyFigures::communication)});
    rows.add_row({"   ├─ serialisation", percent_text(host.serialisation), "└─ orchestration",
                  gpu(&GpuEfficiencyFigures::orchestration)});
    rows.add_row({"   └─ transfer", percent_text(host.transfer), "", ""});
    table(rows);
  }

  void longest_path(const ReplayFigures& replay) {
    const PathFigures& path = replay.path;
    const auto share = [&](std::uint64_t time_ns) {
      return percent_text(share_of(time_ns, replay.observed_ns));
    };
    std::string text =
        fmt::format("The longest path: {} kernels, {} host code, {} communication", share(path.kernels_ns),
                    share(path.host_code_ns), share(path.communication_ns));
    if (!path.calls.empty()) {
      text += fmt::format(", most of it {} ({})", printable(path.calls.front().first),
                          share(path.calls.front().second));
    }
    if (!path.ranks.empty()) {
      text += fmt::format("; it runs through rank {} for {}", path.ranks.front().first,
                          share(path.ranks.front().second));
    }
    text += ". Shortening anything else shortens nothing.";
    line();
    for (const std::string& each : wrapped(text, screen_columns)) {
      line(each);
    }
    if (replay.edges_left_out != 0) {
      line(dim(fmt::format("{} waits could not be put in order and are left out.",
                           count_text(replay.edges_left_out))));
    }
  }

  void causes() {
    if (report_.counted_ns == 0) {
      return;
    }
    std::vector<Cause> order;
    for (std::size_t i = 0; i < cause_count; ++i) {
      if (report_.by_cause[i] != 0) {
        order.push_back(static_cast<Cause>(i));
      }
    }
    const auto time_of = [this](Cause cause) { return report_.by_cause[static_cast<std::size_t>(cause)]; };
    std::stable_sort(order.begin(), order.end(),
                     [&](Cause left, Cause right) { return time_of(left) > time_of(right); });
    TextTable rows({{is_exposed_ ? "Why exposed" : "Communication time by cause"},
                    {fmt::format("{}/rank", unit_.name()), Align::right},
                    {of_whole_, Align::right},
                    {""}});
    for (const Cause cause : order) {
      rows.add_row({marked(std::string(name_of(cause)), time_of(cause),
                           report_.within_error[static_cast<std::size_t>(cause)]),
                    per_rank(time_of(cause)), of_whole(time_of(cause)),
                    bar_text(share_of(time_of(cause), report_.counted_ns), 40)});
    }
    table(rows);
    gaps();
  }

  /// Prints the reasons for "unattributed" in one line.
  void gaps() {
    if (report_.gaps.empty()) {
      return;
    }
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < std::min<std::size_t>(report_.gaps.size(), 3); ++i) {
      const GapFigures& each = report_.gaps[i];
      parts.push_back(fmt::format("{} {} ({})", printable(each.mpi_function), per_rank(each.counted_ns),
                                  name_of(each.gap)));
    }
    const std::size_t more = report_.gaps.size() - parts.size();
    const std::string text = fmt::format("unattributed: {}{}", fmt::join(parts, ", "),
                                         more == 0 ? "" : fmt::format(" and {} more", more));
    for (const std::string& each : wrapped(text, screen_columns, 2)) {
      line(dim(each));
    }
  }

  void call_sites() {
    TextTable rows({{"Where", Align::left, true},
                    {"MPI function", Align::left, true},
                    {"calls", Align::right},
                    {fmt::format("{}/rank", unit_.name()), Align::right},
                    {of_whole_, Align::right},
                    {"mostly"}});
    std::size_t waiting = 0;
    for (const CallSiteFigures& site : report_.call_sites) {
      if (site.counted_ns == 0 || ++waiting > options_.top) {
        continue;
      }
      const Cause cause = main_cause(site.by_cause);
      const std::string who =
          site.main_counterpart < 0 ? "" : fmt::format(" (rank {})", site.main_counterpart);
      rows.add_row(
          {place_text(site), printable(site.mpi_function), count_text(site.calls), per_rank(site.counted_ns),
           of_whole(site.counted_ns),
           marked(fmt::format("{}{}", name_of(cause), who), site.by_cause[static_cast<std::size_t>(cause)],
                  site.within_error[static_cast<std::size_t>(cause)])});
    }
    if (waiting != 0) {
      table(rows);
      note_more(waiting);
      if (!report_.call_sites.empty() && report_.call_sites.front().line == 0 &&
          !report_.call_sites.front().module.empty()) {
        line(dim("No source lines known: build the program with -g, unstripped (it costs no speed)."));
      }
    }
  }

  [[nodiscard]] std::vector<std::string> rank_row(const std::string& title, const RankFigures& rank) const {
    const auto known = [&](std::uint64_t time_ns) {
      return rank.kernels_known ? unit_.number(static_cast<double>(time_ns)) : std::string("–");
    };
    return {
        title,
        unit_.number(static_cast<double>(rank.total_ns)) + (rank.finished ? "" : " †"),
        known(rank.kernels_ns),
        unit_.number(static_cast<double>(rank.communication_ns)),
        known(rank.hidden_ns),
        rank.kernels_known && rank.communication_ns != 0
            ? percent_text(share_of(rank.hidden_ns, rank.communication_ns))
            : "–",
        is_exposed_ ? known(rank.exposed_ns) : unit_.number(static_cast<double>(rank.host_ns)),
        known(rank.upper_bound_ns),
        rank.is_counted && rank.total_ns != 0 ? percent_text(share_of(rank.counted_ns, rank.total_ns)) : "–"};
  }

  void ranks() {
    const bool is_each = report_.ranks.size() <= std::max(few_ranks, options_.top);
    TextTable rows({{is_each ? "Rank" : "Ranks"},
                    {fmt::format("{} {}", whole_, unit_.name()), Align::right},
                    {"kernels", Align::right},
                    {"comm.", Align::right},
                    {"hidden", Align::right},
                    {"overlap", Align::right},
                    {is_exposed_ ? "exposed" : "in MPI", Align::right},
                    {"up to", Align::right},
                    {of_whole_, Align::right}});
    if (is_each) {
      for (const RankFigures& rank : report_.ranks) {
        rows.add_row(rank_row(std::to_string(rank.rank), rank));
      }
    } else {
      std::vector<const RankFigures*> order;
      for (const RankFigures& rank : report_.ranks) {
        order.push_back(&rank);
      }
      std::stable_sort(order.begin(), order.end(), [](const RankFigures* left, const RankFigures* right) {
        return left->counted_ns < right->counted_ns;
      });
      const auto add = [&](const char* title, const RankFigures* rank) {
        rows.add_row(rank_row(fmt::format("{} (rank {})", title, rank->rank), *rank));
      };
      add("least", order.front());
      add("median", order[order.size() / 2]);
      add("most", order.back());
    }
    table(rows);
    if (std::any_of(report_.ranks.begin(), report_.ranks.end(),
                    [](const RankFigures& rank) { return !rank.finished; })) {
      line(dim("† never came to MPI_Finalize: until its last record"));
    }
  }

  void kernels() {
    if (report_.kernels.empty()) {
      return;
    }
    TextTable rows({{"Kernel", Align::left, true},
                    {"runs", Align::right},
                    {fmt::format("{}/rank", unit_.name()), Align::right},
                    {"hides", Align::right},
                    {"exposed after", Align::right},
                    {"mostly at", Align::left, true}});
    for (std::size_t i = 0; i < std::min(report_.kernels.size(), options_.top); ++i) {
      const KernelFigures& kernel = report_.kernels[i];
      rows.add_row({printable(kernel.name), count_text(kernel.launches), per_rank(kernel.running_ns),
                    per_rank(kernel.hides_ns), per_rank(kernel.exposed_after_ns),
                    printable(kernel.exposed_at)});
    }
    table(rows);
    note_more(report_.kernels.size());
  }

  void collectives() {
    if (report_.collectives.empty()) {
      return;
    }
    TextTable rows({{"Collective", Align::left, true},
                    {"bytes a rank"},
                    {"calls", Align::right},
                    {fmt::format("{}/rank waiting", unit_.name()), Align::right},
                    {"moving", Align::right},
                    {"GB/s", Align::right},
                    {"transport"},
                    {"why", Align::left, true}});
    for (std::size_t i = 0; i < std::min(report_.collectives.size(), options_.top); ++i) {
      const CollectiveFigures& each = report_.collectives[i];
      const bool is_mpis = each.transport == trace::TransportKind::none;
      rows.add_row({printable(each.mpi_function), size_class_text(each.size_limit_bytes),
                    count_text(each.calls),
                    marked(per_rank(each.waiting_ns), each.waiting_ns, each.waiting_within_error_ns),
                    per_rank(each.moving_ns), each.median_gbps ? speed_text(*each.median_gbps) : "–",
                    is_mpis ? "mpi" : name_of(each.transport),
                    is_mpis ? "host memory, or another rank moved it" : printable(each.reason)});
    }
    table(rows);
    note_more(report_.collectives.size());
  }

  void late_ranks() {
    if (report_.late_ranks.empty()) {
      return;
    }
    TextTable rows({{"Waited for", Align::right},
                    {"at", Align::left, true},
                    {"times", Align::right},
                    {fmt::format("late by {}", unit_.name()), Align::right},
                    {"in kernels", Align::right},
                    {"in MPI", Align::right},
                    {"mostly", Align::left, true}});
    for (std::size_t i = 0; i < std::min(report_.late_ranks.size(), options_.top); ++i) {
      const LateRankFigures& each = report_.late_ranks[i];
      rows.add_row(
          {fmt::format("rank {}", each.rank),
           fmt::format("{} at {}", printable(each.mpi_function), printable(each.at)), count_text(each.times),
           marked(unit_.number(static_cast<double>(each.late_ns)), each.late_ns, each.within_error_ns),
           percent_text(share_of(each.in_kernels_ns, each.late_ns)),
           percent_text(share_of(each.in_mpi_ns, each.late_ns)), printable(each.main_kernel)});
    }
    table(rows);
    note_more(report_.late_ranks.size());
  }

  void phases() {
    if (report_.phases.empty()) {
      return;
    }
    TextTable rows({{"NVTX phase", Align::left, true},
                    {fmt::format("{}/rank in it", unit_.name()), Align::right},
                    {is_exposed_ ? "exposed in it" : "in MPI in it", Align::right},
                    {"of phase", Align::right}});
    for (std::size_t i = 0; i < std::min(report_.phases.size(), options_.top); ++i) {
      const PhaseFigures& phase = report_.phases[i];
      rows.add_row({printable(phase.name), per_rank(phase.total_ns), per_rank(phase.counted_ns),
                    percent_text(share_of(phase.counted_ns, phase.total_ns))});
    }
    table(rows);
    note_more(report_.phases.size());
  }

  static std::string reason_of(const TransportFigures& transport) {
    if (!transport.went_packed()) {
      return printable(transport.reason);
    }
    return fmt::format("{} ({} sent)", printable(transport.reason), bytes_text(transport.wire_bytes));
  }

  void transports() {
    if (report_.transports.empty()) {
      return;
    }
    TextTable rows({{"Messages"},
                    {"size"},
                    {"count", Align::right},
                    {"bytes", Align::right},
                    {"transport"},
                    {"GB/s", Align::right},
                    {"why this transport", Align::left, true}});
    for (std::size_t i = 0; i < std::min(report_.transports.size(), options_.top); ++i) {
      const TransportFigures& transport = report_.transports[i];
      const bool is_mpis = transport.transport == trace::TransportKind::mpi;
      rows.add_row({fmt::format("{}{} → {}", transport.is_part ? "in other calls: " : "",
                                name_of(transport.source), name_of(transport.destination)),
                    size_class_text(transport.size_limit_bytes), count_text(transport.messages),
                    bytes_text(transport.bytes), name_of(transport.transport),
                    transport.median_gbps ? speed_text(*transport.median_gbps) : "–",
                    is_mpis ? "the MPI library's own" : reason_of(transport)});
    }
    table(rows);
    note_more(report_.transports.size());
  }

  void closing() {
    std::uint64_t records = 0;
    std::uint64_t dropped = 0;
    std::uint64_t dropped_gpu = 0;
    std::uint64_t cost_ns = 0;
    std::uint64_t cost_of_ns = 0;  ///< run time of the ranks whose cost is known
    std::uint64_t start_ns = 0;    ///< of the slowest rank, because the job waits for it
    std::uint64_t finish_ns = 0;
    std::uint64_t clock_error_ns = 0;
    bool is_clock_known = true;
    for (const RankFigures& rank : report_.ranks) {
      records += rank.records;
      dropped += rank.dropped_records;
      dropped_gpu += rank.dropped_gpu_records;
      cost_ns += rank.own_cost_ns.value_or(0);
      cost_of_ns += rank.own_cost_ns ? rank.run_ns : 0;
      start_ns = std::max(start_ns, rank.start_cost_ns.value_or(0));
      finish_ns = std::max(finish_ns, rank.finish_cost_ns.value_or(0));
      is_clock_known = is_clock_known && (!rank.kernels_known || rank.clock_error_ns);
      clock_error_ns = std::max(clock_error_ns, rank.clock_error_ns.value_or(0));
    }
    std::string text = fmt::format("{} records, {} dropped", count_text(records), count_text(dropped));
    if (dropped_gpu != 0) {
      text += fmt::format(", {} GPU records lost (exposed time is then too high)", count_text(dropped_gpu));
    }
    text += cost_of_ns == 0
                ? "; recording cost not known"
                : fmt::format("; recording cost {} of the run", percent_text(share_of(cost_ns, cost_of_ns)));
    if (start_ns != 0) {
      text += fmt::format(", {} to start and {} to end it", time_text(static_cast<double>(start_ns)),
                          time_text(static_cast<double>(finish_ns)));
    }
    if (is_exposed_) {
      text += is_clock_known
                  ? fmt::format("; GPU clock error ≤ {:.1f} µs", static_cast<double>(clock_error_ns) * 1e-3)
                  : "; GPU clock error unknown";
    }
    if (!report_.one_clock) {
      text += fmt::format("; clocks of {} of {} hosts were brought together by their messages, error ≤ {}",
                          report_.aligned_hosts, report_.hosts.size(),
                          time_text(static_cast<double>(report_.host_clock_error_ns)));
      if (report_.aligned_hosts < report_.hosts.size()) {
        text += "; waits between others are unattributed";
      }
    }
    line();
    for (const std::string& each : wrapped(text + ".", screen_columns)) {
      line(dim(each));
    }
    if (has_marks_) {
      line(dim("‡ half of it or more is within the error of the hosts' clocks: it may have another cause"));
    }
    for (std::size_t i = 0; i < std::min(report_.notices.size(), options_.top); ++i) {
      const NoticeFigures& notice = report_.notices[i];
      const std::string who = notice.ranks == 1 ? fmt::format("rank {}", notice.first_rank)
                                                : fmt::format("{} ranks", notice.ranks);
      warn(fmt::format("! {}: {}", who, printable(notice.text)));
    }
    note_more(report_.notices.size());
    for (std::size_t i = 0; i < std::min(report_.flaws.size(), options_.top); ++i) {
      warn("! " + printable(describe(report_.flaws[i])));
    }
    note_more(report_.flaws.size());
  }

  void warn(std::string_view content) {
    for (const std::string& each : wrapped(content, screen_columns, 2)) {
      line(styled("33", each));
    }
  }

  const Report& report_;
  const TextOptions& options_;
  double ranks_;
  TimeUnit unit_;
  bool is_exposed_;
  const char* whole_;  ///< the whole of which shares are shown
  std::string of_whole_;
  bool has_marks_ = false;
  std::string text_;
};

}  // namespace

std::string to_text(const Report& report, const TextOptions& options) {
  return ReportWriter(report, options).write();
}

}  // namespace penstock::analysis
