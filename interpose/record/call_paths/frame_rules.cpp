#include "interpose/record/call_paths/frame_rules.hpp"

#include <link.h>

#include "interpose/record/call_paths/unwind_table.hpp"

namespace penstock::record {
namespace {

struct Search {
  std::uint64_t address;  ///< of the call, not of what follows it
  CodeAt found;
};

/// Returns the mapped part of a module that holds an address.
ByteRange part_with(const dl_phdr_info& object, std::uint64_t address, std::uint32_t flags) noexcept {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const auto& segment = object.dlpi_phdr[i];
    const std::uint64_t begin = object.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && (segment.p_flags & flags) == flags && begin <= address &&
        address - begin < segment.p_memsz)
      return {begin, begin + segment.p_memsz};
  }
  return {};
}

int look_into(dl_phdr_info* object, std::size_t, void* out) noexcept {
  Search& search = *static_cast<Search*>(out);
  if (part_with(*object, search.address, PF_X).begin == 0) return 0;
  search.found.is_code = true;
#if defined(__x86_64__)
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    if (object->dlpi_phdr[i].p_type != PT_GNU_EH_FRAME) continue;
    const std::uint64_t index = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
    const ByteRange readable = part_with(*object, index, PF_R);
    search.found.rule = rule_in_table(index, readable, search.address);
  }
#else
  search.found.rule = frame_pointer_rule;
#endif
  return 1;
}

}  // namespace

CodeAt code_at(std::uint64_t return_address) noexcept {
  Search search{return_address - 1, {}};
  if (return_address != 0) dl_iterate_phdr(look_into, &search);
  return search.found;
}

}  // namespace penstock::record
