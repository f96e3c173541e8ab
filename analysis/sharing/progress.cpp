#include "analysis/sharing/progress.hpp"

#include <algorithm>
#include <cstdint>
#include <system_error>

#include "interpose/record/trace_format.hpp"

namespace penstock::analysis {

Meter::Meter(const Job& job, std::size_t passes, const Progress& progress) : progress_(progress) {
  for (const std::filesystem::path& file : job.files) {
    all_ += passes * records_in(file);
  }
}

std::size_t Meter::records_in(const std::filesystem::path& file) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(file, error);
  return error ? 0 : static_cast<std::size_t>(bytes / trace::record_bytes);
}

void Meter::advance(std::size_t records, const char* what) {
  done_ += records;
  if (progress_) {
    progress_(std::min(done_, all_), all_, what);
  }
}

}  // namespace penstock::analysis
