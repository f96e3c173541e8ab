#include "analysis/comparison/report_html.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "analysis/recording/flaw.hpp"
#include "analysis/report/json/report_json.hpp"

namespace penstock::analysis {
namespace {

constexpr std::string_view page =
    "<html><script><!--penstock-report--></script><i><!--penstock-timeline--></i>"
    "<u><!--penstock-second-timeline--></u><b><!--penstock-diff--></b>"
    "<s><!--penstock-trend--></s></html>";

Report report_of(std::int32_t ranks) {
  Report report;
  report.program = "./solver";
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    RankFigures figures;
    figures.rank = rank;
    figures.is_counted = true;
    figures.counted_ns = static_cast<std::uint64_t>(rank % 10);
    report.ranks.push_back(figures);
  }
  return report;
}

/// What stands between the script's marks.
std::string contents_of(const std::string& html) {
  const std::size_t begin = html.find("<script>") + 8;
  return html.substr(begin, html.find("</script>") - begin);
}

TEST(ReportHtml, puts_the_report_into_its_place_and_leaves_the_page_as_it_is) {
  const std::string html = to_html(report_of(2), "", page);
  EXPECT_TRUE(html.starts_with("<html><script>{"));
  EXPECT_TRUE(html.ends_with("}</script><i></i><u></u><b></b><s></s></html>"));
  EXPECT_EQ(nlohmann::json::parse(contents_of(html)), nlohmann::json::parse(to_json(report_of(2))));
}

TEST(ReportHtml, no_name_can_end_the_script_or_begin_a_comment) {
  Report report = report_of(1);
  report.program = "</script><script>alert(1)</script><!--";
  const std::string json = contents_of(to_html(report, "", page));
  EXPECT_EQ(json.find('<'), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(json).at("job").at("program"), report.program);
}

TEST(ReportHtml, puts_the_timeline_beside_it_and_no_name_in_it_can_end_its_element) {
  const std::string html = to_html(report_of(1), R"({"texts":["</script>"]})", page);
  EXPECT_NE(html.find(R"(<i>{"texts":["\u003c/script>"]}</i>)"), std::string::npos);
}

TEST(ReportHtml, stays_small_whatever_the_number_of_ranks_keeps_those_that_wait_most_and_says_so) {
  const Report report = report_of(2000);
  const std::string html = to_html(report, "", page, 200'000);
  EXPECT_LT(html.size(), 201'000u);
  const nlohmann::json json = nlohmann::json::parse(contents_of(html));
  const std::size_t kept = json.at("ranks").size();
  EXPECT_GT(kept, 100u);
  EXPECT_EQ(json.at("left_out").at("ranks"), 2000 - kept);
  std::int32_t before = -1;
  for (const nlohmann::json& rank : json.at("ranks")) {
    EXPECT_GT(rank.at("rank").get<std::int32_t>(), before) << "they are in order";
    before = rank.at("rank");
    EXPECT_EQ(before % 10, 9) << "a rank that waits less took the place of one that waits more";
  }
}

TEST(ReportHtml, has_no_more_rows_of_a_list_than_anybody_reads) {
  Report report = report_of(1);
  report.phases.resize(6000);
  const nlohmann::json json = nlohmann::json::parse(contents_of(to_html(report, "", page)));
  EXPECT_EQ(json.at("phases").size(), 5000u);
  EXPECT_EQ(json.at("left_out"), (nlohmann::json{{"phases", 1000}}));
}

TEST(DiffHtml, puts_the_comparison_into_its_place_with_the_rows_that_fit) {
  Diff diff;
  diff.before.program = "./solver </script>";
  diff.call_sites.resize(6000);
  const std::string html = to_html(diff, {}, page);
  EXPECT_TRUE(html.starts_with("<html><script></script><i></i><u></u><b>{"));
  const std::size_t begin = html.find("<b>") + 3;
  const std::string text = html.substr(begin, html.find("</b>") - begin);
  EXPECT_EQ(text.find('<'), std::string::npos);
  const nlohmann::json json = nlohmann::json::parse(text);
  EXPECT_EQ(json.at("before").at("program"), diff.before.program);
  EXPECT_EQ(json.at("call_sites").size(), 5000u);
  EXPECT_EQ(json.at("call_sites_left_out"), 1000);
}

TEST(DiffHtml, puts_both_timelines_beside_it_and_no_name_in_them_can_end_their_elements) {
  const std::string html = to_html(Diff{}, {R"({"texts":["</script>"]})", R"({"texts":["after"]})"}, page);
  EXPECT_NE(html.find(R"(<i>{"texts":["\u003c/script>"]}</i><u>{"texts":["after"]}</u>)"), std::string::npos);
}

TEST(TrendHtml, puts_the_history_into_its_place_with_the_newest_runs_that_fit) {
  Trend trend;
  trend.runs.resize(300);
  trend.runs.back().state.program = "./solver </script>";
  trend.runs.back().recording = "the newest";
  const std::string html = to_html(trend, {{"runs/x", "runs/x: <cut>"}}, page, 50'000);
  EXPECT_TRUE(html.starts_with("<html><script></script><i></i><u></u><b></b><s>{"));
  EXPECT_LT(html.size(), 51'000u);
  const std::size_t begin = html.find("<s>") + 3;
  const std::string text = html.substr(begin, html.find("</s>") - begin);
  EXPECT_EQ(text.find('<'), std::string::npos);
  const nlohmann::json json = nlohmann::json::parse(text);
  const std::size_t shown = json.at("runs").size();
  EXPECT_GT(shown, 10u);
  EXPECT_LT(shown, 300u);
  EXPECT_EQ(json.at("runs_left_out"), 300 - shown);
  EXPECT_EQ(json.at("runs").back().at("recording"), "the newest");
  EXPECT_EQ(json.at("remarks").back(), "left out: runs/x: <cut>");
}

TEST(ReportHtml, a_page_without_a_place_for_the_report_is_an_error) {
  EXPECT_THROW((void)to_html(report_of(1), "", "<html></html>"), TraceError);
  EXPECT_THROW((void)to_html(report_of(1), "", ""), TraceError);
}

}  // namespace
}  // namespace penstock::analysis
