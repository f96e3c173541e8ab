#include "interpose/record/call_paths/loaded_build.hpp"

#include <cstddef>

#include "interpose/record/module_build.hpp"
#include "interpose/record/python/own_memory.hpp"

namespace penstock::record {

trace::ModuleBuild build_of_loaded(std::uint64_t load_bias, std::span<const Elf64_Phdr> headers) noexcept {
  // the kernel reads, because a program may have unmapped, moved or closed any part of itself since it was
  // loaded: that is then an error code and no crash
  return trace::build_of(headers, [&](const Elf64_Phdr& header, std::span<std::byte> to) {
    return read_own_memory(load_bias + header.p_vaddr, to);
  });
}

}  // namespace penstock::record
