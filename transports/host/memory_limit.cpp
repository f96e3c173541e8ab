#include "transports/host/memory_limit.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>

namespace penstock::transports {
namespace {

constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t longest_path = 4096;

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

/// Returns the number in a file; `none` if there is no file, or another word ("max").
std::uint64_t number_in(const char* path) noexcept {
  const File file(std::fopen(path, "re"));
  unsigned long long number = 0;
  return file != nullptr && std::fscanf(file.get(), "%llu", &number) == 1 ? number : none;
}

/// Returns the least of the limits of a group and of those around it. In a container the path that the kernel
/// tells may be that outside, which is not there: what is there counts.
std::uint64_t least_limit(const char* hierarchy, char* group, const char* file_name) noexcept {
  std::uint64_t least = none;
  for (;;) {
    char path[2 * longest_path];
    std::snprintf(path, sizeof path, "%s%s/%s", hierarchy, group, file_name);
    least = std::min(least, number_in(path));
    char* const last = std::strrchr(group, '/');
    if (last == nullptr) return least;
    *last = '\0';
  }
}

std::uint64_t group_limit(const char* root) noexcept {
  char path[longest_path];
  std::snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
  const File groups(std::fopen(path, "re"));
  if (groups == nullptr) return none;
  std::uint64_t least = none;
  char line[longest_path];
  char hierarchy[longest_path];
  while (std::fgets(line, sizeof line, groups.get()) != nullptr) {
    line[std::strcspn(line, "\n")] = '\0';
    // number:controllers:path, without controllers in version 2
    char* const controllers = std::strchr(line, ':');
    char* const group = controllers != nullptr ? std::strchr(controllers + 1, ':') : nullptr;
    if (group == nullptr) continue;
    *group = '\0';
    if (controllers[1] == '\0') {
      std::snprintf(hierarchy, sizeof hierarchy, "%s/sys/fs/cgroup", root);
      least = std::min(least, least_limit(hierarchy, group + 1, "memory.max"));
    } else if (std::strcmp(controllers + 1, "memory") == 0) {
      std::snprintf(hierarchy, sizeof hierarchy, "%s/sys/fs/cgroup/memory", root);
      least = std::min(least, least_limit(hierarchy, group + 1, "memory.limit_in_bytes"));
    }
  }
  return least;
}

}  // namespace

std::uint64_t memory_limit_bytes(const char* root) noexcept {
  const auto machine =
      static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return std::min(machine, group_limit(root));
}

}  // namespace penstock::transports
