// Figure 8 of the paper: bandwidth between two GPUs in GB/s, in a ping-pong, one way and both ways
// at once. Between threads of one process, raw peer copies of the same bytes are measured beside.
#include "examples/gmh/programs/pair.hpp"

using namespace gmh_programs;

namespace {

void add_messages(Json& row, Side& side, std::size_t bytes, int window) {
  const double gbytes = 1e-9 * static_cast<double>(bytes);
  row["ping_pong"] = gbytes / median_of([&] { return side.ping_pong_s(bytes, window); });
  row["one_way"] = window * gbytes / median_of([&] { return side.window_s(bytes, window, false); });
  row["both_ways"] = 2 * window * gbytes / median_of([&] { return side.window_s(bytes, window, true); });
}

void add_copies(Json& row, Side& side, std::size_t bytes, int window) {
  const double gbytes = 1e-9 * window * static_cast<double>(bytes);
  row["raw_ping_pong"] = gbytes / median_of([&] { return side.copies_s(bytes, window, true, false); });
  row["raw_one_way"] = gbytes / median_of([&] { return side.copies_s(bytes, window, false, false); });
  row["raw_both_ways"] = 2 * gbytes / median_of([&] { return side.copies_s(bytes, window, false, true); });
}

}  // namespace

int main(int argc, char** argv) {
  Common common;
  std::vector<std::size_t> sizes{65536, std::size_t{1} << 20, std::size_t{16} << 20, std::size_t{64} << 20,
                                 std::size_t{256} << 20};
  int window = 16;
  CLI::App app{"Bandwidth between two GMH ranks (--gpus 2: threads of one process)", "gmh_bandwidth"};
  add_common(app, common);
  add_sizes(app, sizes);
  app.add_option("--window", window, "messages under way at once")
      ->check(at_least_one())
      ->capture_default_str();

  Shared shared;
  PairRows result;
  const auto row_of = [&](Side& side, std::size_t bytes) {
    static_cast<void>(side.window_s(bytes, window, true));
    Json row{{"bytes", bytes}};
    add_messages(row, side, bytes, window);
    if (side.is_one_process()) add_copies(row, side, bytes, window);
    return row;
  };
  const auto body = [&](gmh_tasklist_t list) { measure_pair(list, shared, common, sizes, result, row_of); };
  const auto finish = [&] { return print_pair_rows(common, "gmh_bandwidth", result, {{"unit", "GB/s"}}); };
  return run(app, common, argc, argv, body, finish);
}
