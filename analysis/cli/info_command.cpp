// penstock info: shows what this machine offers: MPI libraries, GPUs, the libraries that Penstock uses,
// available transports.
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "analysis/cli/commands.hpp"
#include "analysis/cli/launch/launch_plan.hpp"
#include "analysis/cli/launch/library_search.hpp"
#include "analysis/cli/manual/version.hpp"
#include "analysis/cli/tuning_text.hpp"
#include "analysis/report/text_figures.hpp"
#include "transports/machine.hpp"

namespace penstock::cli {
namespace {

/// Queries the library itself, which MPI permits before MPI_Init. Returns an empty string if it cannot be
/// loaded.
std::string version_of_mpi(const std::filesystem::path& library) {
  void* const handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return "";
  }
  std::vector<char> text(8192);  // the largest MPI_MAX_LIBRARY_VERSION_STRING in use (MPICH's)
  int length = 0;
  using Ask = int (*)(char*, int*);
  if (const auto ask = reinterpret_cast<Ask>(::dlsym(handle, "MPI_Get_library_version")); ask != nullptr) {
    ask(text.data(), &length);
  }
  // The library stays loaded: unloading an MPI is not safe, and this process ends soon.
  return analysis::short_version({text.data(), static_cast<std::size_t>(std::clamp(length, 0, 8192))});
}

std::filesystem::path found_library(MpiFamily family) {
  switch (family) {
    case MpiFamily::openmpi:
      return find_library("libmpi.so.40", {});
    case MpiFamily::abi:
      return find_library("libmpi_abi.so.1", {});
    case MpiFamily::mpich:
      break;
  }
  const std::filesystem::path debians = find_library("libmpich.so.12", {});
  return debians.empty() ? find_library("libmpi.so.12", {}) : debians;
}

void show_mpi() {
  const std::filesystem::path folder = library_folder();
  for (const MpiFamily family : all_mpi_families) {
    const std::filesystem::path mpi = found_library(family);
    const std::filesystem::path preload = preload_library(folder, family);
    std::error_code ignored;
    const bool is_built = std::filesystem::exists(preload, ignored);
    if (family == MpiFamily::abi && mpi.empty() && !is_built) {
      continue;  // most machines of today
    }
    const std::string version = mpi.empty() ? "" : version_of_mpi(mpi);
    const std::string what = mpi.empty()       ? "not found"
                             : version.empty() ? mpi.string()
                                               : fmt::format("{}  {}", version, mpi.string());
    show_line(title_of(family), what);
    show_line("", is_built ? fmt::format("preload library {}", preload.string())
                           : fmt::format("no preload library ({} is missing)", preload.string()));
  }
}

void show_library(const char* title, std::initializer_list<const char*> names, const char* without_it) {
  for (const char* name : names) {
    if (::dlopen(name, RTLD_LAZY | RTLD_LOCAL) != nullptr) {  // stays loaded, as the MPIs above
      return show_line(title, name);
    }
  }
  show_line(title, fmt::format("not found by the loader: {}", without_it));
}

void show_gpus(const transports::MachineInfo& machine) {
  if (!machine.driver_found) {
    show_line("GPU driver", "none (libcuda.so.1 is not there, or has no device)");
    return;
  }
  show_line("GPU driver", machine.simulated ? "simulated GPU"
                                            : fmt::format("CUDA {}.{}", machine.driver_version / 1000,
                                                          machine.driver_version % 1000 / 10));
  for (const transports::DeviceInfo& device : machine.devices) {
    constexpr double gib = 1024.0 * 1024 * 1024;
    show_line(fmt::format("  GPU {}", device.ordinal),
              fmt::format("{}  {:.0f} GiB  {}  {}", device.name,
                          static_cast<double>(device.memory_bytes) / gib, device.pci_bus_id, device.uuid));
    show_line("", device.peers.empty() ? "no peer access to other GPUs"
                                       : fmt::format("peer access to GPU {}", fmt::join(device.peers, ", ")));
  }
}

/// Without this, a user would look for the transports of a recording in the lines below, which are of this
/// machine.
void show_build(const transports::MachineInfo& machine) {
  if (!is_for_simulated_gpu()) {
    return;
  }
  show_line("this build", "is for the simulated GPU, for trying Penstock without one: all but speed is real");
  if (!machine.driver_found) {
    show_line("", "programs of this build bring that GPU along, so their jobs have a driver and use");
    show_line("", "transports that are closed below: this command and other programs do not see it");
  }
}

int info() {
  const transports::MachineInfo machine = transports::survey();
  show_build(machine);
  for (const Lack& each : lacks()) show_line("without", fmt::format("{}: {}", each.what, each.without));
  show_mpi();
  show_gpus(machine);
  show_library(
      "CUPTI", {"libcupti.so.13", "libcupti.so.12", "libcupti.so"},
      "kernels are recorded if it lies beside the program's CUDA libraries, or PENSTOCK_CUPTI names it");
  show_library("NVML", {"libnvidia-ml.so.1"},
               "power and clocks of GPUs are recorded if PENSTOCK_NVML names it");
  for (const transports::TransportInfo& transport : machine.transports) {
    show_line(fmt::format("transport {}", transports::name_of(transport.kind)),
              fmt::format("{}{}{}", transport.open ? "open" : "closed", transport.why.empty() ? "" : ": ",
                          transport.why));
  }
  if (const std::string problem = transports::wished_tuning(tuning_wish()).problem; !problem.empty())
    show_line("PENSTOCK_TUNING", problem);
  if (!machine.devices.empty()) show_tuning(transports::find_tuning(tuning_wish()), machine);
  return 0;
}

}  // namespace

void add_info_command(CLI::App& application, int& exit_code) {
  CLI::App* const command =
      application.add_subcommand("info", "Show what this machine offers: MPI, GPUs, libraries, transports");
  command->callback([&exit_code] { exit_code = info(); });
}

}  // namespace penstock::cli
