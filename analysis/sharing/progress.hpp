// Reports the progress of reading a job, for display. Must not know what the records mean.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

#include "analysis/recording/job.hpp"

namespace penstock::analysis {

/// `what` is the current activity; `done` of `all` records are finished.
using Progress = std::function<void(std::size_t done, std::size_t all, const std::string& what)>;

/// Counts records over all passes. A file's size gives its number of records before it is read.
class Meter {
 public:
  /// `progress` may be empty and must outlive the meter.
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
