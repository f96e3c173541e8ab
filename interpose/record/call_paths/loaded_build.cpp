#include "interpose/record/call_paths/loaded_build.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <cstddef>

#include "interpose/record/module_build.hpp"

namespace penstock::record {

trace::ModuleBuild build_of_loaded(std::uint64_t load_bias, std::span<const Elf64_Phdr> headers) noexcept {
  // the kernel reads, because a program may have unmapped, moved or closed any part of itself since it was
  // loaded: that is then an error code and no crash
  const pid_t self = getpid();
  return trace::build_of(headers, [&](const Elf64_Phdr& header, std::span<std::byte> to) {
    if (to.empty()) return true;
    const iovec local{to.data(), to.size()};
    const iovec remote{reinterpret_cast<void*>(load_bias + header.p_vaddr), to.size()};
    return process_vm_readv(self, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(to.size());
  });
}

}  // namespace penstock::record
