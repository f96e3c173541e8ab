// Names the frames of call paths, and decides which of them is the call site that people are shown: the first
// one that is the user's own. Each address is named once. Must not know what is reported of a site.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/naming/call_sites.hpp"
#include "analysis/naming/skipped_frames.hpp"

namespace penstock::analysis {

/// An address of a module's code, or a function of Python, as RecordedFrame has them.
struct FrameAddress {
  std::string module;  ///< its path; of Python the function
  trace::ModuleBuild build;
  std::uint64_t address = 0;  ///< relative to the module's own addresses
  std::uint64_t offset = 0;   ///< in the module's file
  [[nodiscard]] bool is_python() const noexcept { return address == trace::python_frame_bit; }
};

/// A function of a path; several of them have one address where some are inlined.
struct NamedFrame {
  SourcePlace place;
  std::string module;  ///< empty for a function of Python
  std::uint64_t offset = 0;
  bool is_skipped = false;
  bool is_python = false;
};

/// Innermost first, and at least one.
struct NamedPath {
  std::vector<NamedFrame> frames;
  /// The first that is not skipped; if all are, the first of Python, or else the first of all.
  std::size_t shown = 0;
  [[nodiscard]] const NamedFrame& call_site() const { return frames[shown]; }
};

/// Thread: one at a time.
class FrameNames {
 public:
  /// `kept`, if any, must outlive the object.
  explicit FrameNames(SkipPatterns patterns, KeptNames* kept = nullptr)
      : call_sites_(kept), skipped_(std::move(patterns)) {}
  /// `addresses`: at least one, innermost first. What called the program's main function is left out.
  [[nodiscard]] NamedPath name(const std::vector<FrameAddress>& addresses);
  [[nodiscard]] const NamedModules& modules() const noexcept { return call_sites_.modules(); }

 private:
  const std::vector<NamedFrame>& frames_at(const FrameAddress& address);

  CallSites call_sites_;
  SkippedFrames skipped_;
  std::map<std::tuple<std::string, trace::ModuleBuild, std::uint64_t>, std::vector<NamedFrame>> known_;
};

}  // namespace penstock::analysis
