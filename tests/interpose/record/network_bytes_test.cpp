// The bytes of network interfaces, from a folder like /sys.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "child_process.hpp"
#include "interpose/record/recorder.hpp"
#include "interpose/record/run/network_bytes.hpp"
#include "recording_reader.hpp"

namespace penstock {
namespace {

using record::bytes_since;
using record::InterfaceBytes;
using record::read_network_bytes;
using test::TemporaryFolder;

void write_file(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text << "\n";
}

void add_interface(const std::filesystem::path& sys, const std::string& name, const char* received,
                   const char* sent, bool has_device) {
  const std::filesystem::path folder = sys / "class/net" / name;
  write_file(folder / "statistics/rx_bytes", received);
  write_file(folder / "statistics/tx_bytes", sent);
  if (has_device) std::filesystem::create_directories(folder / "device");
}

std::vector<std::string> facts_of(const std::vector<InterfaceBytes>& all) {
  std::vector<std::string> facts;
  for (const InterfaceBytes& each : all) facts.push_back(record::fact_of(each));
  return facts;
}

using Facts = std::vector<std::string>;

TEST(NetworkBytes, are_those_of_devices_and_of_InfiniBand_in_words_of_four_bytes) {
  const TemporaryFolder sys;
  add_interface(sys.path(), "lo", "9", "9", false);
  add_interface(sys.path(), "eth1", "1000", "20", true);
  add_interface(sys.path(), "docker0", "5", "5", false);
  const auto port = sys.path() / "class/infiniband/mlx5_0/ports/1/counters";
  write_file(port / "port_rcv_data", "100");
  write_file(port / "port_xmit_data", "7");
  EXPECT_EQ(facts_of(read_network_bytes(sys.path())),
            (Facts{"ethernet eth1 1000 20", "infiniband mlx5_0:1 400 28"}));
}

TEST(NetworkBytes, in_a_container_are_of_what_is_no_loopback) {
  const TemporaryFolder sys;
  add_interface(sys.path(), "lo", "9", "9", false);
  add_interface(sys.path(), "eth0", "3", "4", false);
  EXPECT_EQ(facts_of(read_network_bytes(sys.path())), Facts{"ethernet eth0 3 4"});
}

TEST(NetworkBytes, that_cannot_be_read_are_left_out) {
  const TemporaryFolder sys;
  EXPECT_EQ(facts_of(read_network_bytes(sys.path() / "nowhere")), Facts{});
  add_interface(sys.path(), "eth0", "many", "4", true);
  EXPECT_EQ(facts_of(read_network_bytes(sys.path())), Facts{});
}

TEST(NetworkBytes, of_a_job_are_those_since_its_begin) {
  const std::vector<InterfaceBytes> before{{"ethernet", "eth0", 10, 20}, {"ethernet", "eth1", 10, 20}};
  const std::vector<InterfaceBytes> now{
      {"ethernet", "eth0", 15, 21}, {"ethernet", "eth1", 1, 1}, {"ethernet", "eth2", 5, 5}};
  EXPECT_EQ(facts_of(bytes_since(before, now)), Facts{"ethernet eth0 5 1"});
}

TEST(NetworkBytes, are_in_a_recording_that_ended) {
  const TemporaryFolder folder;
  const auto result = test::in_child([&] {
    ASSERT_TRUE(record::begin(folder.identity()));
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const test::ReadRecording recording(folder.recording());
  std::size_t interfaces = 0;
  for (const auto& each : recording.all<trace::Fact>(trace::RecordKind::fact))
    interfaces += recording.text(each.name) == "network" ? 1 : 0;
  EXPECT_EQ(interfaces, read_network_bytes().size());
}

}  // namespace
}  // namespace penstock
