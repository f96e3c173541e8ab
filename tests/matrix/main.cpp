// The message matrix: two ranks carry out its cases one after another. Run once plain, to write down what a
// stock MPI says on host memory, then under Penstock on memory of every kind, to compare.
#include <fmt/format.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <sstream>
#include <string>
#include <unordered_map>

#include "tests/matrix/case.hpp"
#include "tests/matrix/exchange.hpp"
#include "tests/support/watchdog.hpp"

namespace {

using namespace penstock;

constexpr std::size_t most_told = 20;  ///< failures told one by one on a rank

struct Options {
  std::string plain_file;
  std::string check_file;
  bool full = false;
  std::size_t largest_bytes = SIZE_MAX;
  std::size_t one_in = 1;
  bool host_only = false;
  std::string senders;  ///< "host" or "device", where the payload lies; empty: both
  std::string receivers;
  std::size_t only = 0;
  bool has_only = false;
};

using Expectations = std::unordered_map<std::size_t, std::string>;

Expectations read_expectations(const std::string& path) {
  Expectations expectations;
  std::ifstream file(path);
  std::size_t number = 0;
  for (std::string line; file >> number && std::getline(file, line);) expectations[number] = line.substr(1);
  return expectations;
}

/// Equal word by word; only, MPI_SUCCESS may stand where the plain run left MPI_ERROR alone: which calls
/// write that field on success differs between MPIs and even between their paths, and MPI leaves it
/// undefined.
bool agree(const std::string& plain, const std::string& seen) {
  std::istringstream plain_words(plain);
  std::istringstream seen_words(seen);
  std::string wanted;
  std::string got;
  while (plain_words >> wanted) {
    if (!(seen_words >> got)) return false;
    if (wanted != got && !(wanted == "error=" + std::to_string(matrix::untouched) && got == "error=0"))
      return false;
  }
  return !(seen_words >> got);
}

bool is_among(const std::string& sides, test_support::MemoryKind kind) {
  return sides.empty() || sides == (lives_on_device(kind) ? "device" : "host");
}

bool is_wanted(const Options& options, const matrix::Case& test) {
  if (options.has_only) return test.number == options.only;
  if (!is_among(options.senders, test.sender_kind) || !is_among(options.receivers, test.receiver_kind))
    return false;
  return is_legal(test) && test.bytes <= options.largest_bytes && test.seed % options.one_in == 0 &&
         (options.full || is_in_short_run(test));
}

int run(const Options& options) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  test_support::watch(rank, 60);

  const bool plain = !options.plain_file.empty();
  const std::string path = fmt::format("{}.{}", plain ? options.plain_file : options.check_file, rank);
  std::ofstream written;
  Expectations expected;
  if (plain) {
    written.open(path);
  } else {
    expected = read_expectations(path);
  }

  matrix::Exchange exchange(plain || options.host_only);
  std::size_t done = 0;
  std::size_t failed = 0;
  for (std::size_t number = 0; number < matrix::case_count(); ++number) {
    const matrix::Case test = matrix::make_case(number);
    if (!is_wanted(options, test)) continue;
    test_support::progress("case %zu: %s", number, describe(test).c_str());
    matrix::Outcome outcome = exchange.run(test);
    ++done;
    if (plain) {
      written << number << ' ' << outcome.seen << '\n';
    } else if (!agree(expected[number], outcome.seen)) {
      outcome.fault += fmt::format("\n    plain    {}\n    Penstock {}", expected[number], outcome.seen);
    }
    if (!outcome.fault.empty()) {
      if (++failed > most_told) continue;
      fmt::print(stderr, "FAILED --case {} on rank {}: {}:{}\n", number, rank, describe(test), outcome.fault);
    }
    if (options.full && rank == 0 && done % 10000 == 0) fmt::print(stderr, "{} cases\n", done);
  }
  written.close();
  const bool trouble = failed > 0 || done == 0 || (plain && !written);
  fmt::print("rank {}: {} cases, {} failed\n", rank, done, failed);
  return trouble ? 1 : 0;
}

}  // namespace

int main(int argument_count, char** arguments) {
  Options options;
  CLI::App app("Message matrix; start it with tests/matrix/run");
  auto* plain =
      app.add_option("--plain", options.plain_file, "write what is seen to FILE.<rank>, host memory only");
  app.add_option("--check", options.check_file, "compare with FILE.<rank>")->excludes(plain);
  app.add_flag("--full", options.full, "every legal case");
  app.add_option("--largest", options.largest_bytes, "no messages of more bytes");
  app.add_option("--one-in", options.one_in, "only one case in N, by lot")->check(CLI::PositiveNumber);
  app.add_flag("--host-only", options.host_only, "compare with every buffer in host memory: tests the test");
  const CLI::IsMember sides({"host", "device"});
  app.add_option("--senders", options.senders, "only cases whose sender's buffer lies there")->check(sides);
  app.add_option("--receivers", options.receivers, "the same for receivers")->check(sides);
  auto* only = app.add_option("--case", options.only, "only this case");
  CLI11_PARSE(app, argument_count, arguments);
  options.has_only = only->count() > 0;
  if (options.plain_file.empty() && options.check_file.empty()) return app.exit(CLI::CallForHelp());

  MPI_Init(&argument_count, &arguments);
  const int result = run(options);
  MPI_Finalize();
  return result;
}
