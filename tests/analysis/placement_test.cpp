// Where ranks ran, and what a launcher did wrong, as ranks noted it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/pipeline/analyse.hpp"
#include "analysis/report/conclusions/misplaced.hpp"
#include "analysis/report/json/report_json.hpp"
#include "analysis/report/text/report_text.hpp"
#include "tests/analysis/recording_builder.hpp"
#include "tests/analysis/report_on.hpp"

namespace penstock::analysis {
namespace {

using testing::RecordingBuilder;
using testing::report_on;
using Texts = std::vector<std::string>;

struct Placed {
  std::string_view host;
  std::string_view cores;
  std::vector<std::string_view> gpus;
  std::string_view visible_gpus = "";
};

Report report_of(const std::vector<Placed>& ranks) {
  std::vector<RecordingBuilder> builders;
  for (const Placed& each : ranks) {
    RecordingBuilder& builder = builders.emplace_back(static_cast<std::int32_t>(builders.size()),
                                                      static_cast<std::int32_t>(ranks.size()));
    builder.header().host_name[each.host.copy(builder.header().host_name, 255)] = '\0';
    if (!each.cores.empty()) builder.fact("cores", each.cores);
    for (const std::string_view gpu : each.gpus) builder.fact("gpu", gpu);
    if (!each.visible_gpus.empty()) builder.fact("visible_gpus", each.visible_gpus);
  }
  return report_on(builders, {});
}

Texts mistakes_of(const std::vector<Placed>& ranks) {
  return misplaced_texts(report_of(ranks));
}

TEST(Placement, tells_whether_ranks_share_GPUs) {
  EXPECT_TRUE(ranks_share_gpus(report_of({{"node01", "", {"aa"}, "1"}, {"node01", "", {"bb", "aa"}, "2"}})));
  EXPECT_FALSE(ranks_share_gpus(report_of({{"node01", "", {"aa"}, "1"}, {"node02", "", {"aa"}, "1"}})));
  EXPECT_FALSE(ranks_share_gpus(report_of({{"node01", "", {}}, {"node01", "", {}}})));
}

TEST(Placement, is_in_text_and_JSON) {
  const Report report =
      report_of({{"node01", "0-3", {"0000:01:00.0 aa"}, "2"}, {"node01", "4-7", {"0000:02:00.0 bb"}, "2"}});
  EXPECT_EQ(misplaced_texts(report), Texts{});
  TextOptions all;
  all.all = true;
  EXPECT_NE(to_text(report, all).find("rank 1  node01  0000:02:00.0   2  4-7"), std::string::npos)
      << to_text(report, all);
  const auto json = nlohmann::json::parse(to_json(report)).at("placement");
  EXPECT_EQ(json.at("mistakes").size(), 0u);
  const nlohmann::json rank{
      {"rank", 1}, {"host", "node01"}, {"gpus", {"0000:02:00.0 bb"}}, {"visible_gpus", 2}, {"cores", "4-7"}};
  EXPECT_EQ(json.at("ranks").at(1), rank);
}

TEST(Placement, is_wrong_where_ranks_share_a_GPU_though_they_see_more) {
  const std::vector<Placed> ranks{{"node01", "0-3", {"0000:01:00.0 aa"}, "2"},
                                  {"node01", "4-7", {"0000:01:00.0 aa"}, "2"}};
  EXPECT_EQ(mistakes_of(ranks), Texts{"2 ranks of node01 use 1 GPU (0000:01:00.0), though each sees 2."});
  EXPECT_NE(to_text(report_of(ranks), {}).find("! 2 ranks of node01 use 1 GPU"), std::string::npos);
  EXPECT_EQ(mistakes_of({{"a", "", {"0000:01:00.0 aa"}, "4"},
                         {"a", "", {"0000:01:00.0 aa"}, "4"},
                         {"a", "", {"0000:02:00.0 bb"}, "4"},
                         {"b", "", {"0000:01:00.0 cc"}, "4"},
                         {"b", "", {"0000:01:00.0 cc"}, "4"}}),
            Texts{"3 ranks of a use 2 GPUs, though each sees 4; so it is on 1 host more."});
}

TEST(Placement, is_right_where_there_are_no_more_GPUs_or_one_is_shown) {
  EXPECT_EQ(mistakes_of({{"a", "", {"0000:01:00.0 aa"}, "2"},
                         {"a", "", {"0000:02:00.0 bb"}, "2"},
                         {"a", "", {"0000:01:00.0 aa"}, "2"}}),
            Texts{});
  EXPECT_EQ(mistakes_of({{"a", "", {"0000:01:00.0 aa"}, "1"}, {"a", "", {"0000:01:00.0 aa"}, "1"}}), Texts{});
  // the same addresses on two hosts, or parts of one GPU
  EXPECT_EQ(mistakes_of({{"a", "", {"0000:01:00.0 aa"}, "4"}, {"b", "", {"0000:01:00.0 bb"}, "4"}}), Texts{});
  EXPECT_EQ(mistakes_of({{"a", "", {"0000:01:00.0 aa"}, "4"}, {"a", "", {"0000:01:00.0 bb"}, "4"}}), Texts{});
}

TEST(Placement, is_wrong_where_ranks_are_more_than_their_cores) {
  EXPECT_EQ(mistakes_of({{"a", "3", {}}, {"a", "3", {}}, {"a", "4", {}}}),
            Texts{"2 ranks of a have 1 core (3): a rank that waits holds up another that computes."});
  EXPECT_EQ(mistakes_of({{"a", "0-1", {}}, {"a", "0-1", {}}, {"a", "1", {}}}),
            Texts{"3 ranks of a have 2 cores: a rank that waits holds up another that computes."});
  EXPECT_EQ(mistakes_of({{"a", "0-1", {}}, {"a", "2,4", {}}, {"a", "1-2", {}}}), Texts{});
  EXPECT_EQ(mistakes_of({{"a", "0", {}}, {"b", "0", {}}}), Texts{});
}

TEST(Placement, of_damaged_facts_says_nothing) {
  for (const std::string_view cores : {"three", "0-", "-3", "0,", "0;1", "99999999", "3-1", "0-4294967295"}) {
    EXPECT_EQ(mistakes_of({{"a", cores, {}}, {"a", cores, {}}}), Texts{}) << cores;
  }
  EXPECT_EQ(mistakes_of({{"a", "", {"x"}, "many"}, {"a", "", {"x"}, "many"}}), Texts{});
}

TEST(Placement, of_older_recordings_is_left_out) {
  const Report report = report_of({{"a", "", {}}, {"a", "", {}}});
  EXPECT_TRUE(report.placement.empty());
  TextOptions all;
  all.all = true;
  EXPECT_EQ(to_text(report, all).find("Placed"), std::string::npos);
}

}  // namespace
}  // namespace penstock::analysis
