#include "child_process.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace penstock::test {

ChildResult in_child(const std::function<void()>& work) {
  std::FILE* errors = std::tmpfile();
  if (errors == nullptr) throw std::runtime_error("no temporary file");
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    dup2(fileno(errors), STDERR_FILENO);
    work();
    std::exit(testing::Test::HasFailure() ? 1 : 0);
  }
  ChildResult result;
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) throw std::runtime_error("no child");
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  std::rewind(errors);
  char buffer[4096];
  while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, errors))
    result.errors.append(buffer, count);
  std::fclose(errors);
  if (const std::size_t at = result.errors.find("penstock: recorded "); at != std::string::npos) {
    const std::size_t behind = result.errors.find('\n', at) + 1;
    result.ending = result.errors.substr(at, behind - at);
    result.errors.erase(at, behind - at);
  }
  return result;
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "penstock-test-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = pattern;
  output_ = (path_ / "out").string();
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

record::Identity TemporaryFolder::identity() const {
  record::Identity identity;
  identity.directory = output_;
  identity.limit_bytes = 64u << 20;
  identity.with_gpu_activity = false;
  return identity;
}

std::string built_library(const std::string& name) {
  std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  for (; folder != folder.root_path(); folder = folder.parent_path()) {
    for (const std::filesystem::path& place : {folder / name, folder / "lib" / name}) {
      if (std::filesystem::exists(place)) return place.string();
    }
  }
  throw std::runtime_error(name + " was not built");
}

std::size_t count_of(const std::string& what, const std::string& in) {
  std::size_t count = 0;
  for (std::size_t at = in.find(what); at != std::string::npos; at = in.find(what, at + what.size())) ++count;
  return count;
}

}  // namespace penstock::test
