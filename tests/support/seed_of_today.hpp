// The seeds of random tests that run each day with others.
#pragma once

#include <chrono>
#include <cstdint>

namespace penstock::test_support {

/// The day's own seeds, in UTC and readable: 20261126000 is the first of the 26th of November 2026.
inline std::uint64_t first_seed_of_today() {
  const std::chrono::year_month_day today(
      std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()));
  const auto year = static_cast<std::uint64_t>(static_cast<int>(today.year()));
  return ((year * 100 + static_cast<unsigned>(today.month())) * 100 + static_cast<unsigned>(today.day())) *
         1000;
}

}  // namespace penstock::test_support
