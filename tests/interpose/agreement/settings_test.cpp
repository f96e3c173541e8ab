#include "interpose/node/settings.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "interpose/node/edit_distance.hpp"

namespace penstock::interpose {
namespace {

/// Sets a variable while it lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

TEST(Settings, read_numbers_with_units) {
  const Variable limit("PENSTOCK_TRACE_LIMIT", "2G");
  read_settings();
  EXPECT_EQ(settings().trace_limit_bytes, std::uint64_t{2} << 30);
}

TEST(Settings, read_how_many_frames_call_paths_have) {
  EXPECT_EQ(settings().call_path_frames, 12u) << "unless something else is said";
  for (const char* frames : {"0", "3", "12"}) {
    const Variable paths("PENSTOCK_CALL_PATHS", frames);
    read_settings();
    EXPECT_EQ(std::to_string(settings().call_path_frames), frames);
  }
  for (const char* value : {"13", "all", "", "-1", "3 "}) {
    const Variable paths("PENSTOCK_CALL_PATHS", value);
    testing::internal::CaptureStderr();
    read_settings();
    EXPECT_EQ(settings().call_path_frames, 12u) << value;
    EXPECT_NE(testing::internal::GetCapturedStderr().find("(0 to 12 frames)"), std::string::npos) << value;
  }
}

TEST(Settings, name_the_folder_of_the_recording_from_where_they_are_read) {
  const Variable output("PENSTOCK_OUTPUT", "some/folder");
  read_settings();
  EXPECT_EQ(settings().output, (std::filesystem::current_path() / "some/folder").string());
}

TEST(Settings, leave_the_table_of_figures_to_those_who_read_it) {
  const Variable tuning("PENSTOCK_TUNING", "/a/table,linger_us=0");
  read_settings();
  EXPECT_EQ(settings().tuning, "/a/table,linger_us=0");
}

TEST(Settings, read_switches_transports_and_orders) {
  const Variable record("PENSTOCK_RECORD", "1");
  const Variable transport("PENSTOCK_TRANSPORT", "staged");
  const Variable order("PENSTOCK_STREAM_ORDER", "none");
  const Variable everywhere("PENSTOCK_EVERYWHERE", "1");
  read_settings();
  EXPECT_TRUE(settings().everywhere);
  EXPECT_TRUE(settings().record);
  EXPECT_EQ(settings().transport, transports::TransportKind::staged);
  EXPECT_EQ(settings().stream_order, transports::StreamOrder::none);
}

TEST(Settings, what_cannot_be_read_is_said_and_leaves_the_value) {
  const std::uint64_t before = settings().trace_limit_bytes;
  for (const char* value : {"plenty", "99999999999999999999"}) {
    const Variable limit("PENSTOCK_TRACE_LIMIT", value);
    testing::internal::CaptureStderr();
    read_settings();
    const std::string ballot = testing::internal::GetCapturedStderr();
    EXPECT_EQ(settings().trace_limit_bytes, before);
    EXPECT_NE(ballot.find(std::string("PENSTOCK_TRACE_LIMIT=") + value), std::string::npos) << ballot;
  }
}

TEST(Settings, say_which_part_of_a_run_is_recorded) {
  const Variable window("PENSTOCK_WINDOW", "step:100:200");
  const Variable ranks("PENSTOCK_RANKS", "0,3-5,17");
  const Variable keep("PENSTOCK_TRACE_KEEP", "last");
  read_settings();
  EXPECT_EQ(settings().window.range, "step");
  EXPECT_EQ(settings().window.first, 100u);
  EXPECT_EQ(settings().window.last, 200u);
  EXPECT_TRUE(settings().keeps_last);
  for (const int rank : {0, 3, 4, 5, 17}) EXPECT_TRUE(settings().ranks.holds(rank)) << rank;
  for (const int rank : {1, 2, 6, 16, 18}) EXPECT_FALSE(settings().ranks.holds(rank)) << rank;
  EXPECT_EQ(settings().ranks.first(), 0);
}

TEST(Settings, a_list_of_ranks_that_cannot_be_read_is_said) {
  for (const char* value : {"", "a", "1,", "3-1", "-1", "1-", "1;2"}) {
    const Variable ranks("PENSTOCK_RANKS", value);
    testing::internal::CaptureStderr();
    read_settings();
    EXPECT_NE(testing::internal::GetCapturedStderr().find("PENSTOCK_RANKS="), std::string::npos) << value;
  }
}

TEST(Settings, an_unknown_transport_is_said_with_all_that_there_are) {
  const Variable transport("PENSTOCK_TRANSPORT", "striped");
  testing::internal::CaptureStderr();
  read_settings();
  const std::string notice = testing::internal::GetCapturedStderr();
  EXPECT_NE(notice.find("PENSTOCK_TRANSPORT=striped is not a valid value "
                        "(local, peer, relayed, pushed, staged or network)"),
            std::string::npos)
      << notice;
}

TEST(Settings, an_unknown_name_is_said_on_one_line_with_the_nearest_known_one) {
  constexpr const char* pairs[][2] = {{"PENSTOCK_RECROD", "PENSTOCK_RECORD"},
                                      {"PENSTOCK_STREAMORDER", "PENSTOCK_STREAM_ORDER"},
                                      {"PENSTOCK_TRACE_SIZE", "PENSTOCK_TRACE_LIMIT"},
                                      {"PENSTOCK_OUTPUTS", "PENSTOCK_OUTPUT"}};
  for (const auto& [typo, known] : pairs) {
    const Variable variable(typo, "1");
    testing::internal::CaptureStderr();
    read_settings();
    const std::string ballot = testing::internal::GetCapturedStderr();
    EXPECT_NE(ballot.find(std::string(typo) + " is not a setting"), std::string::npos) << ballot;
    EXPECT_NE(ballot.find(std::string("the nearest name is ") + known + "\n"), std::string::npos) << ballot;
  }
}

TEST(EditDistance, counts_letters_inserted_removed_replaced_and_swapped) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("move", "move"), 0u);
  EXPECT_EQ(edit_distance("", "move"), 4u);
  EXPECT_EQ(edit_distance("move", ""), 4u);
  EXPECT_EQ(edit_distance("move", "moves"), 1u);
  EXPECT_EQ(edit_distance("move", "mve"), 1u);
  EXPECT_EQ(edit_distance("move", "mode"), 1u);
  EXPECT_EQ(edit_distance("move", "mvoe"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

}  // namespace
}  // namespace penstock::interpose
