#include "analysis/naming/call_sites.hpp"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

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

/// Returns the innermost function at an address, inlined ones included, by its name in the source.
std::string function_by_dwarf(Dwarf_Die* unit, Dwarf_Addr address) {
  Dwarf_Die* scopes = nullptr;
  const int count = dwarf_getscopes(unit, address, &scopes);
  std::string name;
  for (int i = 0; i < count && name.empty(); ++i) {
    const int tag = dwarf_tag(&scopes[i]);
    if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) {
      const char* const plain = dwarf_diename(&scopes[i]);
      name = plain != nullptr ? plain : "";
      break;
    }
  }
  std::free(scopes);
  return name;
}

}  // namespace

/// One executable file, as libdwfl sees it when it is loaded at address 0.
class CallSites::Module {
 public:
  explicit Module(const std::filesystem::path& path) : session_(dwfl_begin(&callbacks())) {
    const int descriptor = open_plain_file(path);
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

  [[nodiscard]] SourcePlace name(std::uint64_t address) const {
    SourcePlace place;
    if (module_ == nullptr) {
      return place;
    }
    Dwarf_Addr bias = 0;
    if (Dwarf_Die* const unit = unit_of(module_, address, bias); unit != nullptr) {
      place.function = function_by_dwarf(unit, address - bias);
      if (Dwarf_Line* const line = dwarf_getsrc_die(unit, address - bias); line != nullptr) {
        if (const char* const file = dwarf_linesrc(line, nullptr, nullptr); file != nullptr)
          place.file = file;
        dwarf_lineno(line, &place.line);
      }
    }
    if (place.function.empty() || place.function == "operator()") {
      if (const char* symbol = dwfl_module_addrname(module_, address); symbol != nullptr) {
        place.function = readable_symbol(symbol);
      }
    }
    return place;
  }

 private:
  static const Dwfl_Callbacks& callbacks() {
    static const Dwfl_Callbacks callbacks{nullptr, dwfl_standard_find_debuginfo, dwfl_offline_section_address,
                                          nullptr};
    return callbacks;
  }

  Dwfl* session_ = nullptr;
  Dwfl_Module* module_ = nullptr;
};

CallSites::CallSites() {
  // libdwfl would query the distribution's servers for debug information, for minutes
  ::unsetenv("DEBUGINFOD_URLS");
}
CallSites::~CallSites() = default;

SourcePlace CallSites::name(const std::filesystem::path& module, std::uint64_t return_address) {
  std::unique_ptr<Module>& opened = modules_[module.string()];
  if (opened == nullptr) {
    opened = std::make_unique<Module>(module);
  }
  return opened->name(return_address == 0 ? 0 : return_address - 1);
}

}  // namespace penstock::analysis
