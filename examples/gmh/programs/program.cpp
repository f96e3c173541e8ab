#include "examples/gmh/programs/program.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "examples/support/command_line.hpp"

namespace gmh_programs {
namespace {

void* call_body(gmh_tasklist_t list, void* body) {
  (*static_cast<const Body*>(body))(list);
  return nullptr;
}

constexpr int column_width = 12;

std::string cell(const Json& value) {
  if (value.is_null()) return "-";
  if (!value.is_number_float()) return value.dump();
  char text[32];
  std::snprintf(text, sizeof text, value < 1000 ? "%.3g" : "%.0f", value.get<double>());
  return text;
}

}  // namespace

void add_common(CLI::App& app, Common& common) {
  app.add_option("--gpus", common.gpus, "threads of each process, a GPU each")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  example::add_exchange(app, common.exchange);
  app.add_flag("--verify", common.verify, "check what has arrived");
  app.add_flag("--json", common.json, "print the result as one JSON object");
}

void add_sizes(CLI::App& app, std::vector<std::size_t>& sizes) {
  app.add_option("--sizes", sizes, "bytes of a message, as in 8,64K,1M")
      ->delimiter(',')
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 30));
}

void require(int code) {
  if (code != GMH_OK) throw std::runtime_error(gmh_error_string(code));
}

void require_cuda(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

int run(CLI::App& app, const Common& common, int argc, char** argv, const Body& body,
        const std::function<bool()>& finish, const std::function<std::string()>& complaint,
        const std::function<void()>& sum_up) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int exit_code = 0;
  if (const auto end =
          example::ends_at_once(app, argc, argv, rank, [&] { return complaint ? complaint() : ""; })) {
    exit_code = *end;
  } else {
    // Without a GPU-aware MPI, GMH stages by itself.
    if (common.exchange == example::Exchange::staged_by_hand) setenv("GMH_EXCHANGE", "staged-by-hand", 1);
    Body called = body;
    if (const int code = gmh_init(&argc, &argv, common.gpus, call_body, &called); code != GMH_OK) {
      if (rank == 0) std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), gmh_error_string(code));
      exit_code = 1;
    } else {
      if (sum_up) sum_up();
      int is_right = rank != 0 || finish() ? 1 : 0;
      MPI_Bcast(&is_right, 1, MPI_INT, 0, MPI_COMM_WORLD);
      exit_code = is_right != 0 ? 0 : 1;
    }
  }
  MPI_Finalize();
  return exit_code;
}

Json parameters_of(const Common& common) {
  int processes = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  return {{"gpus", common.gpus}, {"processes", processes}, {"exchange", example::name_of(common.exchange)}};
}

bool print_rows(const Common& common, const Json& about, const std::vector<Json>& rows, bool is_right,
                const char* verified) {
  if (common.json) {
    Json result = about;
    result["parameters"].update(parameters_of(common));
    result["rows"] = rows;
    if (common.verify) result["verified"] = is_right;
    std::printf("%s\n", result.dump().c_str());
    return is_right;
  }
  for (const Json& row : rows) {
    if (&row == &rows.front()) {
      for (const auto& [name, value] : row.items()) std::printf("%*s  ", column_width, name.c_str());
      std::printf("\n");
    }
    for (const auto& [name, value] : row.items())
      std::printf("%*s  ", std::max(column_width, static_cast<int>(name.size())), cell(value).c_str());
    std::printf("\n");
  }
  if (common.verify)
    std::printf("%s%s\n", is_right ? "verified: " : "NOT verified", is_right ? verified : "");
  return is_right;
}

}  // namespace gmh_programs
