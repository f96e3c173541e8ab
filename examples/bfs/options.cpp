#include "examples/bfs/options.hpp"

#include <charconv>
#include <map>
#include <string_view>

#include "examples/support/command_line.hpp"

namespace bfs {
namespace {

const std::map<std::string, Form> form_names{{"lists", Form::lists},
                                             {"bitmaps", Form::bitmaps},
                                             {"switched", Form::switched},
                                             {"measured", Form::measured}};

const std::map<std::string, Direction> direction_names{{"top-down", Direction::top_down},
                                                       {"optimising", Direction::optimising}};

std::optional<Grid> parse_grid(std::string_view text) {
  Grid grid{0, 0};
  const char* const end = text.data() + text.size();
  const auto [cross, error] = std::from_chars(text.data(), end, grid.rows);
  if (error != std::errc{} || cross == end || *cross != 'x') {
    return std::nullopt;
  }
  const auto [rest, second_error] = std::from_chars(cross + 1, end, grid.columns);
  if (second_error != std::errc{} || rest != end) {
    return std::nullopt;
  }
  return grid;
}

/// What is wrong with the options, or nothing.
std::string complaint(const Options& options, int rank_count) {
  const auto [rows, columns] = options.grid;
  if (rows < 1 || columns < 1 || std::int64_t{rows} * columns != rank_count) {
    return "--grid: rows times columns must be the number of ranks, " + std::to_string(rank_count) +
           ", and not " + std::to_string(rows) + " x " + std::to_string(columns);
  }
  const Partition partition(options.kronecker().vertices(), options.grid, 0);
  if (partition.sources() > INT64_C(1) << 32 || partition.targets() > INT64_C(1) << 32) {
    return "--scale: a rank may have 2^32 vertices at most in its row or column of the grid; take more ranks";
  }
  if (partition.block() > INT64_C(1) << 29) {
    return "--scale: a rank may own 2^29 vertices at most; take more ranks";
  }
  return {};
}

}  // namespace

std::string name_of(Form form) {
  return example::name_of_choice(form_names, form);
}

std::string name_of(Direction direction) {
  return example::name_of_choice(direction_names, direction);
}

std::optional<Options> read_options(int argc, char** argv, int rank, int rank_count, int& exit_code) {
  Options options;
  std::string grid;
  CLI::App app{"Breadth-first searches in a Graph500 graph, partitioned in two dimensions over the ranks",
               "bfs"};
  app.add_option("--scale", options.scale, "log2 of the number of vertices")
      ->check(CLI::Range(1, 40))
      ->capture_default_str();
  app.add_option("--edge-factor", options.edge_factor, "input edges per vertex")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--roots", options.roots, "searches, each from another vertex that has an edge")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "names the graph and the roots")->capture_default_str();
  app.add_option("--grid", grid, "rows x columns of ranks, as 4x2 (default: as square as can be)");
  example::add_choice(app, "--frontier", options.form, form_names,
                      "how sets of vertices are sent: as lists, as bitmaps, as whichever is smaller, or as "
                      "whichever is measured to be faster");
  example::add_choice(app, "--direction", options.direction, direction_names,
                      "from the frontier always, or from what is not seen while the frontier is large");
  example::add_exchange(app, options.exchange);
  app.add_flag("--verify", options.verify, "check every tree by the five rules of Graph500");
  app.add_flag("--json", options.json, "print the result as one JSON object");

  const std::optional<int> end = example::ends_at_once(app, argc, argv, rank, [&]() -> std::string {
    const std::optional<Grid> parsed = grid.empty() ? grid_for(rank_count) : parse_grid(grid);
    if (!parsed) {
      return "--grid: expected rows x columns, as 4x2, got " + grid;
    }
    options.grid = *parsed;
    return complaint(options, rank_count);
  });
  if (end) {
    exit_code = *end;
    return std::nullopt;
  }
  return options;
}

}  // namespace bfs
