#include "analysis/figures/part_sums.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace penstock::analysis {
namespace {

/// A part's times, all of one rank.
struct PartSet {
  TimePart part;
  IntervalSet set;
};

/// Cuts the times that are left to their parts, in the order in which they are asked for.
class Dividing {
 public:
  Dividing(Interval window, const IntervalSet& taken) {
    scratch_.push_back(window);
    IntervalSet all;
    all.assign_union_of(scratch_);
    subtract(all, taken, left_);
  }
  /// Starts the list of a part's times.
  [[nodiscard]] std::vector<Interval>& list() {
    scratch_.clear();
    return scratch_;
  }
  /// Returns what is left of these times, and takes it.
  [[nodiscard]] IntervalSet take(const IntervalSet& times) {
    if (times.intervals().empty()) {
      return {};
    }
    IntervalSet taken;
    divide(left_, times, taken, rest_);
    std::swap(left_, rest_);
    return taken;
  }
  [[nodiscard]] IntervalSet take_listed() {
    if (scratch_.empty()) {
      return {};
    }
    IntervalSet times;
    times.assign_union_of(scratch_);
    return take(times);
  }
  [[nodiscard]] IntervalSet take_all() { return std::move(left_); }

 private:
  IntervalSet left_;
  IntervalSet rest_;
  std::vector<Interval> scratch_;
};

}  // namespace

bool PartSums::is_in_files(const RankTrace& rank, const trace::MpiCall& call) {
  const bool* known = is_file_call_.find(call.function);
  if (known == nullptr) {
    known = &(is_file_call_[call.function] = is_file_call(rank.strings.at(call.function)));
  }
  return *known;
}

void PartSums::add(const WaitInput& wait) {
  if (wait.span.cause == Cause::unattributed && is_in_files(wait.call.rank.trace, wait.call.call)) {
    file_waits_.push_back({wait.begin_ns, wait.end_ns});
  }
}

void PartSums::add(const RankInput& rank) {
  const RankTrace& trace = rank.trace;
  if (!rank.is_counted) {
    is_file_call_.clear();
    return;
  }
  ranks_on_gpus_ += trace.used_gpu() ? 1 : 0;

  const Timeline& timeline = rank.window.timeline;
  IntervalSet files_in_mpi;
  files_in_mpi.assign_union_of(file_waits_);
  Dividing dividing(rank.window.window, unite(rank.hidden_by, rank.counted));
  std::array<PartSet, 8> sets;
  auto next = sets.begin();
  const auto took = [&next](TimePart part, IntervalSet set) -> const IntervalSet& {
    *next = {part, std::move(set)};
    return (next++)->set;
  };

  std::vector<Interval>& files = dividing.list();
  for (const Call& each : trace.calls) {
    if (!communicates(each.record) && is_in_files(trace, each.record)) {
      files.push_back({each.record.begin_ns, each.record.end_ns});
    }
  }
  took(TimePart::mpi_files, dividing.take_listed());
  took(TimePart::nccl, dividing.take(timeline.nccl));
  std::vector<Interval>& by_hand = dividing.list();
  for (const HandCopy& each : rank.hand_copies) {
    by_hand.push_back(each.time);
  }
  took(TimePart::staging_by_hand, dividing.take_listed());
  const PlaceFinder places(mark_, rank);
  const std::int32_t number = trace.header.world_rank;
  other_copies_.add(places, number, took(TimePart::other_copies, dividing.take(timeline.copies)));
  kernel_launch_.add(places, number, took(TimePart::kernel_launch, dividing.take(timeline.launched)));
  cuda_synchronisation_.add(places, number,
                            took(TimePart::cuda_synchronisation, dividing.take(timeline.synchronised)));
  host_code_.add(places, number, took(TimePart::host_code, dividing.take_all()));
  took(TimePart::kernels, rank.hidden_by);

  OfRank of_rank{number, {}};
  for (const PartSet& each : sets) {
    of_rank.sums.parts[static_cast<std::size_t>(each.part)] = each.set.measure_ns();
  }
  const IntervalSet unattributed_in_files = subtract(files_in_mpi, rank.hidden_by);
  of_rank.sums.unattributed_in_files_ns = unattributed_in_files.measure_ns();
  ranks_.push_back(of_rank);

  const std::vector<std::uint64_t>& bounds = rank.window.step_bounds;
  if (bounds.size() > steps_.size() + 1) {
    steps_.resize(bounds.size() - 1);
  }
  const auto add_steps = [&](const IntervalSet& set, auto sum_of) {
    MeasureCursor within(set);
    for (std::size_t i = 0; i + 1 < bounds.size() && !set.intervals().empty(); ++i) {
      sum_of(steps_[i]) += within.measure_within_ns(bounds[i], bounds[i + 1]);
    }
  };
  for (const PartSet& each : sets) {
    add_steps(each.set,
              [&](Sums& step) -> std::uint64_t& { return step.parts[static_cast<std::size_t>(each.part)]; });
  }
  add_steps(unattributed_in_files,
            [](Sums& step) -> std::uint64_t& { return step.unattributed_in_files_ns; });
  file_waits_.clear();
  is_file_call_.clear();
}

void PartSums::merge(PartSums&& part, const Renumbering& numbers) {
  merge_into(ranks_, std::move(part.ranks_), numbers);
  steps_.resize(std::max(steps_.size(), part.steps_.size()));
  for (std::size_t i = 0; i < part.steps_.size(); ++i) {
    merge_into(steps_[i].parts, std::move(part.steps_[i].parts), numbers);
    steps_[i].unattributed_in_files_ns += part.steps_[i].unattributed_in_files_ns;
  }
  ranks_on_gpus_ += part.ranks_on_gpus_;
  host_code_.merge(std::move(part.host_code_), numbers);
  other_copies_.merge(std::move(part.other_copies_), numbers);
  kernel_launch_.merge(std::move(part.kernel_launch_), numbers);
  cuda_synchronisation_.merge(std::move(part.cuda_synchronisation_), numbers);
}

TimeByPart PartSums::parts_of(const Sums& sums, const TimeByCause& by_cause) {
  TimeByPart parts = sums.parts;
  for (std::size_t i = 0; i < cause_count; ++i) {
    parts[static_cast<std::size_t>(part_of(static_cast<Cause>(i)))] = by_cause[i];
  }
  parts[static_cast<std::size_t>(TimePart::unattributed)] -= sums.unattributed_in_files_ns;
  parts[static_cast<std::size_t>(TimePart::mpi_files)] += sums.unattributed_in_files_ns;
  return parts;
}

void PartSums::finish(Report& report, SiteNames& names) {
  if (report.counted_ranks == 0 || (choice_ != Measure::exposed_communication && ranks_on_gpus_ != 0)) {
    return;  // what kernels there were is not known
  }
  report.parts.emplace();
  for (const OfRank& each : ranks_) {
    const auto rank = std::lower_bound(
        report.ranks.begin(), report.ranks.end(), each.rank,
        [](const RankFigures& figures, std::int32_t number) { return figures.rank < number; });
    if (rank != report.ranks.end() && rank->rank == each.rank) {
      rank->parts = parts_of(each.sums, rank->by_cause);
      for (std::size_t i = 0; i < part_count; ++i) {
        (*report.parts)[i] += (*rank->parts)[i];
      }
    }
  }
  if (report.steps) {
    for (std::size_t i = 0; i < std::min(steps_.size(), report.steps->each.size()); ++i) {
      report.steps->each[i].parts = parts_of(steps_[i], report.steps->each[i].by_cause);
    }
  }
  report.host_code = host_code_.finish(names);
  report.other_copies = other_copies_.finish(names);
  report.kernel_launch = kernel_launch_.finish(names);
  report.cuda_synchronisation = cuda_synchronisation_.finish(names);
}

}  // namespace penstock::analysis
