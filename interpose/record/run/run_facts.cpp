#include "interpose/record/run/run_facts.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>

#include "transports/host/retried.hpp"

namespace penstock::record {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_text = 200;  ///< of a fact; longer ones are not what they say
constexpr std::size_t longest_packed_refs = std::size_t{64} << 20;  ///< that is searched
constexpr int most_folders = 64;                                    ///< between a program and its work tree

/// Returns the first line of a plain file; empty if there is none. Does not wait for pipes and the like.
std::string first_line_of(const fs::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return {};
  char text[4096];
  struct stat status {};
  ssize_t got = 0;
  if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) {
    got = retried([&] { return ::read(descriptor, text, sizeof text); });
  }
  ::close(descriptor);
  const std::string_view all(text, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return std::string(all.substr(0, all.find('\n')));
}

/// Returns the text behind a word at the line's begin; empty if it begins otherwise.
std::string behind(std::string_view word, const std::string& line) {
  return line.starts_with(word) ? line.substr(word.size()) : "";
}

bool is_commit(const std::string& text) {
  return (text.size() == 40 || text.size() == 64) && std::all_of(text.begin(), text.end(), [](char each) {
           return (each >= '0' && each <= '9') || (each >= 'a' && each <= 'f');
         });
}

std::string commit_or_nothing(std::string text) {
  return is_commit(text) ? text : "";
}

/// Returns the commit of a branch in the file of those that git has packed.
std::string packed_commit(const fs::path& file, const std::string& branch) {
  std::error_code error;
  if (fs::file_size(file, error) > longest_packed_refs || error) return {};
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const std::size_t gap = line.find(' ');
    if (gap != std::string::npos && line.substr(gap + 1) == branch) {
      return commit_or_nothing(line.substr(0, gap));
    }
  }
  return {};
}

/// Returns the commit at the head of a git directory, whose branches may lie in another one's.
std::string commit_at_head(const fs::path& git) {
  const std::string head = first_line_of(git / "HEAD");
  const std::string branch = behind("ref: ", head);
  if (branch.empty()) return commit_or_nothing(head);
  fs::path shared = git;
  if (const std::string common = first_line_of(git / "commondir"); !common.empty()) shared = git / common;
  for (const fs::path& each : {git, shared}) {
    if (std::string commit = commit_or_nothing(first_line_of(each / branch)); !commit.empty()) return commit;
  }
  return packed_commit(shared / "packed-refs", branch);
}

/// Returns the first of these variables that is set to a usable text.
template <std::size_t count>
std::string first_set(const char* const (&names)[count]) {
  for (const char* const name : names) {
    const char* const value = std::getenv(name);
    if (value != nullptr && *value != '\0' && std::string_view(value).size() <= longest_text) return value;
  }
  return {};
}

}  // namespace

std::string commit_of_work_tree(fs::path folder) {
  for (int i = 0; i < most_folders && !folder.empty(); ++i) {
    std::error_code error;
    const fs::path git = folder / ".git";
    const fs::file_type type = fs::status(git, error).type();
    if (type == fs::file_type::directory) return commit_at_head(git);
    if (type == fs::file_type::regular) {  // of a further work tree, or of a submodule
      const std::string elsewhere = behind("gitdir: ", first_line_of(git));
      return elsewhere.empty() ? "" : commit_at_head(folder / elsewhere);
    }
    if (folder == folder.parent_path()) break;
    folder = folder.parent_path();
  }
  return {};
}

std::string commit_of_program() {
  static constexpr const char* names[] = {"GITHUB_SHA", "CI_COMMIT_SHA", "GIT_COMMIT", "BUILDKITE_COMMIT",
                                          "CIRCLE_SHA1"};
  if (std::string commit = first_set(names); !commit.empty()) return commit;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? "" : commit_of_work_tree(program.parent_path());
}

std::string batch_job() {
  static constexpr const char* names[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID"};
  return first_set(names);
}

std::string version_in(const std::string& line) {
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    if (word.find('.') != std::string::npos && word.size() <= longest_text &&
        word.find_first_not_of("0123456789.") == std::string::npos) {
      return word;
    }
  }
  return {};
}

std::string driver_version() {
  std::string version = version_in(first_line_of("/sys/module/nvidia/version"));
  return version.empty() ? version_in(first_line_of("/proc/driver/nvidia/version")) : version;
}

}  // namespace penstock::record
