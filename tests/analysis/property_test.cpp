// Properties of every report, on random jobs: the sets of time are what counting nanosecond by nanosecond
// gives, the causes and all breakdowns sum to the exposed time, and nothing depends on the order of records.
#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "analysis/pipeline/analyse.hpp"
#include "analysis/report/json/report_json.hpp"
#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis {
namespace {

using testing::RecordingBuilder;
using testing::TemporaryDirectory;
using trace::Direction;

constexpr std::size_t run_ns = 3000;
using Nanoseconds = std::bitset<run_ns>;

/// DESIGN's sets, one bit a nanosecond.
struct Truth {
  Nanoseconds kernels;    ///< K
  Nanoseconds host;       ///< H
  Nanoseconds in_flight;  ///< R
  Nanoseconds nccl;
  Nanoseconds copies;
  Nanoseconds launched;  ///< and not begun
  Nanoseconds synchronised;

  struct OfThread {
    Nanoseconds host;
    Nanoseconds in_flight;
    std::set<std::uint8_t> gpus;
  };
  std::map<std::uint64_t, OfThread> threads;  ///< by lane
  std::map<std::uint8_t, Nanoseconds> kernels_of_gpu;
  Nanoseconds kernels_of_nobody;

  /// K of a thread.
  [[nodiscard]] Nanoseconds kernels_of(const OfThread& thread) const {
    Nanoseconds all = kernels_of_nobody;
    for (const auto& [gpu, on_gpu] : kernels_of_gpu) {
      if (thread.gpus.empty() || thread.gpus.contains(gpu)) {
        all |= on_gpu;
      }
    }
    return all;
  }
};

void mark(Nanoseconds& set, std::uint64_t begin, std::uint64_t end) {
  for (std::uint64_t time = begin; time < std::min<std::uint64_t>(end, run_ns); ++time) {
    set.set(time);
  }
}

struct RandomJob {
  std::vector<RecordingBuilder> ranks;
  std::vector<Truth> truths;
};

class Generator {
 public:
  explicit Generator(std::uint32_t seed) : random_(seed) {}

  RandomJob make() {
    const auto count = static_cast<std::int32_t>(upto(3) + 1);
    RandomJob job;
    for (std::int32_t rank = 0; rank < count; ++rank) {
      job.ranks.emplace_back(rank, count);
      job.truths.emplace_back();
      job.ranks.back().runs(0, run_ns);
      kernels(job.ranks.back(), job.truths.back());
      copies(job.ranks.back(), job.truths.back());
      for (std::uint64_t lane = 0; lane < 1 + upto(2); ++lane) {
        job.ranks.back().on_lane(lane);
        Truth of_thread;
        calls(job.ranks.back(), of_thread, rank, count);
        job.truths.back().host |= of_thread.host;
        job.truths.back().in_flight |= of_thread.in_flight;
        Truth::OfThread& thread = job.truths.back().threads[lane];
        thread.host = of_thread.host;
        thread.in_flight = of_thread.in_flight;
      }
      ranges(job.ranks.back());
    }
    return job;
  }

 private:
  std::uint64_t upto(std::uint64_t limit) { return random_() % limit; }

  /// On several streams, so that they overlap; some are Penstock's own or NCCL's and are no computing.
  void kernels(RecordingBuilder& rank, Truth& truth) {
    for (std::uint64_t i = upto(25); i > 0; --i) {
      const std::uint64_t begin = upto(run_ns);
      const std::uint64_t end = begin + upto(400);  // some go on behind the end of the run
      const std::uint64_t lane = upto(5);  // of a thread that may not communicate; the last: nobody's
      const auto gpu = static_cast<std::uint8_t>(upto(3));
      rank.launches(lane == 4 ? 0 : RecordingBuilder::thread_of_lane(lane), gpu);
      switch (upto(6)) {
        case 0:
          rank.kernel(begin, end, "pull", true);
          break;
        case 1:
          rank.kernel(begin, end, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
          mark(truth.nccl, begin, end);
          break;
        default:
          launch(rank, truth, begin, end, upto(2) == 0 ? "_Z4bulkv" : "_Z4edgev");
          mark(truth.kernels, begin, end);
          mark(truth.kernels_of_gpu[gpu], begin, end);
          if (lane == 4) {
            mark(truth.kernels_of_nobody, begin, end);
          } else if (begin < end) {
            truth.threads[lane].gpus.insert(gpu);
          }
      }
    }
  }

  /// Nobody knows when some were launched.
  void launch(RecordingBuilder& rank, Truth& truth, std::uint64_t begin, std::uint64_t end,
              const char* name) {
    if (upto(2) == 0) {
      rank.kernel(begin, end, name);
      return;
    }
    const std::uint64_t issued = begin - std::min(begin, upto(200));
    rank.launched_kernel(issued, begin, end, name);
    mark(truth.launched, issued, begin);
  }

  /// Some are of a size that messages have, too.
  void copies(RecordingBuilder& rank, Truth& truth) {
    for (std::uint64_t i = upto(15); i > 0; --i) {
      const std::uint64_t begin = upto(run_ns);
      const std::uint64_t end = begin + upto(100);
      rank.copy(begin, end, upto(2) == 0 ? 64 : 5000, static_cast<std::uint8_t>(1 + upto(2)));
      mark(truth.copies, begin, end);
    }
    for (std::uint64_t i = upto(10); i > 0; --i) {
      const std::uint64_t begin = upto(run_ns);
      const std::uint64_t end = begin + upto(200);
      rank.cuda_synchronisation(begin, end);
      mark(truth.synchronised, begin, end);
    }
  }

  /// One after the other on a thread, each at one of a few places.
  void calls(RecordingBuilder& rank, Truth& truth, std::int32_t own, std::int32_t count) {
    for (std::uint64_t time = upto(100); time < run_ns - 300;) {
      const std::uint64_t begin = time;
      const std::uint64_t end = begin + upto(150);
      const std::int32_t peer = static_cast<std::int32_t>(upto(static_cast<std::uint64_t>(count)));
      switch (upto(7)) {
        case 0:
          rank.call(
              {.function = "MPI_Comm_rank", .begin = begin, .end = end, .waits = 0});  // no communication
          break;
        case 1:
          rank.call({.function = "MPI_Allreduce",
                     .begin = begin,
                     .end = end,
                     .bytes = 64,
                     .call_site = 0x10,
                     .collective_ordinal = ++collectives_[own]});
          mark(truth.host, begin, end);
          break;
        case 2: {
          const std::uint64_t key = next_key(received_, peer);
          rank.call({.function = "MPI_Recv",
                     .begin = begin,
                     .end = end,
                     .bytes = 64,
                     .call_site = 0x20,
                     .peer = peer})
              .half({.direction = Direction::receive,
                     .peer = peer,
                     .post = begin,
                     .complete = end,
                     .bytes = 64,
                     .key = key});
          if (upto(2) == 0 && end > begin) {
            rank.transfer({.begin = begin + upto(end - begin),
                           .end = end,
                           .bytes = 64,
                           .key = key,
                           .wait = static_cast<std::uint32_t>(upto(200)),
                           .pack = static_cast<std::uint32_t>(upto(200))});
          }
          mark(truth.host, begin, end);
          break;
        }
        case 3: {
          const std::uint64_t posted = upto(begin + 1);
          const bool is_send = upto(2) == 0;
          rank.call({.function = "MPI_Waitall", .begin = begin, .end = end, .call_site = 0x30})
              .half({.direction = is_send ? Direction::send : Direction::receive,
                     .peer = peer,
                     .post = posted,
                     .complete = end,
                     .bytes = 4096,
                     .key = upto(2) == 0 ? 0 : next_key(is_send ? sent_ : received_, is_send ? own : peer),
                     .blocking = false,
                     .tag = static_cast<std::int32_t>(begin)});
          mark(truth.host, begin, end);
          mark(truth.in_flight, posted, end);
          break;
        }
        case 4: {
          const std::uint64_t posted = upto(begin + 1);
          const std::uint32_t ordinal = ++collectives_[own];
          rank.call({.function = "MPI_Wait", .begin = begin, .end = end, .call_site = 0x60})
              .operation({.function = "MPI_Iallreduce",
                          .post = posted,
                          .complete = end,
                          .collective_ordinal = ordinal,
                          .call_site = 0x70});
          mark(truth.host, begin, end);
          mark(truth.in_flight, posted, end);
          break;
        }
        case 5:
          rank.call({.function = "MPI_Send",
                     .begin = begin,
                     .end = end,
                     .bytes = 64,
                     .call_site = 0x40,
                     .peer = peer})
              .half({.direction = Direction::send,
                     .peer = peer,
                     .post = begin,
                     .complete = end,
                     .bytes = 64,
                     .key = next_key(sent_, own)});
          mark(truth.host, begin, end);
          break;
        default:
          rank.call({.function = "MPI_Win_fence", .begin = begin, .end = end, .call_site = 0x50});
          mark(truth.host, begin, end);
      }
      time = end + 1 + upto(120);
    }
  }

  void ranges(RecordingBuilder& rank) {
    for (std::uint64_t step = 0; step < 5; ++step) {
      rank.range("step", 100 + step * 500, 600 + step * 500);
      if (upto(2) == 0) {
        rank.range("inner", 150 + step * 500, 150 + step * 500 + upto(400));
      }
    }
  }

  /// Of the next message of `sender`, as its own side or the other counts them.
  static std::uint64_t next_key(std::map<std::int32_t, std::uint64_t>& counter, std::int32_t sender) {
    return (static_cast<std::uint64_t>(sender) + 1) << 40 | ++counter[sender];
  }

  std::mt19937 random_;
  std::map<std::int32_t, std::uint64_t> sent_;
  std::map<std::int32_t, std::uint64_t> received_;
  std::map<std::int32_t, std::uint32_t> collectives_;
};

Report report_on(const RandomJob& job, const AnalysisOptions& options = {}) {
  const TemporaryDirectory directory;
  for (const RecordingBuilder& each : job.ranks) {
    each.write(directory.path());
  }
  Report report = analyse(directory.path(), options);
  report.flaws.clear();  // they name the directory
  return report;
}

std::uint64_t sum_of(const TimeByCause& times) {
  return std::accumulate(times.begin(), times.end(), std::uint64_t{0});
}

template <typename Rows>
std::uint64_t counted_sum(const Rows& rows) {
  std::uint64_t sum_ns = 0;
  for (const auto& row : rows) {
    EXPECT_EQ(sum_of(row.by_cause), row.counted_ns);
    sum_ns += row.counted_ns;
  }
  return sum_ns;
}

/// The first lines that differ, with those before them: whole reports would fill the screen.
std::string first_difference(const std::string& left, const std::string& right) {
  const auto [one, other] = std::mismatch(left.begin(), left.end(), right.begin(), right.end());
  if (one == left.end() && other == right.end()) {
    return "";
  }
  const auto around = [](const std::string& text, std::size_t at) {
    const std::size_t begin = at < 300 ? 0 : at - 300;
    return text.substr(begin, 400);
  };
  const auto at = static_cast<std::size_t>(one - left.begin());
  return around(left, at) + "\n--- against ---\n" + around(right, at);
}

class Property : public ::testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, Property, ::testing::Range(0u, 150u));

TEST_P(Property, sets_of_time_are_what_counting_each_nanosecond_gives) {
  const RandomJob job = Generator(GetParam()).make();
  const Report report = report_on(job, {.whole_run = true});
  ASSERT_EQ(report.ranks.size(), job.ranks.size());
  for (std::size_t i = 0; i < job.ranks.size(); ++i) {
    const RankFigures& rank = report.ranks[i];
    const Truth& truth = job.truths[i];
    const Nanoseconds communication = truth.host | truth.in_flight;
    EXPECT_EQ(rank.kernels_ns, truth.kernels.count());
    EXPECT_EQ(rank.host_ns, truth.host.count());
    EXPECT_EQ(rank.in_flight_ns, truth.in_flight.count());
    EXPECT_EQ(rank.communication_ns, communication.count());
    if (rank.kernels_known) {
      EXPECT_EQ(rank.exposed_ns, (truth.host & ~truth.kernels).count());
      EXPECT_EQ(rank.upper_bound_ns, (communication & ~truth.kernels).count());
      EXPECT_EQ(rank.hidden_ns, (communication & truth.kernels).count());
    }
  }
}

TEST_P(Property, threads_have_the_calls_that_are_theirs_and_the_kernels_of_their_gpus) {
  const RandomJob job = Generator(GetParam()).make();
  const Report report = report_on(job, {.whole_run = true});
  for (std::size_t i = 0; i < job.ranks.size(); ++i) {
    const Truth& truth = job.truths[i];
    std::vector<Truth::OfThread> communicating;
    for (const auto& [lane, thread] : truth.threads) {
      if ((thread.host | thread.in_flight).any()) {
        communicating.push_back(thread);
      }
    }
    std::vector<ThreadFigures> threads = report.ranks[i].threads;
    ASSERT_EQ(threads.size(), communicating.size() < 2 ? 0 : communicating.size());
    for (std::size_t j = 0; j < communicating.size() && !threads.empty(); ++j) {
      const Truth::OfThread& thread = communicating[j];
      const Nanoseconds kernels = truth.kernels_of(thread);
      const Nanoseconds communication = thread.host | thread.in_flight;
      const auto found = std::find_if(threads.begin(), threads.end(), [&](const ThreadFigures& each) {
        return each.host_ns == thread.host.count() && each.kernels_ns == kernels.count() &&
               each.in_flight_ns == thread.in_flight.count() &&
               each.communication_ns == communication.count() &&
               each.hidden_ns == (communication & kernels).count() &&
               each.exposed_ns == (thread.host & ~kernels).count() &&
               each.upper_bound_ns == (communication & ~kernels).count();
      });
      ASSERT_NE(found, threads.end());
      EXPECT_EQ(sum_of(found->by_cause), found->counted_ns);
      if (report.ranks[i].is_counted) {
        EXPECT_EQ(found->counted_ns,
                  report.measure == Measure::exposed_communication ? found->exposed_ns : found->host_ns);
      }
      threads.erase(found);
    }
  }
}

TEST_P(Property, parts_are_what_counting_each_nanosecond_gives_and_sum_to_all_of_it) {
  const RandomJob job = Generator(GetParam()).make();
  for (const bool whole_run : {true, false}) {
    const Report report = report_on(job, {.whole_run = whole_run});
    if (!report.parts) {
      EXPECT_EQ(report.measure, Measure::communication_time);
      continue;
    }
    TimeByPart of_ranks{};
    for (const RankFigures& rank : report.ranks) {
      if (!rank.is_counted) {
        continue;
      }
      const TimeByPart parts = rank.parts.value();
      EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), std::uint64_t{0}), rank.total_ns);
      EXPECT_EQ(exposed_in(parts) + time_of(parts, TimePart::mpi_files), rank.counted_ns);
      for (std::size_t i = 0; i < part_count; ++i) {
        of_ranks[i] += parts[i];
      }
      if (whole_run && report.measure == Measure::exposed_communication) {
        const Truth& truth = job.truths[static_cast<std::size_t>(rank.rank)];
        const Nanoseconds nccl = truth.nccl & ~truth.kernels & ~truth.host;
        const Nanoseconds copies = truth.copies & ~truth.kernels & ~truth.host & ~truth.nccl;
        EXPECT_EQ(time_of(parts, TimePart::kernels), truth.kernels.count());
        EXPECT_EQ(time_of(parts, TimePart::nccl), nccl.count());
        EXPECT_EQ(time_of(parts, TimePart::staging_by_hand) + time_of(parts, TimePart::other_copies),
                  copies.count());
        const Nanoseconds left = ~truth.kernels & ~truth.host & ~truth.nccl & ~truth.copies;
        EXPECT_EQ(time_of(parts, TimePart::kernel_launch), (truth.launched & left).count());
        EXPECT_EQ(time_of(parts, TimePart::cuda_synchronisation),
                  (truth.synchronised & ~truth.launched & left).count());
      }
    }
    EXPECT_EQ(of_ranks, *report.parts);
    for (const TimePart part : {TimePart::host_code, TimePart::other_copies, TimePart::kernel_launch,
                                TimePart::cuda_synchronisation}) {
      std::uint64_t of_places_ns = 0;
      for (const PlaceFigures& place : places_of(report, part)) {
        of_places_ns += place.time_ns;
      }
      EXPECT_EQ(of_places_ns, time_of(*report.parts, part)) << name_of(part);
    }
    if (report.steps) {
      TimeByPart of_steps{};
      for (const StepFigures& step : report.steps->each) {
        const TimeByPart of_step = step.parts.value();
        EXPECT_EQ(std::accumulate(of_step.begin(), of_step.end(), std::uint64_t{0}), step.total_ns);
        for (std::size_t i = 0; i < part_count; ++i) {
          of_steps[i] += of_step[i];
        }
      }
      EXPECT_EQ(of_steps, *report.parts);
    }
  }
}

TEST_P(Property, causes_and_breakdowns_sum_to_the_exposed_time) {
  const RandomJob job = Generator(GetParam()).make();
  for (const bool whole_run : {true, false}) {
    const Report report = report_on(job, {.whole_run = whole_run});
    std::uint64_t of_ranks_ns = 0;
    std::uint64_t kernels_ns = 0;
    std::uint64_t hidden_ns = 0;
    for (const RankFigures& rank : report.ranks) {
      EXPECT_EQ(sum_of(rank.by_cause), rank.counted_ns);
      if (rank.is_counted) {
        of_ranks_ns += rank.counted_ns;
        kernels_ns += rank.kernels_ns;
        hidden_ns += rank.hidden_ns;
      }
    }
    EXPECT_EQ(of_ranks_ns, report.counted_ns);
    EXPECT_EQ(sum_of(report.by_cause), report.counted_ns);
    EXPECT_EQ(counted_sum(report.call_sites), report.counted_ns);
    EXPECT_EQ(counted_sum(report.peers), report.counted_ns);
    EXPECT_EQ(counted_sum(report.communicators), report.counted_ns);
    EXPECT_EQ(counted_sum(report.functions), report.counted_ns);
    EXPECT_LE(counted_sum(report.transports), report.counted_ns);
    for (const LatecomerFigures& late : report.latecomers) {
      EXPECT_EQ(late.in_kernels_ns + late.in_mpi_ns + late.in_copies_ns + late.in_launches_ns +
                    late.in_host_code_ns,
                late.late_ns);
      EXPECT_LE(late.long_ns, late.late_ns);
    }
    std::uint64_t gaps_ns = 0;
    for (const GapFigures& gap : report.gaps) {
      gaps_ns += gap.counted_ns;
    }
    EXPECT_EQ(gaps_ns, report.by_cause[static_cast<std::size_t>(Cause::unattributed)]);
    std::uint64_t running_ns = 0;
    std::uint64_t hides_ns = 0;
    std::uint64_t after_ns = 0;
    for (const KernelFigures& kernel : report.kernels) {
      running_ns += kernel.running_ns;
      hides_ns += kernel.hides_ns;
      after_ns += kernel.exposed_after_ns;
    }
    EXPECT_EQ(running_ns, kernels_ns);
    EXPECT_EQ(hides_ns, hidden_ns);
    EXPECT_LE(after_ns, report.counted_ns);
    if (report.steps) {
      std::uint64_t steps_ns = 0;
      for (const StepFigures& step : report.steps->each) {
        steps_ns += sum_of(step.by_cause);
      }
      EXPECT_EQ(steps_ns, report.counted_ns);
    }
  }
}

TEST_P(Property, no_figure_depends_on_the_coding_of_blocks) {
  const RandomJob job = Generator(GetParam()).make();
  RandomJob coded = job;
  for (RecordingBuilder& each : coded.ranks) {
    each.coded(trace::BlockCoding::delta);
  }
  EXPECT_EQ(first_difference(to_json(report_on(job)), to_json(report_on(coded))), "");
}

TEST_P(Property, no_figure_depends_on_the_order_of_records) {
  const RandomJob job = Generator(GetParam()).make();
  RandomJob shuffled = job;
  for (RecordingBuilder& each : shuffled.ranks) {
    each.shuffle(GetParam() + 1000);
  }
  EXPECT_EQ(first_difference(to_json(report_on(job)), to_json(report_on(shuffled))), "");
}

}  // namespace
}  // namespace penstock::analysis
