#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "analysis/naming/code_names.hpp"
#include "analysis/recording/symbol_names.hpp"

namespace penstock::analysis {
namespace {

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

std::string why_no_lines() {
  return "";
}

/// The file as libdwfl sees it when it is loaded at address 0.
class CodeNames::Reader {
 public:
  Reader(const std::filesystem::path& path, int descriptor) : session_(dwfl_begin(&callbacks())) {
    if (session_ != nullptr) {
      dwfl_report_begin(session_);
      module_ = dwfl_report_elf(session_, path.c_str(), path.c_str(), descriptor, 0, true);
      dwfl_report_end(session_, nullptr, nullptr);
    }
    if (module_ == nullptr) {
      ::close(descriptor);  // otherwise libdwfl owns it
    }
  }
  ~Reader() { dwfl_end(session_); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

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
};

CodeNames::CodeNames(const std::filesystem::path& path, int descriptor)
    : reader_(std::make_unique<Reader>(path, descriptor)) {}
CodeNames::~CodeNames() = default;

std::vector<SourcePlace> CodeNames::places(std::uint64_t address) const {
  return reader_->places(address);
}

}  // namespace penstock::analysis
