#include "analysis/causes/thread_timelines.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analysis/causes/kernel_owner.hpp"
#include "analysis/causes/timeline.hpp"

namespace penstock::analysis {
namespace {

constexpr std::uint64_t never = ~std::uint64_t{0};

bool is_in_flight(const Half& half) {
  return half.record.blocking == 0;
}
bool is_in_flight(const Operation&) {
  return true;
}

/// Returns the threads that communicate in the whole run, numbered.
std::vector<ThreadTimeline> communicating_threads(const RankTrace& rank) {
  std::vector<std::uint64_t> first_ns(rank.calls_of_lanes().size(), never);
  const auto note = [&](std::uint32_t lane, std::uint64_t time_ns) {
    first_ns[lane] = std::min(first_ns[lane], time_ns);
  };
  for (const Call& each : rank.calls) {
    if (communicates(each.record)) {
      note(each.lane, each.record.begin_ns);
    }
  }
  const auto note_all = [&](const auto& list) {
    for (const auto& each : list) {
      if (is_in_flight(each)) {
        note(each.lane, each.record.complete_ns);
      }
    }
  };
  note_all(rank.halves);
  note_all(rank.operations);
  std::vector<std::pair<std::uint64_t, std::uint32_t>> order;
  for (std::uint32_t lane = 0; lane < first_ns.size(); ++lane) {
    if (first_ns[lane] != never) {
      order.emplace_back(first_ns[lane], lane);
    }
  }
  std::sort(order.begin(), order.end());
  std::vector<ThreadTimeline> threads(order.size());
  for (std::uint32_t number = 0; number < order.size(); ++number) {
    threads[number].lane = order[number].second;
    threads[number].number = number;
  }
  return threads;
}

/// Returns the name that the system gives a process, and each of its threads until the program names it.
std::string_view name_of_program(const RankTrace& rank) {
  constexpr std::size_t longest_name = 15;
  std::string_view program = rank.header.program;
  program = program.substr(0, program.find(' '));
  return program.substr(program.rfind('/') + 1).substr(0, longest_name);
}

void name_threads(const RankTrace& rank, std::vector<ThreadTimeline>& threads) {
  const std::string_view program = name_of_program(rank);
  for (ThreadTimeline& thread : threads) {
    const auto [first, last] = std::equal_range(
        rank.threads.begin(), rank.threads.end(), LaneThread{thread.lane, 0, {}},
        [](const LaneThread& left, const LaneThread& right) { return left.lane < right.lane; });
    const auto differ = [](const LaneThread& left, const LaneThread& right) {
      return left.name != right.name;
    };
    const bool is_one_name = first != last && std::adjacent_find(first, last, differ) == last;
    if (is_one_name && first->name != program) {
      thread.name = first->name;
    }
  }
}

/// Fills a buffer for each of the threads, by its place in the list.
class ByThread {
 public:
  ByThread(const RankTrace& rank, const std::vector<ThreadTimeline>& threads, Interval window)
      : window_(window), of_lane_(rank.calls_of_lanes().size(), none), intervals_(threads.size()) {
    for (std::size_t i = 0; i < threads.size(); ++i) {
      of_lane_[threads[i].lane] = i;
    }
  }
  void add(std::uint32_t lane, std::uint64_t begin_ns, std::uint64_t end_ns) {
    begin_ns = std::max(begin_ns, window_.begin_ns);
    end_ns = std::min(end_ns, window_.end_ns);
    if (const std::size_t thread = of_lane_[lane]; thread != none && begin_ns < end_ns) {
      intervals_[thread].push_back({begin_ns, end_ns});
    }
  }
  [[nodiscard]] IntervalSet take(std::size_t thread) {
    return IntervalSet::union_of(std::exchange(intervals_[thread], {}));
  }

 private:
  static constexpr std::size_t none = ~std::size_t{0};
  Interval window_;
  std::vector<std::size_t> of_lane_;
  std::vector<std::vector<Interval>> intervals_;
};

void add_communication(const RankTrace& rank, Interval window, std::vector<ThreadTimeline>& threads) {
  ByThread calls(rank, threads, window);
  for (const Call& each : rank.calls) {
    if (communicates(each.record)) {
      calls.add(each.lane, each.record.begin_ns, each.record.end_ns);
    }
  }
  ByThread flights(rank, threads, window);
  const auto add_all = [&](const auto& list) {
    for (const auto& each : list) {
      if (is_in_flight(each)) {
        flights.add(each.lane, each.record.post_ns, each.record.complete_ns);
      }
    }
  };
  add_all(rank.halves);
  add_all(rank.operations);
  for (std::size_t i = 0; i < threads.size(); ++i) {
    const IntervalSet in_flight = flights.take(i);
    threads[i].host = calls.take(i);
    threads[i].in_flight_ns = in_flight.measure_ns();
    threads[i].communication = unite(threads[i].host, in_flight);
  }
}

/// Gives each thread its kernels.
class KernelsOfThreads {
 public:
  KernelsOfThreads(const RankTrace& rank, Interval window, std::vector<ThreadTimeline>& threads) {
    std::unordered_map<std::uint64_t, ThreadTimeline*> by_id;
    for (ThreadTimeline& thread : threads) {
      for (const LaneThread& each : rank.threads) {
        if (each.lane == thread.lane) {
          by_id.emplace(each.thread_id, &thread);
        }
      }
    }
    KernelOwner owner(rank.strings);
    std::map<std::uint8_t, std::vector<Interval>> of_gpu;
    std::vector<Interval> of_nobody;
    for (const trace::DeviceActivity& each : rank.kernels) {
      const Interval inside{std::max(each.begin_ns, window.begin_ns), std::min(each.end_ns, window.end_ns)};
      if (inside.begin_ns >= inside.end_ns || !owner.is_the_application(each)) {
        continue;
      }
      of_gpu[each.device].push_back(inside);
      if (each.thread_id == 0) {
        of_nobody.push_back(inside);
      } else if (const auto thread = by_id.find(each.thread_id); thread != by_id.end()) {
        note(thread->second->gpus, each.device);
      }
    }
    of_nobody_ = IntervalSet::union_of(std::move(of_nobody));
    for (auto& [gpu, intervals] : of_gpu) {
      of_gpu_[gpu] = IntervalSet::union_of(std::move(intervals));
    }
  }

  /// Returns the kernels on these GPUs, of all GPUs if there are none, and those of nobody.
  [[nodiscard]] std::shared_ptr<const IntervalSet> on(const std::vector<std::uint8_t>& gpus) {
    std::shared_ptr<const IntervalSet>& known = known_[gpus];
    if (known == nullptr) {
      IntervalSet all = of_nobody_;
      for (const auto& [gpu, kernels] : of_gpu_) {
        if (gpus.empty() || std::binary_search(gpus.begin(), gpus.end(), gpu)) {
          all = unite(all, kernels);
        }
      }
      known = std::make_shared<const IntervalSet>(std::move(all));
    }
    return known;
  }

 private:
  static void note(std::vector<std::uint8_t>& gpus, std::uint8_t gpu) {
    const auto place = std::lower_bound(gpus.begin(), gpus.end(), gpu);
    if (place == gpus.end() || *place != gpu) {
      gpus.insert(place, gpu);
    }
  }

  std::map<std::uint8_t, IntervalSet> of_gpu_;
  IntervalSet of_nobody_;
  std::map<std::vector<std::uint8_t>, std::shared_ptr<const IntervalSet>> known_;
};

}  // namespace

std::vector<ThreadTimeline> thread_timelines(const RankTrace& rank, Interval window) {
  std::vector<ThreadTimeline> threads = communicating_threads(rank);
  if (threads.size() < 2) {
    return {};
  }
  add_communication(rank, window, threads);
  std::erase_if(threads,
                [](const ThreadTimeline& thread) { return thread.communication.intervals().empty(); });
  if (threads.size() < 2) {
    return {};
  }
  name_threads(rank, threads);
  KernelsOfThreads kernels(rank, window, threads);
  for (ThreadTimeline& thread : threads) {
    thread.kernels = kernels.on(thread.gpus);
    subtract(thread.host, *thread.kernels, thread.exposed);
  }
  return threads;
}

}  // namespace penstock::analysis
