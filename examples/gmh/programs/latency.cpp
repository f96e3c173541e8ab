// Figure 7 of the paper: half a round trip between two GPUs, of two threads (`--gpus 2`) or of two
// processes. Between threads, a raw peer copy of the same bytes is measured beside.
#include "examples/gmh/programs/pair.hpp"

using namespace gmh_programs;

int main(int argc, char** argv) {
  Common common;
  std::vector<std::size_t> sizes{8, 64, 512, 4096, 32768, 262144, std::size_t{1} << 20};
  int rounds = 100;
  CLI::App app{"Half a round trip between two GMH ranks (--gpus 2: threads of one process)", "gmh_latency"};
  add_common(app, common);
  add_sizes(app, sizes);
  app.add_option("--rounds", rounds, "round trips of a measurement, of which five are made")
      ->check(at_least_one())
      ->capture_default_str();

  Shared shared;
  PairRows result;
  const auto row_of = [&](Side& side, std::size_t bytes) {
    static_cast<void>(side.ping_pong_s(bytes, std::max(1, rounds / 10)));
    const double message_s = median_of([&] { return side.ping_pong_s(bytes, rounds); });
    Json raw_us;
    if (side.is_one_process())
      raw_us = 1e6 * median_of([&] { return side.copies_s(bytes, rounds, true, false) / rounds; });
    return Json{{"bytes", bytes}, {"half_round_trip_us", message_s * 1e6}, {"raw_us", raw_us}};
  };
  const auto body = [&](gmh_tasklist_t list) { measure_pair(list, shared, common, sizes, result, row_of); };
  const auto finish = [&] { return print_pair_rows(common, "gmh_latency", result); };
  return run(app, common, argc, argv, body, finish);
}
