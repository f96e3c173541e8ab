#include "transports/host/process.hpp"
#include "transports/host/retried.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace penstock::transports {
namespace {

constexpr unsigned random_bits = 20;

struct ProcessState {
  char letter = 'R';
  unsigned threads = 1;
  std::uint64_t start_ticks = 0;  ///< since boot; 0 unknown
};

/// Returns false if /proc has no such process.
bool read_state(std::int64_t id, ProcessState& state) noexcept {
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/%lld/stat", static_cast<long long>(id));
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char line[1024] = "";
  const ssize_t bytes = retried([&] { return read(file, line, sizeof(line) - 1); });
  close(file);
  if (bytes <= 0) return false;
  // the program's name, in parentheses, may hold anything; the state follows it, the number of threads is 17
  // fields later, the start time another two
  const char* field = std::strrchr(line, ')');
  if (field == nullptr || std::sscanf(field, ") %c", &state.letter) != 1) return false;
  for (int skip = 0; field != nullptr && skip < 18; ++skip) field = std::strchr(field + 1, ' ');
  unsigned long long ticks = 0;
  if (field != nullptr && std::sscanf(field, "%u %*s %llu", &state.threads, &ticks) == 2)
    state.start_ticks = ticks;
  return true;
}

ProcessIdentity make_identity(std::int64_t id) noexcept {
  ProcessState state;
  static_cast<void>(read_state(id, state));
  std::uint64_t random = 0;
  if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0) random = static_cast<std::uint64_t>(id);
  constexpr std::uint64_t mask = (1u << random_bits) - 1;
  return {id, state.start_ticks << random_bits | (random & mask) | 1u};
}

/// This process's own identity, in a page that the kernel empties in every child, so that reading it costs no
/// system call.
struct OwnIdentity {
  std::atomic<std::int64_t> id;
  std::atomic<std::uint64_t> nonce;
  std::atomic_flag busy;
};

/// Returns null if the kernel has no such pages (before Linux 4.14).
OwnIdentity* make_page() noexcept {
  void* page = mmap(nullptr, sizeof(OwnIdentity), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  if (madvise(page, sizeof(OwnIdentity), MADV_WIPEONFORK) == 0) return static_cast<OwnIdentity*>(page);
  munmap(page, sizeof(OwnIdentity));
  return nullptr;
}

}  // namespace

ProcessIdentity this_process() noexcept {
  static OwnIdentity in_memory_of_all_children{};
  static OwnIdentity* const wiped = make_page();
  OwnIdentity& own = wiped != nullptr ? *wiped : in_memory_of_all_children;
  const std::int64_t known = own.id.load(std::memory_order_acquire);
  if (known != 0 && (wiped != nullptr || known == getpid())) {
    return {known, own.nonce.load(std::memory_order_relaxed)};
  }
  // first call, or a child after fork; one of several threads decides
  const std::int64_t id = getpid();
  while (own.busy.test_and_set(std::memory_order_acquire)) {
  }
  if (own.id.load(std::memory_order_relaxed) != id) {
    own.nonce.store(make_identity(id).nonce, std::memory_order_relaxed);
    own.id.store(id, std::memory_order_release);
  }
  own.busy.clear(std::memory_order_release);
  return {id, own.nonce.load(std::memory_order_relaxed)};
}

bool is_alive(const ProcessIdentity& process) noexcept {
  if (process.id <= 0) return false;
  ProcessState state;
  if (!read_state(process.id, state)) return kill(static_cast<pid_t>(process.id), 0) == 0 || errno == EPERM;
  // if a process's first thread has ended, its others may go on, with its memory and its GPU's work
  if ((state.letter == 'Z' || state.letter == 'X') && state.threads <= 1) return false;
  const std::uint64_t start_ticks = process.nonce >> random_bits;
  return start_ticks == 0 || state.start_ticks == 0 || state.start_ticks == start_ticks;
}

}  // namespace penstock::transports
