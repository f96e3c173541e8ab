#include "analysis/naming/call_sites.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "analysis/naming/code_names.hpp"
#include "analysis/naming/file_build.hpp"

namespace penstock::analysis {
namespace {

/// Opens a plain file; returns -1 for anything else. A recording may name any path: opening a pipe would
/// block, and a device would be read.
int open_plain_file(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  struct stat status {};
  if (descriptor >= 0 && (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))) {
    ::close(descriptor);
    return -1;
  }
  return descriptor;
}

}  // namespace

/// One executable file.
class CallSites::Module {
 public:
  explicit Module(const std::filesystem::path& path) {
    const int descriptor = open_plain_file(path);
    is_there_ = descriptor >= 0;
    if (is_there_) {
      build_ = build_of_file(descriptor);
      names_.emplace(path, descriptor);
    }
  }

  /// Returns what is known of the file if this build ran.
  [[nodiscard]] NamedBy named_by(const trace::ModuleBuild& build) const noexcept {
    if (!is_there_) {
      return NamedBy::same_build;
    }
    if (build.by == trace::BuildBy::unknown) {
      return NamedBy::unknown_build;
    }
    if (build != build_) {
      return NamedBy::other_build;
    }
    return build.by == trace::BuildBy::build_id ? NamedBy::same_build : NamedBy::unknown_build;
  }

  [[nodiscard]] std::vector<SourcePlace> places(std::uint64_t address) const {
    return names_ ? names_->places(address) : std::vector<SourcePlace>(1);
  }

 private:
  std::optional<CodeNames> names_;
  bool is_there_ = false;
  trace::ModuleBuild build_{};
};

std::vector<Flaw> flaws_of_other_builds(const NamedModules& modules) {
  std::vector<Flaw> flaws;
  for (const auto& [path, named_by] : modules) {
    if (named_by == NamedBy::other_build) {
      flaws.push_back({path, std::nullopt,
                       "has been rebuilt or replaced since the recording, so its functions are not named"});
    }
  }
  return flaws;
}

CallSites::CallSites(KeptNames* kept) : kept_(kept) {
  // libdwfl would query the distribution's servers for debug information, for minutes
  ::unsetenv("DEBUGINFOD_URLS");
}
CallSites::~CallSites() = default;

std::vector<SourcePlace> CallSites::places(const std::filesystem::path& module,
                                           const trace::ModuleBuild& build, std::uint64_t return_address) {
  const Module& file = open(module);
  NamedBy named_by = file.named_by(build);
  std::vector<SourcePlace> places(1);
  if (named_by != NamedBy::other_build) {
    places = file.places(return_address == 0 ? 0 : return_address - 1);
  }
  if (kept_ != nullptr) {
    const CodeAddress code{module.string(), build, return_address};
    const std::vector<SourcePlace>* const kept = kept_->find(code);
    if (kept != nullptr && places.front().line == 0) {
      places = *kept;
      named_by = NamedBy::same_build;
    } else if (!places.front().function.empty()) {
      kept_->keep(code, places);
    }
  }
  NamedBy& worst = named_by_.try_emplace(module.string(), named_by).first->second;
  worst = std::max(worst, named_by);
  return places;
}

CallSites::Module& CallSites::open(const std::filesystem::path& module) {
  std::unique_ptr<Module>& opened = modules_[module.string()];
  if (opened == nullptr) {
    opened = std::make_unique<Module>(module);
  }
  return *opened;
}

}  // namespace penstock::analysis
