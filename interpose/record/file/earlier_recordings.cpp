#include "interpose/record/file/earlier_recordings.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>
#include <vector>

#include "interpose/record/trace_format.hpp"
#include "transports/host/retried.hpp"

namespace penstock::record {
namespace {

constexpr std::int64_t ns_of_a_second = 1'000'000'000;
/// File systems take the time of a change from a clock that the kernel advances once per tick, 10 ms at most.
constexpr std::int64_t file_clock_lag_ns = 10'000'000;

std::int64_t clock_ns(clockid_t clock) noexcept {
  timespec now{};
  ::clock_gettime(clock, &now);
  return now.tv_sec * ns_of_a_second + now.tv_nsec;
}

/// Returns when this process was made (CLOCK_REALTIME), at most a kernel tick (10 ms) too early. 0: unknown.
std::int64_t own_begin_ns() noexcept {
  std::FILE* const file = std::fopen("/proc/self/stat", "re");
  if (file == nullptr) return 0;
  char line[1024] = "";
  const std::size_t bytes = std::fread(line, 1, sizeof line - 1, file);
  std::fclose(file);
  line[bytes] = '\0';
  // the start time is 20 fields behind the program's name, which may contain any character
  const char* field = std::strrchr(line, ')');
  for (int skip = 0; field != nullptr && skip < 20; ++skip) field = std::strchr(field + 1, ' ');
  if (field == nullptr) return 0;
  const long long ticks = std::strtoll(field, nullptr, 10);
  const std::int64_t since_boot_ns = ticks * (ns_of_a_second / ::sysconf(_SC_CLK_TCK));
  return clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME) + since_boot_ns;
}

bool is_recording(const std::filesystem::path& file) {
  return file.extension() == ".penstock" && file.filename().string().starts_with("rank-");
}

/// If the file is no complete recording, for example one that is being made, its last change counts.
bool began_before(const std::filesystem::path& path, std::int64_t time_ns) {
  trace::FileHeader header{};
  const int file = retried([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); });
  if (file < 0) return false;
  struct stat status {};
  const bool is_known = ::fstat(file, &status) == 0;
  const ssize_t bytes = retried([&] { return ::read(file, &header, sizeof header); });
  ::close(file);
  if (bytes == static_cast<ssize_t>(sizeof header) && header.magic == trace::file_magic &&
      header.begin_ns != 0)
    return static_cast<std::int64_t>(header.begin_ns + header.realtime_offset_ns) < time_ns;
  const std::int64_t changed_ns = status.st_mtim.tv_sec * ns_of_a_second + status.st_mtim.tv_nsec;
  return is_known && changed_ns + file_clock_lag_ns < time_ns;
}

std::vector<std::filesystem::path> earlier_recordings_in(const std::filesystem::path& directory) {
  const std::int64_t own_ns = own_begin_ns();
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    if (is_recording(entry->path()) && began_before(entry->path(), own_ns)) found.push_back(entry->path());
  }
  return found;
}

}  // namespace

std::filesystem::path set_earlier_recordings_aside(const std::filesystem::path& directory,
                                                   const std::filesystem::path& own, Looks looks) {
  std::error_code unknown;
  const auto must_look = [&] { return looks == Looks::always || std::filesystem::exists(own, unknown); };
  if (!must_look()) return {};
  const int folder = retried([&] { return ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (folder < 0) return {};
  std::filesystem::path aside;
  // without the lock, which some file systems lack, two ranks might each move some
  if (retried([&] { return ::flock(folder, LOCK_EX); }) == 0 && must_look()) {
    const std::vector<std::filesystem::path> earlier = earlier_recordings_in(directory);
    std::error_code error;
    for (int number = 1; !earlier.empty() && aside.empty() && !error; ++number) {
      const std::filesystem::path candidate = directory / ("earlier-" + std::to_string(number));
      if (std::filesystem::create_directory(candidate, error)) aside = candidate;
    }
    if (!aside.empty()) {
      for (const std::filesystem::path& each : earlier) {
        std::filesystem::rename(each, aside / each.filename(), error);
      }
      // What `penstock report` has kept of their names, if it has.
      std::filesystem::rename(directory / "names.json", aside / "names.json", error);
    }
  }
  ::close(folder);
  return aside;
}

}  // namespace penstock::record
