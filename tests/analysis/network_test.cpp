// What the networks of a job's hosts carried, as ranks noted it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/pipeline/analyse.hpp"
#include "analysis/report/json/report_json.hpp"
#include "analysis/report/text/report_text.hpp"
#include "tests/analysis/recording_builder.hpp"
#include "tests/analysis/report_on.hpp"

namespace penstock::analysis {
namespace {

using testing::RecordingBuilder;
using testing::report_on;

RecordingBuilder rank_on(std::string_view host, std::int32_t rank,
                         const std::vector<std::string_view>& networks) {
  RecordingBuilder builder(rank, 3);
  builder.header().host_name[host.copy(builder.header().host_name, 255)] = '\0';
  for (const std::string_view each : networks) builder.fact("network", each);
  return builder;
}

using Texts = std::vector<std::string>;

TEST(NetworkFigures, are_those_of_each_host_once_by_kind) {
  const Report report =
      report_on({rank_on("node01", 0, {"ethernet eth0 1024 2048", "infiniband mlx5_0:1 1048576 0"}),
                 rank_on("node01", 1, {"ethernet eth0 1025 2049"}),
                 rank_on("node02", 2, {"ethernet eth0 1024 0", "ethernet eth1 1024 0"})},
                {});
  EXPECT_EQ(
      network_texts(report),
      (Texts{
          "Ethernet of 2 hosts, from MPI_Init to MPI_Finalize and with all other programs: 3 KiB received, 2 "
          "KiB sent.",
          "InfiniBand of 1 host, from MPI_Init to MPI_Finalize and with all other programs: 1 MiB received, "
          "0 "
          "B sent."}));
  EXPECT_NE(to_text(report, {}).find("InfiniBand of 1 host, from MPI_Init"), std::string::npos);
  const auto json = nlohmann::json::parse(to_json(report))["network"];
  EXPECT_EQ(json[0]["received_bytes"], 3072);
  EXPECT_EQ(json[1]["kind"], "infiniband");
}

TEST(NetworkFigures, of_one_host_are_in_the_JSON_alone) {
  const Report report = report_on({rank_on("node01", 0, {"ethernet eth0 1 2"})}, {});
  EXPECT_EQ(network_texts(report), Texts{});
  EXPECT_EQ(report.network.size(), 1u);
}

TEST(NetworkFigures, that_make_no_sense_are_left_out) {
  const Report report =
      report_on({rank_on("node01", 0, {"carrier pigeon 1 2", "ethernet eth0 many 2", "", "ethernet"})}, {});
  EXPECT_TRUE(report.network.empty());
}

}  // namespace
}  // namespace penstock::analysis
