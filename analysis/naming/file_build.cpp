#include "analysis/naming/file_build.hpp"

#include <elf.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#include "interpose/record/module_build.hpp"

namespace penstock::analysis {
namespace {

/// Programs have a dozen segments; the loader takes 65,534 at most.
constexpr std::size_t most_segments = 512;

bool read_at(int descriptor, std::uint64_t offset, std::span<std::byte> to) noexcept {
  return offset <= static_cast<std::uint64_t>(std::numeric_limits<off_t>::max()) &&
         ::pread(descriptor, to.data(), to.size(), static_cast<off_t>(offset)) ==
             static_cast<ssize_t>(to.size());
}

}  // namespace

trace::ModuleBuild build_of_file(int descriptor) noexcept {
  Elf64_Ehdr file;
  if (!read_at(descriptor, 0, std::as_writable_bytes(std::span(&file, 1)))) return {};
  if (std::memcmp(file.e_ident, ELFMAG, SELFMAG) != 0 || file.e_ident[EI_CLASS] != ELFCLASS64 ||
      file.e_ident[EI_DATA] != ELFDATA2LSB || file.e_phentsize != sizeof(Elf64_Phdr)) {
    return {};
  }
  std::array<Elf64_Phdr, most_segments> headers;
  if (file.e_phnum > headers.size()) return {};
  const std::span found(headers.data(), file.e_phnum);
  if (!read_at(descriptor, file.e_phoff, std::as_writable_bytes(found))) return {};
  return trace::build_of(found, [descriptor](const Elf64_Phdr& header, std::span<std::byte> to) {
    return read_at(descriptor, header.p_offset, to);
  });
}

}  // namespace penstock::analysis
