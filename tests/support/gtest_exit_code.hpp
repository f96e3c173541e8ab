// GoogleTest's outcome as an exit code: a program all of whose tests are skipped is skipped, too.
#pragma once

#include <gtest/gtest.h>

#include "tests/support/exit_code.hpp"

namespace penstock::test_support {

[[nodiscard]] inline int run_all_tests() {
  if (RUN_ALL_TESTS() != 0) return 1;
  const testing::UnitTest& tests = *testing::UnitTest::GetInstance();
  const int skipped_tests = tests.skipped_test_count();
  return skipped_tests > 0 && skipped_tests == tests.test_to_run_count() ? skipped : 0;
}

}  // namespace penstock::test_support
