// The table of transports: numbers in recordings, names in settings and reports, sets of transports.
#include "transports/kinds/transport_kind.hpp"

#include <gtest/gtest.h>

#include <string>

#include "interpose/record/trace_format.hpp"

namespace penstock::transports {
namespace {

template <class Kind>
int number_of(Kind transport) {
  return static_cast<int>(transport);
}

TEST(TransportKinds, numbers_are_those_of_all_earlier_recordings) {
  using trace::TransportKind;
  EXPECT_EQ(number_of(TransportKind::none), 0);
  EXPECT_EQ(number_of(TransportKind::mpi), 1);
  EXPECT_EQ(number_of(TransportKind::local), 2);
  EXPECT_EQ(number_of(TransportKind::peer), 3);
  EXPECT_EQ(number_of(TransportKind::staged), 4);
  EXPECT_EQ(number_of(TransportKind::relayed), 5);
  EXPECT_EQ(number_of(TransportKind::striped), 6);
  EXPECT_EQ(number_of(TransportKind::pushed), 7);
  EXPECT_EQ(number_of(TransportKind::network), 8);
  EXPECT_EQ(number_of(TransportKind::fused), 9);
}

TEST(TransportKinds, are_listed_in_the_order_that_users_know) {
  std::string names;
  for (const TransportRow& row : transport_rows) {
    names += std::string(row.name) + ' ';
    EXPECT_STREQ(name_of(row.kind), row.name);
  }
  EXPECT_EQ(names, "local peer relayed pushed staged network ");
  EXPECT_STREQ(name_of(TransportKind::none), "none");
  EXPECT_STREQ(name_of(TransportKind::mpi), "mpi");
}

TEST(TransportKinds, a_set_holds_what_was_added_and_all_but_a_set_the_others) {
  TransportSet set;
  EXPECT_TRUE(set.is_empty());
  set.add(TransportKind::peer);
  EXPECT_FALSE(set.is_empty());
  const TransportSet both = set | TransportSet{TransportKind::network};
  const TransportSet others = TransportSet::all_but(both);
  for (const TransportRow& row : transport_rows) {
    EXPECT_EQ(set.holds(row.kind), row.kind == TransportKind::peer);
    EXPECT_EQ(both.holds(row.kind), row.kind == TransportKind::peer || row.kind == TransportKind::network);
    EXPECT_NE(others.holds(row.kind), both.holds(row.kind));
  }
}

}  // namespace
}  // namespace penstock::transports
