#include "analysis/recording/liveness.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <ctime>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

namespace penstock::analysis {
namespace {

std::uint64_t clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

/// Returns when a process began, in the recorder's clock; nullopt: there is none, or it has ended already and
/// its parent has not asked how.
std::optional<std::uint64_t> begin_of_process_ns(std::int64_t process_id) {
  std::ifstream file(fmt::format("/proc/{}/stat", process_id));
  std::string text;
  if (!std::getline(file, text) || text.rfind(')') == std::string::npos) {
    return std::nullopt;
  }
  std::istringstream fields(text.substr(text.rfind(')') + 1));  // the name before it may hold anything
  std::string state;
  fields >> state;
  std::uint64_t ticks = 0;
  std::string skipped;
  for (int field = 4; field < 22; ++field) {
    fields >> skipped;
  }
  if (!(fields >> ticks) || state == "Z" || state == "X") {
    return std::nullopt;
  }
  const std::uint64_t since_boot_ns =
      ticks * (1'000'000'000 / static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK)));
  const std::uint64_t asleep_ns = clock_ns(CLOCK_BOOTTIME) - clock_ns(CLOCK_MONOTONIC);
  return since_boot_ns > asleep_ns ? since_boot_ns - asleep_ns : 0;
}

bool is_of_this_host(const trace::FileHeader& header) {
  std::array<char, sizeof header.host_name> own{};
  gethostname(own.data(), own.size() - 1);
  return std::string_view(own.data()) == header.host_name;
}

}  // namespace

bool is_running(const trace::FileHeader& header) {
  if (is_of_this_host(header)) {
    // a process that began after the recording has the number of one that is gone
    const std::optional<std::uint64_t> began_ns = begin_of_process_ns(header.process_id);
    return began_ns && *began_ns <= header.begin_ns;
  }
  constexpr std::uint64_t silence_ns = 5'000'000'000;
  return header.alive_ns != 0 && header.alive_ns + header.realtime_offset_ns + silence_ns > realtime_now_ns();
}

std::uint64_t realtime_now_ns() {
  return clock_ns(CLOCK_REALTIME);
}

}  // namespace penstock::analysis
