#include "analysis/recording/flaw.hpp"

#include <fmt/format.h>

namespace penstock::analysis {

std::string describe(const Flaw& flaw) {
  if (flaw.offset_bytes) {
    return fmt::format("{}: at byte {}: {}", flaw.file.string(), *flaw.offset_bytes, flaw.what);
  }
  return fmt::format("{}: {}", flaw.file.string(), flaw.what);
}

}  // namespace penstock::analysis
