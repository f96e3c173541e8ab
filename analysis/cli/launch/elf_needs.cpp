#include "analysis/cli/launch/elf_needs.hpp"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

#include <cstddef>

#include "analysis/cli/launch/library_search.hpp"

namespace penstock::cli {
namespace {

/// Owns a file descriptor and libelf's view of it.
class ElfFile {
 public:
  explicit ElfFile(const std::filesystem::path& file)
      : descriptor_(::open(file.c_str(), O_RDONLY | O_CLOEXEC)) {
    elf_version(EV_CURRENT);
    elf_ = descriptor_ < 0 ? nullptr : elf_begin(descriptor_, ELF_C_READ_MMAP, nullptr);
  }
  ~ElfFile() {
    elf_end(elf_);
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
  }
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;
  [[nodiscard]] Elf* get() const { return elf_ != nullptr && elf_kind(elf_) == ELF_K_ELF ? elf_ : nullptr; }

 private:
  int descriptor_;
  Elf* elf_;
};

}  // namespace

std::optional<ElfNeeds> read_needs(const std::filesystem::path& file) {
  const ElfFile opened(file);
  Elf* const elf = opened.get();
  if (elf == nullptr) {
    return std::nullopt;
  }
  ElfNeeds needs;
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr;
       section = elf_nextscn(elf, section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_DYNAMIC ||
        header.sh_entsize == 0) {
      continue;
    }
    Elf_Data* const data = elf_getdata(section, nullptr);
    for (std::size_t i = 0; data != nullptr && i < header.sh_size / header.sh_entsize; ++i) {
      GElf_Dyn entry;
      if (gelf_getdyn(data, static_cast<int>(i), &entry) == nullptr) {
        break;
      }
      const bool is_text = entry.d_tag == DT_NEEDED || entry.d_tag == DT_RUNPATH || entry.d_tag == DT_RPATH;
      const char* const text = is_text ? elf_strptr(elf, header.sh_link, entry.d_un.d_val) : nullptr;
      if (text == nullptr) {
        continue;
      }
      if (entry.d_tag == DT_NEEDED) {
        needs.libraries.emplace_back(text);
      } else {
        add_run_paths(text, file, needs.run_paths);
      }
    }
  }
  return needs;
}

std::string why_no_needs() {
  return "";
}

}  // namespace penstock::cli
