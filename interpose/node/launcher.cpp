#include "interpose/node/launcher.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "transports/host/retried.hpp"

namespace penstock::interpose {
namespace {

// of hydra, PMIx (Open MPI ≥ 3, srun --mpi=pmix), orted, Cray's PALS and MVAPICH 2, in the order of lookup.
// SLURM_PROCID would not do: a batch script has it, too.
constexpr std::array rank_variables = {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PALS_RANKID",
                                       "MV2_COMM_WORLD_RANK"};

/// Reads a file of /proc into a fixed buffer; a rest that does not fit is not needed. Returns the bytes read.
std::size_t read_proc(pid_t process, const char* file, char* buffer, std::size_t capacity) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/%s", static_cast<int>(process), file);
  const int descriptor = ::open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  std::size_t used = 0;
  while (used < capacity) {
    const ssize_t got = retried([&] { return ::read(descriptor, buffer + used, capacity - used); });
    if (got <= 0) break;
    used += static_cast<std::size_t>(got);
  }
  ::close(descriptor);
  return used;
}

/// Fields of /proc/<pid>/stat after the parenthesised name: parent (4th field) and start time (22nd).
struct ProcessStat {
  pid_t parent = 0;
  unsigned long long start_time = 0;
};

ProcessStat stat_of(pid_t process) noexcept {
  char text[1024] = {};
  const std::size_t bytes = read_proc(process, "stat", text, sizeof text - 1);
  const std::string_view line(text, bytes);
  const std::size_t name_end = line.rfind(')');
  ProcessStat stat;
  if (name_end == std::string_view::npos) return stat;
  const char* at = text + name_end + 1;
  int field = 2;
  while (*at != '\0') {
    while (*at == ' ') ++at;
    ++field;
    if (field == 4) stat.parent = static_cast<pid_t>(std::strtol(at, nullptr, 10));
    if (field == 22) {
      stat.start_time = std::strtoull(at, nullptr, 10);
      break;
    }
    while (*at != ' ' && *at != '\0') ++at;
  }
  return stat;
}

/// Returns true if the environment at the process's start makes it a rank or part of one.
bool is_rank(pid_t process, const char* variable) noexcept {
  // environments are too large for a stack buffer, and are read once a job
  constexpr std::size_t capacity = 1u << 20;
  char* environment = static_cast<char*>(std::malloc(capacity));
  if (environment == nullptr) return false;
  const std::size_t bytes = read_proc(process, "environ", environment, capacity);
  const std::size_t name_bytes = std::strlen(variable);
  bool found = false;
  for (std::size_t at = 0; at < bytes && !found;) {
    const char* entry = environment + at;
    const std::size_t entry_bytes = ::strnlen(entry, bytes - at);
    found =
        entry_bytes > name_bytes && std::memcmp(entry, variable, name_bytes) == 0 && entry[name_bytes] == '=';
    at += entry_bytes + 1;
  }
  std::free(environment);
  return found;
}

/// Returns true for known launchers. They end the search even if they were started inside another job.
bool is_launcher(pid_t process) noexcept {
  char name[32] = {};
  const std::size_t bytes = read_proc(process, "comm", name, sizeof name - 1);
  const std::string_view text(name, bytes);
  for (const std::string_view launcher :
       {"hydra_pmi_proxy", "mpiexec", "mpirun", "orted", "prted", "slurmstepd"}) {
    if (text.starts_with(launcher)) return true;
  }
  return false;
}

/// FNV-1a, 64 bit, from a chosen start so that two independent keys can be made.
std::uint64_t hash(std::uint64_t start, const void* data, std::size_t bytes) noexcept {
  std::uint64_t value = start;
  for (std::size_t i = 0; i < bytes; ++i) {
    value ^= static_cast<const unsigned char*>(data)[i];
    value *= 0x100000001b3ull;
  }
  return value;
}

}  // namespace

bool is_started_as_rank() noexcept {
  for (const char* variable : rank_variables) {
    if (std::getenv(variable) != nullptr) return true;
  }
  return false;
}

JobIdentity identify_job(std::string_view node) noexcept {
  JobIdentity identity;
  const char* variable = nullptr;
  for (const char* candidate : rank_variables) {
    if (const char* value = std::getenv(candidate)) {
      variable = candidate;
      identity.environment_rank = std::atoi(value);
      break;
    }
  }
  pid_t launcher = ::getpid();  // started without a launcher: a job of its own
  if (variable != nullptr) {
    do {
      const pid_t parent = stat_of(launcher).parent;
      // the first process adopts those whose parents are gone; in a container it may be the launcher
      if (parent < 1 || (parent == 1 && !is_launcher(parent))) break;
      launcher = parent;
    } while (!is_launcher(launcher) && is_rank(launcher, variable));
  }

  char secret[1024] = {};
  const std::size_t secret_bytes = read_proc(launcher, "auxv", secret, sizeof secret);
  const unsigned long long start_time = stat_of(launcher).start_time;
  const uid_t user = ::geteuid();
  // several jobs of one launcher (Open MPI's mpiexec with MPI_Comm_spawn) differ by name space
  const char* name_space = std::getenv("PMIX_NAMESPACE");
  std::uint64_t start = 0xcbf29ce484222325ull;
  for (std::uint64_t& key : identity.key) {
    key = hash(start, &launcher, sizeof launcher);
    key = hash(key, &start_time, sizeof start_time);
    key = hash(key, &user, sizeof user);
    key = hash(key, secret, secret_bytes);
    key = hash(key, node.data(), node.size());
    if (name_space != nullptr) key = hash(key, name_space, std::strlen(name_space));
    start = key ^ 0x9e3779b97f4a7c15ull;
  }
  return identity;
}

}  // namespace penstock::interpose
