// Programs with a fault, and their mended twins:
//   planted CASE [--mended BYTES EXCHANGE_NS]
// Messages are so large that an exchange takes some ms on this machine, kernels are as long as the exchange
// where what is planted is about both, and steps so many that both can be told from jitter. The program says
// by which bytes and time it goes ("planted: BYTES EXCHANGE_NS"), and its twin must go by the same.
// PLANTED_STEPS in the environment is the most steps that either takes, for a machine that does nothing else.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string_view>

#include "tests/analysis/planted/exchanges.hpp"
#include "tests/analysis/planted/planted_faults.hpp"

namespace penstock::planted {
namespace {

constexpr int large = 1 << 29;
constexpr int large_in_host_memory = 1 << 26;
/// Where ranks lack a core beside a simulated GPU, each of a step's reductions takes some ms.
constexpr std::uint64_t reducing_steps = is_simulated ? 3 : 100;

constexpr Case cases[]{
    {.name = "stencil", .step = stencil, .exchange = exchange, .most_bytes = large},
    {.name = "stencil_without_synchronisation",
     .step = stencil_without_synchronisation,
     .exchange = exchange,
     .most_bytes = large},
    {.name = "stencil_of_two_sides",
     .step = stencil_of_two_sides,
     .exchange = exchange_both_sides,
     .most_bytes = large},
    {.name = "stencil_with_residual",
     .step = stencil_with_residual,
     .exchange = exchange,
     .most_bytes = large},
    {.name = "staged",
     .step = staged,
     .exchange = exchange_by_hand,
     .most_bytes = large_in_host_memory,
     .uses_host_memory = true},
    {.name = "staged_by_hand_and_not_blocking",
     .step = staged_by_hand_and_not_blocking,
     .exchange = exchange_by_hand_not_blocking,
     .most_bytes = large_in_host_memory,
     .uses_host_memory = true},
    {.name = "late", .step = late, .exchange = exchange, .most_bytes = large},
    {.name = "received_blocking_behind_a_kernel",
     .step = received_blocking_behind_a_kernel,
     .exchange = exchange,
     .most_bytes = large},
    {.name = "sleeper", .step = sleeper},
    {.name = "one_rank_sleeps_before_its_kernels", .step = one_rank_sleeps_before_its_kernels},
    {.name = "one_rank_of_two_sleeps_at_a_reduction", .step = one_rank_of_two_sleeps_at_a_reduction},
    {.name = "one_rank_sleeps_every_fourth_step", .step = one_rank_sleeps_every_fourth_step},
    {.name = "host", .step = host},
    {.name = "host_code_between_kernels", .step = host_code_between_kernels},
    {.name = "unbalanced", .step = unbalanced},
    {.name = "kernels_grow_with_the_rank", .step = kernels_grow_with_the_rank},
    {.name = "two_reductions",
     .step = two_reductions,
     .exchange = reduce_one_by_one,
     .most_steps = reducing_steps},
    {.name = "three_reductions",
     .step = three_reductions,
     .exchange = reduce_one_by_one,
     .most_steps = reducing_steps},
    {.name = "reductions_in_a_loop",
     .step = reductions_in_a_loop,
     .exchange = reduce_one_by_one,
     .most_steps = reducing_steps},
    {.name = "scalar_each_step",
     .step = scalar_each_step,
     .exchange = reduce_one_by_one,
     .most_steps = reducing_steps},
};

const Case* case_of(std::string_view name) {
  const Case* const found =
      std::find_if(std::begin(cases), std::end(cases), [&](const Case& each) { return each.name == name; });
  return found == std::end(cases) ? nullptr : found;
}

int usage() {
  std::fputs("planted CASE [--mended BYTES EXCHANGE_NS], CASE one of:\n", stderr);
  for (const Case& each : cases) {
    std::fprintf(stderr, "  %s\n", each.name);
  }
  return 2;
}

int run(int argc, char** argv) {
  const Case* const chosen = argc < 2 ? nullptr : case_of(argv[1]);
  const bool is_mended = argc == 5 && std::string_view(argv[2]) == "--mended";
  if (chosen == nullptr || (argc != 2 && !is_mended)) {
    return usage();
  }
  const Sizes sizes_of_twin =
      is_mended ? Sizes{std::atoi(argv[3]), std::strtoull(argv[4], nullptr, 10)} : Sizes{};
  Case planted = *chosen;
  if (const char* const most_steps = std::getenv("PLANTED_STEPS")) {
    planted.most_steps = std::strtoull(most_steps, nullptr, 10);
  }
  MPI_Init(&argc, &argv);
  Rank(planted, is_mended, is_mended ? &sizes_of_twin : nullptr).run();
  MPI_Finalize();
  return 0;
}

}  // namespace
}  // namespace penstock::planted

int main(int argc, char** argv) {
  return penstock::planted::run(argc, argv);
}
