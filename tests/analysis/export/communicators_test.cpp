#include "analysis/export/common/communicators.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis::exports {
namespace {

using testing::RecordingBuilder;

constexpr std::uint32_t local_id = 7;

class Communicators : public ::testing::Test {
 protected:
  /// `rank` of four has noted one communicator besides the world.
  void begin_rank(std::int32_t rank, std::string_view members, bool is_inter = false,
                  const std::vector<std::string_view>& names = {""}) {
    RecordingBuilder builder(rank, 4);
    trace::Communicator record{};
    record.global_id = 99;
    record.local_id = local_id;
    record.members = builder.text(members);
    record.is_inter = is_inter ? 1 : 0;
    record.kind = trace::RecordKind::communicator;
    for (const std::string_view name : names) {
      record.name = name.empty() ? trace::no_string : builder.text(name);
      builder.raw(record);
    }
    const RankTrace trace = load_rank(builder.write(directory_.path()));
    communicators_.begin_rank(trace, [&](std::uint32_t id) {
      return id == trace::no_string ? std::string() : trace.strings.at(id);
    });
  }
  [[nodiscard]] std::optional<std::uint32_t> place_of(std::int32_t rank) const {
    return communicators_.rank_in(communicators_.number_of(local_id), rank);
  }
  JobCommunicators communicators_;

 private:
  testing::TemporaryDirectory directory_;
};

TEST_F(Communicators, ranks_bear_their_places_in_the_group) {
  begin_rank(3, "3,1");
  EXPECT_EQ(place_of(3), 0u);
  EXPECT_EQ(place_of(1), 1u);
  EXPECT_EQ(place_of(0), std::nullopt) << "no member";
  EXPECT_EQ(communicators_.number_of(1), JobCommunicators::world);
  EXPECT_EQ(communicators_.rank_in(JobCommunicators::world, 2), 2u);
  EXPECT_EQ(communicators_.rank_in(JobCommunicators::world, 4), std::nullopt);
  EXPECT_EQ(communicators_.rank_in(JobCommunicators::self, 3), 0u);
}

TEST_F(Communicators, all_ranks_of_one_have_one_number_for_it) {
  begin_rank(1, "1,3");
  const std::uint32_t number = communicators_.number_of(local_id);
  begin_rank(3, "1,3");
  EXPECT_EQ(communicators_.number_of(local_id), number);
  EXPECT_EQ(communicators_.all().size(), 3u);
}

TEST_F(Communicators, one_has_the_name_that_it_was_given_later) {
  begin_rank(1, "1,3", false, {"", "halves"});
  const std::uint32_t number = communicators_.number_of(local_id);
  EXPECT_EQ(communicators_.all().at(number).name, "halves");
  begin_rank(3, "1,3");
  EXPECT_EQ(communicators_.all().at(number).name, "halves") << "a rank that did not name it";
}

TEST_F(Communicators, one_that_its_first_rank_did_not_name_has_the_name_of_another) {
  begin_rank(1, "1,3");
  begin_rank(3, "1,3", false, {"", "halves"});
  EXPECT_EQ(communicators_.all().at(communicators_.number_of(local_id)).name, "halves");
}

TEST_F(Communicators, both_groups_of_an_intercommunicator_are_found_each_by_the_other) {
  begin_rank(0, "1,3", true);
  EXPECT_EQ(place_of(3), 1u) << "a rank of the other group";
  begin_rank(1, "0,2", true);
  EXPECT_EQ(place_of(2), 1u);
  const JobCommunicator& inter = communicators_.all().at(communicators_.number_of(local_id));
  EXPECT_EQ(inter.members, (std::vector<std::int32_t>{1, 3}));
  EXPECT_EQ(inter.others, (std::vector<std::int32_t>{0, 2}));
}

TEST_F(Communicators, one_with_members_that_are_not_known_is_taken_for_the_world) {
  for (const char* members : {"", "0,-1", "0,17", "0;1", "zero", "99999999999"}) {
    begin_rank(0, members);
    EXPECT_EQ(communicators_.number_of(local_id), JobCommunicators::world) << members;
  }
}

}  // namespace
}  // namespace penstock::analysis::exports
