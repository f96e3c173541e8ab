#include "analysis/cli/launch/launch_plan.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "analysis/cli/launch/elf_needs.hpp"
#include "analysis/cli/launch/gpu_by_rank.hpp"

namespace penstock::cli {
namespace {

constexpr int exit_usage = 2;
constexpr int exit_not_executable = 126;
constexpr int exit_not_found = 127;

/// Returns true for programs that start MPI programs. Preloading into them would record nothing: not the
/// launcher communicates, but what it starts.
bool is_launcher(const std::filesystem::path& program) {
  constexpr std::array names{"mpiexec", "mpirun", "orterun", "prterun", "prun", "srun",      "aprun",
                             "jsrun",   "lrun",   "hydra",   "ibrun",   "flux", "mpirun_rsh"};
  const std::string name = program.filename().string();
  const std::string_view first_part = std::string_view(name).substr(0, name.find('.'));  // for mpiexec.mpich
  return std::find(names.begin(), names.end(), first_part) != names.end();
}

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool names_library(std::string_view preload, std::string_view library) {
  return preload.find(library) != std::string_view::npos;
}

/// Shows one GPU to the program; where it cannot be chosen, all that there are.
void give_gpu(LaunchPlan& plan) {
  const std::optional<std::size_t> rank = rank_on_host();
  if (!rank) {
    plan.notes.push_back("--gpu-by-rank does nothing: no launcher has told this rank's number on its host");
    return;
  }
  const std::vector<HostGpu> gpus = gpus_to_choose_from();
  if (gpus.empty()) {
    plan.notes.push_back(
        "--gpu-by-rank does nothing: there is no GPU in /proc/driver/nvidia/gpus that can be opened, and "
        "none "
        "in CUDA_VISIBLE_DEVICES");
    return;
  }
  const std::size_t gpu = choose_gpu(gpus, *rank, allowed_cores(), claim_by_socket);
  plan.environment.emplace_back("CUDA_VISIBLE_DEVICES", gpus[gpu].name);
}

/// Returns the MPI family; if it is unknown, adds a note.
std::optional<MpiFamily> choose_family(const RunOptions& options, LaunchPlan& plan) {
  if (options.family) {
    return options.family;
  }
  if (const auto family = family_of_program(plan.program)) {
    return family;
  }
  if (const auto family = family_of_launcher()) {
    return family;
  }
  plan.notes.push_back(
      fmt::format("cannot determine which MPI {} uses, if any: it runs without Penstock (give --mpi mpich, "
                  "--mpi openmpi or --mpi abi)",
                  options.command.front()));
  if (std::string why = why_no_needs(); !why.empty()) {
    plan.notes.push_back(std::move(why));
  }
  return std::nullopt;
}

}  // namespace

LaunchPlan plan_launch(const RunOptions& options, const std::filesystem::path& libraries) {
  LaunchPlan plan;
  const std::string& name = options.command.front();
  plan.program = find_program(name);
  if (plan.program.empty()) {
    plan.notes.push_back(fmt::format("{}: no such program", name));
    plan.refusal = exit_not_found;
    return plan;
  }
  std::error_code ignored;
  if (::access(plan.program.c_str(), X_OK) != 0 || std::filesystem::is_directory(plan.program, ignored)) {
    plan.notes.push_back(fmt::format("{}: not executable", name));
    plan.refusal = exit_not_executable;
    return plan;
  }
  if (is_launcher(plan.program)) {
    // running it as it is would look like a recorded run that left no recording
    plan.notes.push_back(fmt::format(
        "{0} is a launcher, and nothing was started. The right order: {0} -n 4 penstock run ./app", name));
    plan.refusal = exit_usage;
    return plan;
  }
  if (options.gpu_by_rank) {
    give_gpu(plan);
  }
  const std::optional<MpiFamily> family = choose_family(options, plan);
  if (!family) {
    return plan;
  }
  const std::filesystem::path library = preload_library(libraries, *family);
  if (!std::filesystem::exists(library, ignored)) {
    plan.notes.push_back(fmt::format("{} is missing: {} runs without Penstock", library.string(), name));
    return plan;
  }
  if (library.string().find_first_of(" \t\n:") != std::string::npos) {
    plan.notes.push_back(fmt::format(
        "the loader cannot preload {}, as its path has a blank or a colon, and nothing was started: move "
        "Penstock's folder",
        library.string()));
    plan.refusal = exit_usage;
    return plan;
  }
  const std::string preload = environment("LD_PRELOAD");
  if (!names_library(preload, library.string())) {
    plan.environment.emplace_back("LD_PRELOAD",
                                  preload.empty() ? library.string() : library.string() + ":" + preload);
  }
  const bool records = options.record && environment("PENSTOCK_RECORD") != "0";
  plan.environment.emplace_back("PENSTOCK_RECORD", records ? "1" : "0");
  if (records) {
    std::string wanted = options.output.empty() ? environment("PENSTOCK_OUTPUT") : options.output;
    if (wanted.empty()) {
      wanted = default_output;
    }
    // the program may change its working folder before it calls MPI_Init
    const std::filesystem::path output = std::filesystem::absolute(wanted, ignored);
    plan.environment.emplace_back("PENSTOCK_OUTPUT", ignored ? wanted : output.string());
    // NVTX and the CUDA driver each load the library that these name; another tool's entry stays
    for (const char* door : {"NVTX_INJECTION64_PATH", "CUDA_INJECTION64_PATH"}) {
      if (environment(door).empty()) {
        plan.environment.emplace_back(door, library.string());
      }
    }
  }
  const auto set = [&plan](const char* variable, const std::string& value) {
    if (!value.empty()) {
      plan.environment.emplace_back(variable, value);
    }
  };
  set("PENSTOCK_WINDOW", options.window);
  set("PENSTOCK_RANKS", options.ranks);
  set("PENSTOCK_TRACE_LIMIT", options.keep_last);
  set("PENSTOCK_TRACE_KEEP", options.keep_last.empty() ? "" : "last");
  set("PENSTOCK_TRANSPORT", options.transport);
  set("PENSTOCK_EVERYWHERE", options.everywhere ? "1" : "");
  return plan;
}

std::filesystem::path find_program(const std::string& name) {
  std::error_code ignored;
  if (name.find('/') != std::string::npos) {
    return std::filesystem::exists(name, ignored) ? std::filesystem::path(name) : std::filesystem::path();
  }
  const std::string path = environment("PATH");
  std::string_view rest = path;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::filesystem::path candidate =
        std::filesystem::path(end == 0 ? "." : rest.substr(0, end)) / name;
    if (::access(candidate.c_str(), X_OK) == 0 && !std::filesystem::is_directory(candidate, ignored)) {
      return candidate;
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

std::filesystem::path library_folder() {
  std::error_code ignored;
  return library_folder_of(std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path());
}

std::filesystem::path library_folder_of(const std::filesystem::path& commands_folder) {
  // Not any lib/: an installed command may have one beside it, too.
  const std::filesystem::path in_build = commands_folder / "lib";
  std::error_code ignored;
  for (const MpiFamily family : all_mpi_families) {
    if (std::filesystem::exists(preload_library(in_build, family), ignored)) {
      return in_build;
    }
  }
  return (commands_folder / PENSTOCK_LIBRARIES_FROM_COMMAND).lexically_normal();
}

std::filesystem::path preload_library(const std::filesystem::path& folder, MpiFamily family) {
  return folder / fmt::format("libpenstock_{}.so", name_of(family));
}

}  // namespace penstock::cli
