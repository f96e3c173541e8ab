// Reports what is wrong with a recording: a flaw names the file and the byte. A flaw that leaves the rest
// usable becomes a warning in the report; any other flaw is thrown as a TraceError. Must not know what is
// read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace penstock::analysis {

struct Flaw {
  std::filesystem::path file;
  std::optional<std::uint64_t> offset_bytes;  ///< into the file; none if the flaw concerns the whole file
  std::string what;
  bool loses_records = false;  ///< records that figures are made of are missing

  template <typename Archive>
  void exchange(Archive& archive) {
    archive(file, offset_bytes, what, loses_records);
  }
};

/// Returns "penstock-out/rank-3.penstock: at byte 4096: …".
[[nodiscard]] std::string describe(const Flaw& flaw);

/// The only exception type of the analysis: nothing can be read from this source.
class TraceError : public std::runtime_error {
 public:
  explicit TraceError(Flaw flaw) : std::runtime_error(describe(flaw)), flaw_(std::move(flaw)) {}
  [[nodiscard]] const Flaw& flaw() const noexcept { return flaw_; }

 private:
  Flaw flaw_;
};

}  // namespace penstock::analysis
