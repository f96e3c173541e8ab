// How far reading a job has come, for whoever shows it. Knows nothing of what is read.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

#include "analysis/recording/job.hpp"

namespace penstock::analysis {

/// `what` is being done to `done` of `all` records.
using Progress = std::function<void(std::size_t done, std::size_t all, const std::string& what)>;

/// Counts records over all passes; a file's size tells how many it has before it is read.
class Meter {
 public:
  /// `progress` may be empty, and must outlive it.
  Meter(const Job& job, std::size_t passes, const Progress& progress);
  [[nodiscard]] static std::size_t records_in(const std::filesystem::path& file);
  void advance(std::size_t records, const char* what);
  void advance_to(std::size_t done, const char* what) { advance(done > done_ ? done - done_ : 0, what); }
  [[nodiscard]] std::size_t done() const { return done_; }

 private:
  const Progress& progress_;
  std::size_t done_ = 0;
  std::size_t all_ = 0;
};

}  // namespace penstock::analysis
