#include "analysis/report/conclusions/advice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/joining/message_class.hpp"
#include "analysis/layout/text_table.hpp"
#include "analysis/report/conclusions/change_advice.hpp"
#include "analysis/report/conclusions/transport_remedies.hpp"
#include "analysis/report/text_figures.hpp"

namespace penstock::analysis {
namespace {

std::uint64_t of(const TimeByCause& times, Cause cause) {
  return times[static_cast<std::size_t>(cause)];
}

/// Returns true for calls that return only when their message has been sent or received.
bool is_blocking(std::string_view function) {
  constexpr std::array<std::string_view, 7> blocking{
      "MPI_Send", "MPI_Ssend", "MPI_Rsend", "MPI_Bsend", "MPI_Recv", "MPI_Sendrecv", "MPI_Sendrecv_replace"};
  return std::find(blocking.begin(), blocking.end(), function) != blocking.end();
}

/// Returns the time of a cause; 0 if it lies within the error of the hosts' clocks and is no ground for
/// advice.
std::uint64_t certain(const TimeByCause& times, const TimeByCause& within_error, Cause cause) {
  return is_within_error(of(times, cause), of(within_error, cause)) ? 0 : of(times, cause);
}

std::string_view plural_of(const TransportFigures& messages) {
  const bool is_one = messages.messages == 1;
  if (messages.is_part) return is_one ? " of another call" : "s of other calls";
  return is_one ? "" : "s";
}

/// Requires a speed.
std::string time_of_one(const TransportFigures& messages) {
  return time_text(mean_bytes(messages) / *messages.median_gbps);
}

class Adviser {
 public:
  explicit Adviser(const Report& report)
      : report_(report), ranks_(static_cast<double>(std::max<std::uint64_t>(report.counted_ranks, 1))) {}

  [[nodiscard]] std::vector<Advice> advise() {
    if (report_.replay) {
      advice_ = advice_on_changes(report_);
    }
    transports();
    kernels_waited_for();
    staging_by_hand();
    late_receives();
    late_ranks();
    late_partners();
    progress();
    if (!report_.replay) {
      overlap();
    }
    std::stable_sort(advice_.begin(), advice_.end(),
                     [](const Advice& left, const Advice& right) { return left.saves_ns > right.saves_ns; });
    return std::move(advice_);
  }

 private:
  /// Adds advice with what the replay says of its change; with its bound, if the job was not replayed.
  void add(const Advice& bound, const ChangeFigures* change) {
    if (change != nullptr) {
      advice_.push_back(replayed(report_, *change, bound));
    } else if (!report_.replay && bound.saves_ns != 0 && bound.saves_ns * 100 >= report_.counted_ns) {
      advice_.push_back(bound);
    }
  }
  /// Adds advice with the row that shows it: an element of one of the report's lists.
  template <typename Figures>
  void add(AdviceKind kind, std::uint64_t saves_ns, std::string text, const char* name,
           const std::vector<Figures>& list, const Figures& row) {
    const auto number = static_cast<std::size_t>(&row - list.data());
    add({kind, saves_ns, std::move(text), name, number}, change_of_row(name, number));
  }
  /// Returns the change that a row of one of the report's lists tells; null if it was not tried, or saves
  /// nothing.
  [[nodiscard]] const ChangeFigures* change_of_row(std::string_view list, std::size_t row) const {
    return change_with([&](const ChangeFigures& each) { return each.list == list && each.row == row; });
  }
  template <typename IsIt>
  [[nodiscard]] const ChangeFigures* change_with(IsIt is_it) const {
    if (!report_.replay) {
      return nullptr;
    }
    const std::vector<ChangeFigures>& changes = report_.replay->changes;
    const auto found = std::find_if(changes.begin(), changes.end(), is_it);
    return found == changes.end() ? nullptr : &*found;
  }
  /// Formats the time of the average rank.
  [[nodiscard]] std::string time(std::uint64_t sum_ns) const {
    return time_text(static_cast<double>(sum_ns) / ranks_);
  }
  [[nodiscard]] std::string call(const CallSiteFigures& site) const {
    return fmt::format("{} at {}", printable(site.mpi_function), place_in_sentence(site));
  }

  /// Advises on messages that went through host memory, or in pieces too small, and why.
  void transports() {
    for (const TransportFigures& each : report_.transports) {
      const std::uint64_t moving_ns = of(each.by_cause, Cause::wire) + of(each.by_cause, Cause::staging);
      if ((!is_device_memory(each.source) && !is_device_memory(each.destination)) ||
          each.transport == trace::TransportKind::fused) {
        continue;
      }
      const std::string which =
          fmt::format("{} {}{} {} → {} of {}", count_text(each.messages), each.is_part ? "part" : "message",
                      plural_of(each), name_of(each.source), name_of(each.destination),
                      size_class_text(each.size_limit_bytes));
      if (each.reason == "receiver was late") {
        add(AdviceKind::post_receives_early, moving_ns,
            fmt::format("Post receives earlier: {} were buffered in host memory because their receiver was "
                        "late. Where the receive was posted, the receiver was outside MPI: try "
                        "PENSTOCK_PROGRESS=thread.",
                        which),
            "transports", report_.transports, each);
      } else if (!is_direct(each.transport) && !is_chosen_for_speed(each)) {
        through_host_memory(each, which, moving_ns);
      } else if (pay_a_latency_each(each)) {
        add(AdviceKind::join_messages, moving_ns,
            fmt::format("Aggregate small messages: {}, {} bytes on average, pay a latency each.", which,
                        count_text(each.messages == 0 ? 0 : each.bytes / each.messages)),
            "transports", report_.transports, each);
      }
    }
  }

  void through_host_memory(const TransportFigures& row, const std::string& which, std::uint64_t moving_ns) {
    const TransportFigures* const better = fastest_alike(report_.transports, row);
    double share = 1.0;
    std::string proof;
    if (better != nullptr) {
      share -= *time_by(*better, row);
      proof = is_small(row.size_limit_bytes)
                  ? fmt::format(" {} of that size went by {} in {} each instead of {}.",
                                count_text(better->messages), name_of(better->transport),
                                time_of_one(*better), time_of_one(row))
                  : fmt::format(" {} of that size went by {} at {} GB/s instead of {}.",
                                count_text(better->messages), name_of(better->transport),
                                speed_text(*better->median_gbps), speed_text(*row.median_gbps));
    }
    const TransportRemedy remedy = remedy_of(row.reason, report_.facts.allocators);
    const std::size_t before = advice_.size();
    add(AdviceKind::better_transport, static_cast<std::uint64_t>(static_cast<double>(moving_ns) * share),
        fmt::format("{} went by {}{}{}.{}{}{}", which, name_of(row.transport), row.reason.empty() ? "" : ": ",
                    printable(row.reason), remedy.text.empty() ? "" : " ", remedy.text, proof),
        "transports", report_.transports, row);
    if (advice_.size() != before) {
      advice_.back().title = remedy.title;
      advice_.back().names_action = !remedy.text.empty() || better != nullptr;
    }
  }

  void kernels_waited_for() {
    const bool kernels = !report_.kernels.empty();
    for (const CallSiteFigures& site : report_.call_sites) {
      add(AdviceKind::waits_for_kernel, of(site.by_cause, Cause::gpu_not_ready),
          fmt::format("{} waits for {}, not for the network: {} a rank, {} of it exposed. {}", call(site),
                      kernels ? "a kernel" : "earlier work on the GPU", time(site.gpu_wait_ns),
                      time(of(site.by_cause, Cause::gpu_not_ready)),
                      kernels ? "First compute the data to be sent, in a separate kernel."
                              : "No kernel was recorded: it is copies, memsets, or another process's work."),
          "call_sites", report_.call_sites, site);
    }
  }

  /// Advises on copies by hand; sites that are changed together are one piece of advice.
  void staging_by_hand() {
    for (const HandStagingFigures& row : report_.hand_staging) {
      const auto number = static_cast<std::size_t>(&row - report_.hand_staging.data());
      const ChangeFigures* const change = change_of_row("staging_by_hand", number);
      HandStagingFigures sum = row;
      std::string calls = printable(row.at);
      for (const HandStagingFigures& other : report_.hand_staging) {
        if (change != nullptr && &other != &row &&
            std::find(change->calls.begin(), change->calls.end(), other.at) != change->calls.end()) {
          calls += " and " + printable(other.at);
          sum.messages += other.messages;
          sum.bytes += other.bytes;
          sum.copies_ns += other.copies_ns;
          sum.exposed_copies_ns += other.exposed_copies_ns;
        }
      }
      add({AdviceKind::pass_device_pointers, row.exposed_copies_ns,
           fmt::format("Pass the device pointer to {}: {} copies from or to the GPU by hand, {}, take {} a "
                       "rank, {} of "
                       "it while no kernel runs.",
                       calls, count_text(sum.messages), bytes_text(sum.bytes), time(sum.copies_ns),
                       time(sum.exposed_copies_ns)),
           "staging_by_hand", number},
          change);
    }
  }

  void late_receives() {
    const std::vector<LateReceiveFigures>& list = report_.late_receives;
    for (std::size_t row = 0; row < list.size(); ++row) {
      const LateReceiveFigures& each = list[row];
      add({AdviceKind::post_receives_early, each.hides_ns,
           fmt::format(
               "Post the receive of {} before {}, unless that kernel uses its buffer: on average, its "
               "messages ({}) had been sent {} before it was posted, while that kernel ran; posting it "
               "earlier would hide {} a rank of their transfer.",
               printable(each.at), printable(each.kernel), count_text(each.messages),
               time_text(static_cast<double>(each.ready_ns) / static_cast<double>(each.messages)),
               time(each.hides_ns))},
          change_of_row("late_receives", row));
    }
  }

  [[nodiscard]] const PeerFigures* peer(std::int32_t rank) const {
    const auto found = std::find_if(report_.peers.begin(), report_.peers.end(),
                                    [rank](const PeerFigures& each) { return each.rank == rank; });
    return found == report_.peers.end() ? nullptr : &*found;
  }

  /// Returns the change that makes a rank compute no longer than the others; null if another one says why it
  /// is late.
  [[nodiscard]] const ChangeFigures* late_rank_change(std::int32_t rank) const {
    const ChangeFigures* const change = change_with([rank](const ChangeFigures& each) {
      return each.list == std::string_view("peers") && each.rank == rank;
    });
    return change == nullptr || is_explained(*report_.replay, *change) ? nullptr : change;
  }

  /// Returns true if others wait for a rank above all elsewhere than at collectives.
  static bool is_late_elsewhere(const PeerFigures& waits) {
    const std::uint64_t elsewhere_ns = of(waits.by_cause, Cause::late_sender) +
                                       of(waits.by_cause, Cause::late_receiver) +
                                       of(waits.by_cause, Cause::window_wait);
    return elsewhere_ns > of(waits.by_cause, Cause::collective_wait);
  }

  /// Advises on ranks that are late at collectives. A rank is named once, with the place where it is latest.
  /// The replay tells what is saved wherever a rank is late; so it is named here only if that is mostly here.
  void late_ranks() {
    for (const LateRankFigures& each : report_.late_ranks) {
      const PeerFigures* const waits = peer(each.rank);
      if (waits == nullptr || std::find(named_.begin(), named_.end(), each.rank) != named_.end() ||
          (report_.replay && is_late_elsewhere(*waits))) {
        continue;
      }
      named_.push_back(each.rank);
      if (is_within_error(each.late_ns, each.within_error_ns)) {
        continue;
      }
      add({AdviceKind::balance_ranks, certain(waits->by_cause, waits->within_error, Cause::collective_wait),
           fmt::format(
               "Other ranks wait for rank {} at {} at {}: it arrives {} {} after the first rank. It "
               "spends that time in {}.",
               each.rank, printable(each.mpi_function), printable(each.at),
               each.times == 1 ? "once," : fmt::format("{} times, on average", count_text(each.times)),
               time_text(static_cast<double>(each.late_ns) / static_cast<double>(each.times)),
               meanwhile_text(each)),
           "late_ranks", static_cast<std::size_t>(&each - report_.late_ranks.data())},
          late_rank_change(each.rank));
    }
  }

  /// Returns what a late rank does while others wait, with shares; what is below their last digit is left
  /// out.
  static std::string meanwhile_text(const LateRankFigures& late) {
    const std::uint64_t host_ns = late.late_ns - std::min(late.late_ns, late.in_kernels_ns + late.in_mpi_ns);
    std::vector<std::string> parts;
    const auto add_part = [&](std::uint64_t time_ns, std::string_view what, std::string_view which) {
      const double share = share_of(time_ns, late.late_ns);
      if (share >= 0.0005) parts.push_back(fmt::format("{} ({}{})", what, percent_text(share), which));
    };
    add_part(late.in_kernels_ns, "kernels", fmt::format(", mostly {}", printable(late.main_kernel)));
    add_part(host_ns, "host code", "");
    add_part(late.in_mpi_ns, "other MPI calls", "");
    return fmt::to_string(fmt::join(parts, ", "));
  }

  /// Advises on late partners of messages.
  void late_partners() {
    std::uint64_t kernels_ns = 0;
    for (const RankFigures& rank : report_.ranks) {
      kernels_ns += rank.kernels_ns;
    }
    const double mean_ns =
        static_cast<double>(kernels_ns) / static_cast<double>(std::max<std::size_t>(report_.ranks.size(), 1));
    for (const PeerFigures& each : report_.peers) {
      const std::uint64_t sends_late_ns = certain(each.by_cause, each.within_error, Cause::late_sender);
      const std::uint64_t receives_late_ns = certain(each.by_cause, each.within_error, Cause::late_receiver);
      const std::uint64_t windows_late_ns = of(each.by_cause, Cause::window_wait);
      const std::uint64_t late_ns = sends_late_ns + receives_late_ns + windows_late_ns;
      const bool is_told = std::find(named_.begin(), named_.end(), each.rank) != named_.end();
      if (each.rank < 0 || (report_.replay && (is_told || late_ns == 0))) {
        continue;
      }
      std::string load;
      const auto own = std::find_if(report_.ranks.begin(), report_.ranks.end(),
                                    [&](const RankFigures& rank) { return rank.rank == each.rank; });
      if (own != report_.ranks.end() && own->kernels_known && mean_ns > 0) {
        load = fmt::format(" Its kernels run {} of the mean.",
                           percent_text(static_cast<double>(own->kernels_ns) / mean_ns));
      }
      std::vector<std::string> waits;
      for (const auto& [time_ns, what] :
           {std::pair{sends_late_ns, "send"}, std::pair{receives_late_ns, "receive"},
            std::pair{windows_late_ns, "open, complete or unlock a window"}}) {
        if (time_ns != 0) {
          waits.push_back(fmt::format("{} for it to {}", time_text(static_cast<double>(time_ns)), what));
        }
      }
      add({AdviceKind::balance_ranks, late_ns,
           fmt::format("Others wait for rank {}: {}.{}", each.rank, fmt::join(waits, ", "), load), "peers",
           static_cast<std::size_t>(&each - report_.peers.data())},
          late_rank_change(each.rank));
    }
  }

  void progress() {
    const std::uint64_t missing_ns = certain(report_.by_cause, report_.within_error, Cause::missing_progress);
    add({AdviceKind::progress_thread, missing_ns,
         fmt::format(
             "Partners had posted their side but were outside MPI: {} a rank. "
             "PENSTOCK_PROGRESS=thread, with a core to spare for each rank, progresses their transfers.",
             time(missing_ns))},
        change_with([](const ChangeFigures& each) { return each.kind == AdviceKind::progress_thread; }));
  }

  /// Advises on transfers that overlap with nothing, and names the kernel that could overlap.
  void overlap() {
    for (const CallSiteFigures& site : report_.call_sites) {
      const std::uint64_t wire_ns = of(site.by_cause, Cause::wire) + of(site.by_cause, Cause::staging);
      const std::string place = place_in_sentence(site);
      const auto kernel = std::find_if(report_.kernels.begin(), report_.kernels.end(),
                                       [&](const KernelFigures& each) { return each.exposed_at == place; });
      if (kernel == report_.kernels.end() || site.mpi_function.starts_with("MPI_I")) {
        continue;
      }
      const std::uint64_t free_ns = kernel->running_ns - kernel->hides_ns;  // its time without communication
      const std::uint64_t saves_ns = std::min(wire_ns, free_ns);
      const std::string name = printable(kernel->name);
      add(AdviceKind::overlap, saves_ns,
          is_blocking(site.mpi_function)
              ? fmt::format(
                    "{} blocks for {} a rank while its data is in flight, after {} has ended. Make it "
                    "non-blocking, and post it before the part of {} that needs none of its data "
                    "({} a rank).",
                    call(site), time(wire_ns), name, name, time(free_ns))
              : fmt::format(
                    "{} waits {} a rank for data in flight, after {} has ended. Overlap it with the part "
                    "of {} that needs none of this data ({} a rank).",
                    call(site), time(wire_ns), name, name, time(free_ns)),
          "call_sites", report_.call_sites, site);
    }
  }

  const Report& report_;
  double ranks_;
  std::vector<std::int32_t> named_;  ///< ranks that come last to collectives
  std::vector<Advice> advice_;
};

}  // namespace

std::vector<Advice> advise(const Report& report) {
  // without kernels it is unknown what would be hidden, or what is hidden already
  if (!counts_exposed(report) || report.counted_ranks == 0 || report.total_ns == 0) {
    return {};
  }
  return Adviser(report).advise();
}

}  // namespace penstock::analysis
