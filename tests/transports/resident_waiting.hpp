// How tests wait for a kernel that stands by, without hanging where it does not do what it should.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "transports/small/resident_copy.hpp"

namespace penstock::transports::test {

/// Asks until the condition holds; false: it does not within 30 s.
template <typename Condition>
[[nodiscard]] bool comes_true(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

/// Of the last order.
inline ResidentCopy::Outcome outcome_of(ResidentCopy& copy) {
  auto outcome = ResidentCopy::Outcome::pending;
  EXPECT_TRUE(
      comes_true([&] { return !copy.query(outcome).ok() || outcome != ResidentCopy::Outcome::pending; }));
  return outcome;
}

inline void send_away(ResidentCopy& copy) {
  copy.dismiss();
  EXPECT_TRUE(comes_true([&] { return copy.is_over(); }));
}

}  // namespace penstock::transports::test
