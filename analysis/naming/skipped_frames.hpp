// Decides which functions of a call path only pass calls on: libraries' and bindings' wrappers of MPI, by a
// list, and what the user names. Must not know how functions are found.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/naming/call_sites.hpp"

namespace penstock::analysis {

/// The user's choice.
struct SkipPatterns {
  std::vector<std::string> more;  ///< besides those of the list
  bool with_list = true;
};

/// The list: patterns of functions, source files and modules. analysis/README.md has it, too.
[[nodiscard]] const std::vector<std::string_view>& wrapper_patterns();
/// The same for functions of Python: those of its library, and of packages.
[[nodiscard]] const std::vector<std::string_view>& python_wrapper_patterns();

/// A pattern has `*` and `?`, and stands for a function (with its namespaces or without), a source file or a
/// module. A path may begin behind any "/" of it. Thread: any.
class SkippedFrames {
 public:
  explicit SkippedFrames(SkipPatterns patterns) : patterns_(std::move(patterns)) {}
  [[nodiscard]] bool skips(const SourcePlace& place, std::string_view module) const;
  [[nodiscard]] bool skips_python(const SourcePlace& place) const;

 private:
  [[nodiscard]] bool skips(const SourcePlace& place, std::string_view module,
                           const std::vector<std::string_view>& list) const;

  SkipPatterns patterns_;
};

}  // namespace penstock::analysis
