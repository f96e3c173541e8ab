#include "analysis/cli/launch/gpu_by_rank.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>
#include <system_error>

#include "analysis/cli/launch/split.hpp"
#include "analysis/tables/number.hpp"

namespace penstock::cli {
namespace {

namespace fs = std::filesystem;

std::string first_line_of(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

/// Returns the value of a line "Key: \t value" of a file; empty: it has none.
std::string value_in(const fs::path& file, std::string_view key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key) || line.substr(key.size(), 1) != ":") continue;
    const std::size_t begin = line.find_first_not_of(" \t", key.size() + 1);
    return begin == std::string::npos ? "" : line.substr(begin, line.find_last_not_of(" \t") + 1 - begin);
  }
  return {};
}

/// Schedulers keep a job from GPUs that are not its own by letting it open their devices no more.
bool can_open(const fs::path& device) {
  const int descriptor = ::open(device.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (descriptor >= 0) ::close(descriptor);
  return descriptor >= 0;
}

std::vector<HostGpu> gpus_of_driver(const fs::path& root) {
  std::error_code error;
  std::vector<fs::path> folders;
  for (fs::directory_iterator each(root / "proc/driver/nvidia/gpus", error), end; !error && each != end;
       each.increment(error)) {
    folders.push_back(each->path());
  }
  std::sort(folders.begin(), folders.end());  // named by PCI address
  std::vector<HostGpu> gpus;
  for (const fs::path& each : folders) {
    const std::string uuid = value_in(each / "information", "GPU UUID");
    const std::string minor = value_in(each / "information", "Device Minor");
    if (uuid.empty() || !can_open(root / ("dev/nvidia" + minor))) continue;
    const fs::path device = root / "sys/bus/pci/devices" / each.filename();
    gpus.push_back({uuid, uuid, analysis::cores_in(first_line_of(device / "local_cpulist"))});
  }
  return gpus;
}

/// Returns the GPU that an entry of CUDA_VISIBLE_DEVICES means; its place is not known if the driver has none
/// such.
HostGpu gpu_named(const std::string& entry, const std::vector<HostGpu>& all) {
  // a number counts those that the job may open: another job's GPU has the same
  const auto number = analysis::number_in<std::size_t>(entry);
  const auto is_meant = [&](const HostGpu& each) { return each.name.starts_with(entry); };
  const auto found = number ? all.begin() + static_cast<std::ptrdiff_t>(std::min(*number, all.size()))
                            : std::find_if(all.begin(), all.end(), is_meant);
  if (found == all.end()) return {entry, entry, {}};
  return {entry, found->identity, found->near};
}

}  // namespace

std::vector<HostGpu> gpus_to_choose_from(const fs::path& root) {
  std::vector<HostGpu> all = gpus_of_driver(root);
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible == nullptr) return all;
  std::vector<HostGpu> named;
  for (const std::string& each : split(visible, ',')) named.push_back(gpu_named(each, all));
  return named;
}

std::optional<std::size_t> rank_on_host() {
  // Open MPI, Hydra (MPICH, Intel MPI), Slurm, Flux, PALS (Cray), jsrun, MVAPICH
  for (const char* const name :
       {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID", "FLUX_TASK_LOCAL_ID",
        "PALS_LOCAL_RANKID", "JSM_NAMESPACE_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK"}) {
    const char* const value = std::getenv(name);
    if (value == nullptr) continue;
    if (const auto rank = analysis::number_in<std::size_t>(value)) return rank;
  }
  return std::nullopt;
}

analysis::Cores allowed_cores() {
  return analysis::cores_in(value_in("/proc/self/status", "Cpus_allowed_list"));
}

std::size_t choose_gpu(const std::vector<HostGpu>& gpus, std::size_t rank, const analysis::Cores& cores,
                       const ClaimGpu& claim) {
  const auto is_near = [&](std::size_t gpu) {
    return cores.empty() || gpus[gpu].near.empty() || analysis::have_common(cores, gpus[gpu].near);
  };
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < gpus.size(); ++i) order.push_back((rank + i) % gpus.size());
  if (std::all_of(order.begin(), order.end(), is_near)) return order.front();
  std::stable_partition(order.begin(), order.end(), is_near);
  constexpr std::size_t most_ranks_of_a_gpu = 1024;
  for (std::size_t times = 0; times < most_ranks_of_a_gpu; ++times) {
    for (const std::size_t each : order) {
      if (claim(gpus[each].identity, times)) return each;
    }
  }
  return order.front();
}

bool claim_by_socket(const std::string& identity, std::size_t times) {
  const std::string text = fmt::format("penstock-gpu-{}-{}", identity, times);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (text.size() + 1 > sizeof address.sun_path) return true;
  std::memcpy(address.sun_path + 1, text.data(), text.size());  // the leading zero makes it abstract
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM, 0);
  if (descriptor < 0) return true;
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  const bool is_held =
      ::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), length) != 0 && errno == EADDRINUSE;
  if (is_held) ::close(descriptor);
  return !is_held;
}

}  // namespace penstock::cli
