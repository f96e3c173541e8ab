// What the strings and addresses of one rank's recording are called in an export: valid UTF-8 whatever the
// recording holds, kernels demangled, call sites named. Each is worked out once. Knows no output format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analysis/figures/call_sites.hpp"
#include "analysis/recording/rank_trace.hpp"

namespace penstock::analysis::exports {

/// What is no UTF-8 and what is a control character (but tabs and ends of lines) becomes U+FFFD.
[[nodiscard]] std::string clean_text(std::string_view text);

struct NamedSite {
  std::string text;  ///< "exchange (simulation.cpp:77)", or "app+0x12ab"; empty when nothing is known
  std::string file;  ///< as the compiler was given it; empty when it is not known
  int line = 0;
};

/// References stay valid as long as the object. Thread: one.
class RankNames {
 public:
  RankNames(const RankTrace& rank, CallSites& call_sites) : rank_(rank), call_sites_(call_sites) {}

  [[nodiscard]] const std::string& text(std::uint32_t id);  ///< empty for no_string
  [[nodiscard]] const std::string& activity(const trace::DeviceActivity& activity);
  [[nodiscard]] const std::string& communicator(std::uint32_t local_id);
  [[nodiscard]] const NamedSite& site(std::uint64_t address);

 private:
  const RankTrace& rank_;
  CallSites& call_sites_;
  std::unordered_map<std::uint32_t, std::string> texts_;
  std::unordered_map<std::uint32_t, std::string> kernels_;
  std::unordered_map<std::uint32_t, std::string> communicators_;
  std::unordered_map<std::uint64_t, NamedSite> sites_;
};

}  // namespace penstock::analysis::exports
