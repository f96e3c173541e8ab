#include "analysis/naming/call_sites.hpp"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "analysis/naming/file_build.hpp"
#include "analysis/recording/symbol_names.hpp"

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

/// Returns the compilation unit that contains an address of the module; null if there is none or it has no
/// debug information. `bias`: the load address of that information.
Dwarf_Die* unit_of(Dwfl_Module* module, Dwarf_Addr address, Dwarf_Addr& bias) {
  if (Dwarf_Die* const unit = dwfl_module_addrdie(module, address, &bias); unit != nullptr) return unit;
  // dwfl_module_addrdie() uses .debug_aranges, which Clang does not write.
  Dwarf_Die* unit = nullptr;
  while ((unit = dwfl_module_nextcu(module, unit, &bias)) != nullptr) {
    if (dwarf_haspc(unit, address - bias) > 0) return unit;
  }
  return nullptr;
}

bool is_function(Dwarf_Die& scope) {
  const int tag = dwarf_tag(&scope);
  return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

/// Returns the scopes around an address, from the innermost outwards as they are nested in the code.
std::vector<Dwarf_Die> scopes_at(Dwarf_Die* unit, Dwarf_Addr address) {
  Dwarf_Die* found = nullptr;
  if (dwarf_getscopes(unit, address, &found) <= 0) return {};
  Dwarf_Die innermost = found[0];
  std::free(found);
  // dwarf_getscopes() goes on with where an inlined function was written, this with where it was inlined
  const int count = dwarf_getscopes_die(&innermost, &found);
  if (count <= 0) return {innermost};
  std::vector<Dwarf_Die> scopes(found, found + count);
  std::free(found);
  return scopes;
}

std::string text_of(Dwarf_Die& die, unsigned name) {
  Dwarf_Attribute attribute;
  const char* const text = dwarf_formstring(dwarf_attr_integrate(&die, name, &attribute));
  return text == nullptr ? "" : text;
}

/// Returns where an inlined function is called.
SourcePlace call_of_inlined(Dwarf_Die* unit, Dwarf_Die& inlined) {
  SourcePlace place;
  Dwarf_Attribute attribute;
  Dwarf_Files* files = nullptr;
  Dwarf_Word number = 0;
  if (dwarf_formudata(dwarf_attr(&inlined, DW_AT_call_line, &attribute), &number) == 0)
    place.line = static_cast<int>(number);
  if (dwarf_formudata(dwarf_attr(&inlined, DW_AT_call_file, &attribute), &number) == 0 &&
      dwarf_getsrcfiles(unit, &files, nullptr) == 0) {
    const char* const file = dwarf_filesrc(files, number, nullptr, nullptr);
    if (file != nullptr) place.file = file;
  }
  return place;
}

/// Returns the functions at an address, inlined ones first, by their names in the source.
std::vector<SourcePlace> places_by_dwarf(Dwarf_Die* unit, Dwarf_Addr address) {
  std::vector<SourcePlace> places;
  SourcePlace next;
  if (Dwarf_Line* const line = dwarf_getsrc_die(unit, address); line != nullptr) {
    if (const char* const file = dwarf_linesrc(line, nullptr, nullptr); file != nullptr) next.file = file;
    dwarf_lineno(line, &next.line);
  }
  for (Dwarf_Die& scope : scopes_at(unit, address)) {
    if (!is_function(scope)) continue;
    const char* const plain = dwarf_diename(&scope);
    next.function = plain != nullptr ? plain : "";
    next.qualified = readable_symbol(text_of(scope, DW_AT_linkage_name));
    places.push_back(std::move(next));
    if (dwarf_tag(&scope) == DW_TAG_subprogram) break;
    next = call_of_inlined(unit, scope);
  }
  if (places.empty()) places.push_back(std::move(next));
  return places;
}

}  // namespace

/// One executable file, as libdwfl sees it when it is loaded at address 0.
class CallSites::Module {
 public:
  explicit Module(const std::filesystem::path& path) : session_(dwfl_begin(&callbacks())) {
    const int descriptor = open_plain_file(path);
    is_there_ = descriptor >= 0;
    if (is_there_) {
      build_ = build_of_file(descriptor);
    }
    if (session_ == nullptr || descriptor < 0) {
      return;
    }
    dwfl_report_begin(session_);
    module_ = dwfl_report_elf(session_, path.c_str(), path.c_str(), descriptor, 0, true);
    dwfl_report_end(session_, nullptr, nullptr);
    if (module_ == nullptr) {
      ::close(descriptor);  // otherwise libdwfl owns it
    }
  }
  ~Module() { dwfl_end(session_); }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

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
    std::vector<SourcePlace> places(1);
    if (module_ == nullptr) {
      return places;
    }
    Dwarf_Addr bias = 0;
    if (Dwarf_Die* const unit = unit_of(module_, address, bias); unit != nullptr) {
      places = places_by_dwarf(unit, address - bias);
    }
    if (const char* const symbol = dwfl_module_addrname(module_, address); symbol != nullptr) {
      SourcePlace& outermost = places.back();
      const std::string readable = readable_symbol(symbol);
      if (outermost.qualified.empty()) {
        outermost.qualified = readable;
      }
      for (SourcePlace& each : places) {
        if (each.function.empty() || each.function == "operator()") {
          each.function = readable;
        }
      }
    }
    return places;
  }

 private:
  static const Dwfl_Callbacks& callbacks() {
    static const Dwfl_Callbacks callbacks{nullptr, dwfl_standard_find_debuginfo, dwfl_offline_section_address,
                                          nullptr};
    return callbacks;
  }

  Dwfl* session_ = nullptr;
  Dwfl_Module* module_ = nullptr;
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
