// penstock run: starts a program under Penstock. Replaces itself by the program, so that the launcher sees no
// process in between.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "analysis/cli/commands.hpp"
#include "analysis/cli/launch/launch_plan.hpp"
#include "analysis/cli/options/record_options.hpp"
#include "transports/kinds/transport_kind.hpp"

namespace penstock::cli {
namespace {

constexpr int exit_not_executable = 126;

/// Returns the program and its arguments: the rest of the parsed words, then the words after "--". That "--"
/// is Penstock's if it precedes the program, else the program's.
std::vector<std::string> program_in(std::vector<std::string> words,
                                    const std::vector<std::string>& behind_separator) {
  if (!words.empty() && words.front().starts_with('-')) {
    throw CLI::ExtrasError("run", {words.front()});
  }
  const bool is_ours = words.empty() && !behind_separator.empty();
  words.insert(words.end(), behind_separator.begin() + (is_ours ? 1 : 0), behind_separator.end());
  if (words.empty()) {
    throw CLI::RequiredError("a program");
  }
  return words;
}

int run(RunOptions options) {
  const LaunchPlan plan = plan_launch(options, library_folder());
  for (const std::string& note : plan.notes) {
    fmt::print(stderr, "penstock: {}\n", note);
  }
  if (plan.refusal != 0) {
    return plan.refusal;
  }
  for (const auto& [name, value] : plan.environment) {
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  std::vector<char*> arguments;
  for (std::string& each : options.command) {
    arguments.push_back(each.data());
  }
  arguments.push_back(nullptr);
  std::fflush(nullptr);
  ::execvp(plan.program.c_str(), arguments.data());
  fmt::print(stderr, "penstock: {}: {}\n", options.command.front(), std::strerror(errno));
  return exit_not_executable;
}

std::vector<std::string> transport_names() {
  std::vector<std::string> names;
  for (const transports::TransportRow& row : transports::transport_rows) names.emplace_back(row.name);
  return names;
}

}  // namespace

void add_run_command(CLI::App& application, const std::vector<std::string>& behind_separator,
                     int& exit_code) {
  auto options = std::make_shared<RunOptions>();
  auto family = std::make_shared<std::string>();
  auto no_record = std::make_shared<bool>(false);
  CLI::App* const command = application.add_subcommand(
      "run", "Start a program under Penstock, after the launcher: mpiexec -n 4 penstock run ./app");
  command->add_option("-o,--output", options->output, "Directory of the recording")
      ->type_name("DIR")
      ->default_str(default_output);
  command
      ->add_option(
          "--window", options->window,
          "Record only this part of the run: while an NVTX range is entered the FIRST to the LAST time "
          "(step:100:200; step: once; step:100: from then on), or from cudaProfilerStart to "
          "cudaProfilerStop (profiler)")
      ->type_name("RANGE[:FIRST[:LAST]]")
      ->check(why_no_window);
  command
      ->add_option("--ranks", options->ranks, "Record only these ranks: 0,3-5. The others move GPU buffers")
      ->type_name("LIST")
      ->check(why_no_ranks);
  command
      ->add_option("--keep-last", options->keep_last,
                   "Keep so many bytes of each rank's newest records, not of its first: 200M")
      ->type_name("SIZE")
      ->check(why_not_kept);
  command->add_flag("--no-record", *no_record, "Move GPU buffers, record nothing");
  command
      ->add_option("--transport", options->transport,
                   "Use this transport for all GPU buffers that it can carry")
      ->check(CLI::IsMember(transport_names()));
  command->add_flag("--everywhere", options->everywhere,
                    "Every rank of the job runs Penstock: GPU buffers cross nodes in chunks");
  command->add_flag(
      "--gpu-by-rank", options->gpu_by_rank,
      "Show each rank one GPU of its host: by its number there and, where the launcher has bound it "
      "to cores, near them. Of CUDA_VISIBLE_DEVICES, if that is set");
  command->add_option("--mpi", *family, "The program's MPI, if it cannot be detected (scripts, Python)")
      ->check(CLI::IsMember({"mpich", "openmpi", "abi"}));
  command->prefix_command();  // the first word that is not one of our options is the program, the rest are
                              // its arguments
  command->footer("program [arguments …]: what to start");
  command->callback([=, &behind_separator, &exit_code] {
    options->record = !*no_record;
    options->family = family_named(*family);
    options->command = program_in(command->remaining(), behind_separator);
    exit_code = run(std::move(*options));
  });
}

}  // namespace penstock::cli
