// Runs the tests, or a partner of one (partner.hpp).
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "tests/transports/partner.hpp"

int main(int argc, char** argv) {
  namespace test = penstock::transports::test;
  if (argc == 3 && std::strcmp(argv[1], test::partner_argument) == 0)
    return test::run_partner(std::atoi(argv[2]));
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
