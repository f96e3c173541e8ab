#include "analysis/cli/launch/library_search.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>

#include "analysis/cli/launch/split.hpp"

namespace penstock::cli {
namespace {

void add_configured_folders(const std::filesystem::path& file, std::vector<std::string>& to, int depth) {
  constexpr int deepest = 4;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    line.erase(std::min(line.find('#'), line.size()));
    line.erase(line.find_last_not_of(" \t") + 1);
    if (!line.starts_with("include ")) {
      if (line.starts_with('/')) {
        to.push_back(line);
      }
      continue;
    }
    // the only pattern of Debian and Red Hat: include /etc/ld.so.conf.d/*.conf
    const std::filesystem::path pattern = line.substr(line.find('/'));
    std::set<std::filesystem::path> included;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(pattern.parent_path(), error), end; !error && entry != end;
         entry.increment(error)) {
      if (entry->path().extension() == pattern.extension()) {
        included.insert(entry->path());
      }
    }
    for (const std::filesystem::path& each : included) {
      if (depth < deepest) {
        add_configured_folders(each, to, depth + 1);
      }
    }
  }
}

const std::vector<std::string>& system_folders() {
  static const std::vector<std::string> folders = [] {
    std::vector<std::string> list;
    add_configured_folders("/etc/ld.so.conf", list, 0);
    list.insert(list.end(), {"/lib64", "/usr/lib64", "/lib", "/usr/lib"});
    return list;
  }();
  return folders;
}

}  // namespace

void add_run_paths(std::string_view list, const std::filesystem::path& file, std::vector<std::string>& to) {
  std::error_code ignored;
  const std::string origin = std::filesystem::canonical(file, ignored).parent_path().string();
  for (std::string path : split(list, ':')) {
    for (const std::string_view token : {"${ORIGIN}", "$ORIGIN"}) {
      if (const std::size_t at = path.find(token); at != std::string::npos) {
        path.replace(at, token.size(), origin);
      }
    }
    to.push_back(std::move(path));
  }
}

std::filesystem::path find_library(const std::string& library, const std::vector<std::string>& run_paths) {
  std::error_code ignored;
  if (library.find('/') != std::string::npos) {
    return std::filesystem::exists(library, ignored) ? std::filesystem::path(library)
                                                     : std::filesystem::path();
  }
  std::vector<std::string> folders = run_paths;
  if (const char* named = std::getenv("LD_LIBRARY_PATH"); named != nullptr) {
    for (std::string& each : split(named, ':')) {
      folders.push_back(std::move(each));
    }
  }
  folders.insert(folders.end(), system_folders().begin(), system_folders().end());
  for (const std::string& folder : folders) {
    std::filesystem::path candidate = std::filesystem::path(folder) / library;
    if (std::filesystem::exists(candidate, ignored)) {
      return candidate;
    }
  }
  return {};
}

}  // namespace penstock::cli
