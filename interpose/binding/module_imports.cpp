#include "interpose/binding/module_imports.hpp"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace penstock::interpose {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t call_slot = R_X86_64_JUMP_SLOT;
constexpr std::uint32_t address_slot = R_X86_64_GLOB_DAT;
constexpr std::uint32_t plain_address = R_X86_64_64;
#elif defined(__aarch64__)
constexpr std::uint32_t call_slot = R_AARCH64_JUMP_SLOT;
constexpr std::uint32_t address_slot = R_AARCH64_GLOB_DAT;
constexpr std::uint32_t plain_address = R_AARCH64_ABS64;
#else
#error "the relocations of imported functions, for this processor"
#endif

/// What PT_DYNAMIC says of a module.
struct DynamicTables {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  std::span<const ElfW(Rela)> calls;
  std::span<const ElfW(Rela)> others;
};

const ElfW(Phdr) * header_of(const Module& module, std::uint32_t type) noexcept {
  for (const ElfW(Phdr) & header : module.headers) {
    if (header.p_type == type) return &header;
  }
  return nullptr;
}

DynamicTables tables_of(const Module& module) noexcept {
  DynamicTables tables;
  const ElfW(Phdr)* const header = header_of(module, PT_DYNAMIC);
  if (header == nullptr) return tables;
  // glibc has made some of the section's addresses absolute
  const auto address = [&](const ElfW(Dyn) & entry) {
    return entry.d_un.d_ptr < module.base ? module.base + entry.d_un.d_ptr : entry.d_un.d_ptr;
  };
  const ElfW(Rela)* calls = nullptr;
  const ElfW(Rela)* others = nullptr;
  std::size_t call_bytes = 0;
  std::size_t other_bytes = 0;
  const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(module.base + header->p_vaddr);
  for (; entry->d_tag != DT_NULL; ++entry) {
    switch (entry->d_tag) {
      case DT_SYMTAB:
        tables.symbols = reinterpret_cast<const ElfW(Sym)*>(address(*entry));
        break;
      case DT_STRTAB:
        tables.names = reinterpret_cast<const char*>(address(*entry));
        break;
      case DT_JMPREL:
        calls = reinterpret_cast<const ElfW(Rela)*>(address(*entry));
        break;
      case DT_RELA:
        others = reinterpret_cast<const ElfW(Rela)*>(address(*entry));
        break;
      case DT_PLTRELSZ:
        call_bytes = entry->d_un.d_val;
        break;
      case DT_RELASZ:
        other_bytes = entry->d_un.d_val;
        break;
      default:
        break;
    }
  }
  if (calls != nullptr) tables.calls = {calls, call_bytes / sizeof(ElfW(Rela))};
  if (others != nullptr) tables.others = {others, other_bytes / sizeof(ElfW(Rela))};
  return tables;
}

void add_imports(std::vector<Import>& imports, const Module& module, const DynamicTables& tables,
                 std::span<const ElfW(Rela)> relocations) {
  for (const ElfW(Rela) & relocation : relocations) {
    const std::uint32_t type = ELF64_R_TYPE(relocation.r_info);
    if (type != call_slot && type != address_slot && type != plain_address) continue;
    const ElfW(Sym)& symbol = tables.symbols[ELF64_R_SYM(relocation.r_info)];
    if (symbol.st_shndx != SHN_UNDEF || symbol.st_name == 0) continue;
    imports.push_back(
        {tables.names + symbol.st_name, reinterpret_cast<void**>(module.base + relocation.r_offset)});
  }
}

}  // namespace

std::vector<Module> loaded_modules() {
  std::vector<Module> modules;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* seen) {
        if (info->dlpi_name != nullptr && info->dlpi_name[0] != '\0') {
          static_cast<std::vector<Module>*>(seen)->push_back(
              {info->dlpi_name, info->dlpi_addr, {info->dlpi_phdr, info->dlpi_phnum}});
        }
        return 0;
      },
      &modules);
  return modules;
}

std::vector<Import> imports_of(const Module& module) {
  std::vector<Import> imports;
  const DynamicTables tables = tables_of(module);
  if (tables.symbols == nullptr || tables.names == nullptr) return imports;
  add_imports(imports, module, tables, tables.calls);
  add_imports(imports, module, tables, tables.others);
  return imports;
}

WritableSlots::WritableSlots(const Module& module) noexcept {
  const ElfW(Phdr)* const header = header_of(module, PT_GNU_RELRO);
  if (header == nullptr) return;
  // whole pages, as the loader protects them
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t begin = (module.base + header->p_vaddr) / page * page;
  const std::uintptr_t end = (module.base + header->p_vaddr + header->p_memsz) / page * page;
  if (end <= begin) return;
  begin_ = reinterpret_cast<void*>(begin);
  bytes_ = end - begin;
  are_writable_ = mprotect(begin_, bytes_, PROT_READ | PROT_WRITE) == 0;
}

WritableSlots::~WritableSlots() {
  if (bytes_ != 0) mprotect(begin_, bytes_, PROT_READ);
}

}  // namespace penstock::interpose
