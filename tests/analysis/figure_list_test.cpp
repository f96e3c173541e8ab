// How figures of some ranks are merged, sent and finished, with figures made for it.
#include "analysis/pipeline/figure_list.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "analysis/sharing/archive.hpp"
#include "analysis/tables/sum_table.hpp"

namespace penstock::analysis {
namespace {

struct Sums {
  std::uint64_t count = 0;
  TimeByCause by_cause{};
  std::vector<float> speeds;
  auto members() { return std::tie(count, by_cause, speeds); }
};

struct HashSite {
  std::uint64_t operator()(const SiteKey& key) const noexcept { return mixed(0, key.site); }
};

constexpr std::uint32_t sites[] = {7, 5};  // the part's site 0 is 7 in the whole

TEST(Merging, adds_whole_numbers_and_appends_lists) {
  Sums all{1, {10, 20}, {1.5f}};
  merge_into(all, Sums{2, {1, 2}, {2.5f, 3.5f}}, {{}, sites});
  EXPECT_EQ(all.count, 3u);
  EXPECT_EQ(all.by_cause[0], 11u);
  EXPECT_EQ(all.by_cause[1], 22u);
  EXPECT_EQ(all.speeds, (std::vector<float>{1.5f, 2.5f, 3.5f}));
}

TEST(Merging, gives_the_keys_of_a_part_the_numbers_of_the_whole) {
  SumsBySite<std::uint64_t> all;
  SumTable<SiteKey, HashSite> all_in_table;
  all[{5}] = 100;
  all_in_table[{5}] = 100;
  SumsBySite<std::uint64_t> part;
  SumTable<SiteKey, HashSite> part_in_table;
  for (const std::uint32_t site : {0u, 1u}) {
    part[{site}] = site + 1;
    part_in_table[{site}] = site + 1;
  }
  merge_into(all, std::move(part), {{}, sites});
  merge_into(all_in_table, std::move(part_in_table), {{}, sites});
  EXPECT_EQ(all[{7}], 1u);
  EXPECT_EQ(all[{5}], 102u);
  EXPECT_EQ(all_in_table[{7}], 1u);
  EXPECT_EQ(all_in_table[{5}], 102u);
  EXPECT_EQ(all_in_table.entries().size(), 2u);
}

/// Counts ranks and notes that it was finished.
struct CountsRanks {
  std::uint64_t ranks = 0;
  void add(const RankInput&) { ++ranks; }
  auto members() { return std::tie(ranks); }
  void finish(Report& report, SiteNames&) { report.world_size = static_cast<std::int32_t>(ranks); }
};
/// Counts calls, and is finished behind the other one.
struct CountsCalls {
  explicit CountsCalls(const FigureContext& context) : is_whole(context.use == FigureContext::Use::whole) {}
  bool is_whole;
  std::uint64_t calls = 0;
  void add(const CallInput&) { ++calls; }
  auto members() { return std::tie(calls); }
  void finish(Report& report, SiteNames&) {
    report.program = std::to_string(report.world_size) + " and " + std::to_string(calls);
  }
};
using TwoFigures = FigureList<CountsRanks, CountsCalls>;

class FiguresOfAList : public ::testing::Test {
 protected:
  FiguresOfAList() {
    index_.join();
    axis_.emplace(index_);
  }
  TwoFigures of(FigureContext::Use use) {
    return TwoFigures({index_, *axis_, strings_, sites_, mark_, {}, use});
  }
  /// Feeds so many ranks without calls, and calls of a rank.
  void feed(TwoFigures& figures, int ranks, int calls) {
    RankWindow window;
    NameIds names(window.rank.strings, strings_);
    const HostAxis axis;
    const IntervalSet nothing;
    const RankInput rank{window.rank, window, names, axis, true, nothing, nothing, {}, {}};
    const trace::MpiCall call{};
    for (; calls > 0; --calls) {
      figures.add(CallInput{rank, 0, call, 0, {}});
    }
    for (; ranks > 0; --ranks) {
      figures.add(rank);
    }
  }

  MessageIndex index_;
  std::optional<JobAxis> axis_;
  StringPool strings_;
  SiteTable sites_{strings_};
  std::optional<StepMark> mark_;
};

TEST_F(FiguresOfAList, are_fed_what_they_take_merged_and_finished_in_order) {
  TwoFigures whole = of(FigureContext::Use::whole);
  TwoFigures part = of(FigureContext::Use::part);
  EXPECT_TRUE(whole.get<CountsCalls>().is_whole);
  EXPECT_FALSE(part.get<CountsCalls>().is_whole);
  feed(whole, 1, 10);
  feed(part, 2, 20);
  merge_into(whole, std::move(part), {});
  Report report;
  SiteNames names(strings_, sites_);
  whole.finish(report, names);
  EXPECT_EQ(report.world_size, 3);
  EXPECT_EQ(report.program, "3 and 30");
}

TEST_F(FiguresOfAList, are_sent_to_another_process_by_their_members) {
  TwoFigures ours = of(FigureContext::Use::part);
  feed(ours, 3, 4);
  Writer writer;
  writer(ours);
  const std::vector<std::byte> bytes = writer.take();
  TwoFigures theirs = of(FigureContext::Use::part);
  Reader reader(bytes);
  reader(theirs);
  EXPECT_TRUE(reader.is_at_end());
  EXPECT_EQ(theirs.get<CountsRanks>().ranks, 3u);
  EXPECT_EQ(theirs.get<CountsCalls>().calls, 4u);
}

}  // namespace
}  // namespace penstock::analysis
