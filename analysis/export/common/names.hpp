// Names the strings and addresses of one rank's recording for an export: valid UTF-8 whatever the recording
// contains, kernels demangled, call sites resolved. Each name is computed once. Must not know output formats.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analysis/naming/frame_names.hpp"
#include "analysis/recording/rank_trace.hpp"

namespace penstock::analysis::exports {

/// Replaces invalid UTF-8 and control characters (except tabs and line ends) with U+FFFD.
[[nodiscard]] std::string clean_text(std::string_view text);

struct NamedSite {
  std::string text;  ///< "exchange (simulation.cpp:77)", or "app+0x12ab"; empty if unknown
  std::string file;  ///< as the compiler received it; empty if unknown
  int line = 0;
};

/// References stay valid as long as the object. Thread: one.
class RankNames {
 public:
  RankNames(const RankTrace& rank, FrameNames& frame_names) : rank_(rank), frame_names_(frame_names) {}

  [[nodiscard]] const std::string& text(std::uint32_t id);  ///< empty for no_string
  [[nodiscard]] const std::string& activity(const trace::DeviceActivity& activity);
  [[nodiscard]] const std::string& communicator(std::uint32_t local_id);
  [[nodiscard]] const NamedSite& site(std::uint64_t call_site);

 private:
  const RankTrace& rank_;
  FrameNames& frame_names_;
  std::unordered_map<std::uint32_t, std::string> texts_;
  std::unordered_map<std::uint32_t, std::string> kernels_;
  std::unordered_map<std::uint32_t, std::string> communicators_;
  std::unordered_map<std::uint64_t, NamedSite> sites_;
};

}  // namespace penstock::analysis::exports
