// A process has one recording, so each test records in a child process of its own and looks at what it left.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "interpose/record/recorder.hpp"

namespace penstock::test {

struct ChildResult {
  int exit_code = -1;  ///< 0: all went well and no EXPECT failed in the child
  int signal = 0;      ///< that ended it
  std::string errors;  ///< its stderr, but for …
  std::string ending;  ///< … the line that ends a recording
};

/// Forks; the child runs `work` and exits.
[[nodiscard]] ChildResult in_child(const std::function<void()>& work);

/// A new folder that goes with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Where rank 0's recording is when it was recorded with identity().
  [[nodiscard]] std::filesystem::path recording() const { return path_ / "out" / "rank-0.penstock"; }
  /// Rank 0 of 1, into `path()/out`, without GPU activity.
  [[nodiscard]] record::Identity identity() const;

 private:
  std::filesystem::path path_;
  std::string output_;
};

/// A library of the build, found from where the program lies, so that a build may be moved.
[[nodiscard]] std::string built_library(const std::string& name);

[[nodiscard]] std::size_t count_of(const std::string& what, const std::string& in);

}  // namespace penstock::test
