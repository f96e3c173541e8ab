// Programs with a fault, and their mended twins:
//   planted CASE [--mended BYTES EXCHANGE_NS]
// Messages are so large that an exchange takes some ms on this machine, kernels are as long as the exchange
// where what is planted is about both, and steps so many that both can be told from jitter. The program says
// by which bytes and time it goes ("planted: BYTES EXCHANGE_NS"), and its twin must go by the same.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "tests/analysis/planted/planted_faults.hpp"

namespace {

namespace planted = penstock::planted;
using penstock::planted::Case;
using penstock::planted::Sizes;

constexpr int large = 1 << 29;
constexpr int large_in_host_memory = 1 << 26;

constexpr Case cases[]{
    {"stencil", planted::stencil, planted::exchange, large},
    {"sleeper", planted::sleeper},
    {"unbalanced", planted::unbalanced},
    {"staged", planted::staged, planted::exchange_by_hand, large_in_host_memory, true},
    {"late", planted::late, planted::exchange, large},
    {"host", planted::host},
};

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc < 2 ? "" : argv[1];
  const Case* const chosen =
      std::find_if(std::begin(cases), std::end(cases), [&](const Case& each) { return each.name == name; });
  const bool is_mended = argc == 5 && std::string_view(argv[2]) == "--mended";
  if (chosen == std::end(cases) || (argc != 2 && !is_mended)) {
    std::fputs("planted CASE [--mended BYTES EXCHANGE_NS], CASE one of:\n", stderr);
    for (const Case& each : cases) {
      std::fprintf(stderr, "  %s\n", each.name);
    }
    return 2;
  }
  const Sizes sizes_of_twin =
      is_mended ? Sizes{std::atoi(argv[3]), std::strtoull(argv[4], nullptr, 10)} : Sizes{};
  MPI_Init(&argc, &argv);
  planted::Rank(*chosen, is_mended, is_mended ? &sizes_of_twin : nullptr).run();
  MPI_Finalize();
  return 0;
}
