// The file replaces code_names_by_dwarf.cpp in a build that has libelf and no libdw.
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

#include "analysis/naming/code_names.hpp"
#include "analysis/recording/symbol_names.hpp"

namespace penstock::analysis {
namespace {

struct Function {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  const char* symbol = nullptr;  ///< lives as long as the file's Elf
};

/// Returns the functions of the fuller table of symbols, of which one is left in a stripped file, by address.
std::vector<Function> functions_of(Elf* elf) {
  std::vector<Function> functions;
  for (const unsigned kind : {SHT_SYMTAB, SHT_DYNSYM}) {
    for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr;
         section = elf_nextscn(elf, section)) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) == nullptr || header.sh_type != kind || header.sh_entsize == 0) {
        continue;
      }
      Elf_Data* const data = elf_getdata(section, nullptr);
      for (std::size_t i = 0; data != nullptr && i < header.sh_size / header.sh_entsize; ++i) {
        GElf_Sym symbol;
        if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) {
          break;
        }
        const char* const name = elf_strptr(elf, header.sh_link, symbol.st_name);
        if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF && name != nullptr) {
          functions.push_back({symbol.st_value, symbol.st_size, name});
        }
      }
    }
    if (!functions.empty()) {
      break;
    }
  }
  std::stable_sort(functions.begin(), functions.end(),
                   [](const Function& a, const Function& b) { return a.begin < b.begin; });
  return functions;
}

}  // namespace

std::string why_no_lines() {
  return "this build of Penstock has no libdw: call sites are named without file and line";
}

class CodeNames::Reader {
 public:
  explicit Reader(int descriptor) : descriptor_(descriptor) {
    elf_version(EV_CURRENT);
    elf_ = elf_begin(descriptor, ELF_C_READ_MMAP, nullptr);
    if (elf_ != nullptr && elf_kind(elf_) == ELF_K_ELF) {
      functions_ = functions_of(elf_);
    }
  }
  ~Reader() {
    elf_end(elf_);
    ::close(descriptor_);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  [[nodiscard]] SourcePlace place(std::uint64_t address) const {
    SourcePlace place;
    const auto after = std::upper_bound(
        functions_.begin(), functions_.end(), address,
        [](std::uint64_t searched, const Function& function) { return searched < function.begin; });
    if (after != functions_.begin() && address - (after - 1)->begin < (after - 1)->bytes) {
      place.function = readable_symbol((after - 1)->symbol);
      place.qualified = place.function;
    }
    return place;
  }

 private:
  int descriptor_;
  Elf* elf_ = nullptr;
  std::vector<Function> functions_;
};

CodeNames::CodeNames(const std::filesystem::path& /*path*/, int descriptor)
    : reader_(std::make_unique<Reader>(descriptor)) {}
CodeNames::~CodeNames() = default;

std::vector<SourcePlace> CodeNames::places(std::uint64_t address) const {
  return {reader_->place(address)};
}

}  // namespace penstock::analysis
