// Tells which build of a program or library something is: what is loaded, when a job is recorded, or a file,
// when its functions are to be named. Both go by the same rule, so this is a part of the format and includes
// nothing of the recorder. Knows the ELF format of 64 bits (System V gABI, "Program Header", "Note Section").
#pragma once

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "interpose/record/trace_format.hpp"

namespace penstock::trace {

/// A build-id that begins behind so many bytes of notes is not found. Linkers put it among the first.
inline constexpr std::size_t most_note_bytes = 4096;

/// Returns the build-id among notes; nullopt if there is none. `alignment`: of their segment.
[[nodiscard]] inline std::optional<ModuleBuild> build_id_in(std::span<const std::byte> notes,
                                                            std::uint64_t alignment) noexcept {
  const std::uint64_t unit = alignment == 8 ? 8 : 4;
  const auto padded = [unit](std::uint64_t bytes) { return (bytes + unit - 1) / unit * unit; };
  std::uint64_t at = 0;
  while (at + sizeof(Elf64_Nhdr) <= notes.size()) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes.data() + at, sizeof note);
    // sums of numbers of 32 bits, which cannot wrap around in 64
    const std::uint64_t name = at + sizeof note;
    const std::uint64_t id = at + padded(sizeof note + std::uint64_t{note.n_namesz});
    const std::uint64_t end = id + note.n_descsz;
    if (end > notes.size()) return std::nullopt;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof ELF_NOTE_GNU && note.n_descsz != 0 &&
        std::memcmp(notes.data() + name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0) {
      ModuleBuild build{BuildBy::build_id, static_cast<std::uint8_t>(std::min(note.n_descsz, 255u)), {}};
      std::memcpy(build.id, notes.data() + id, std::min<std::size_t>(note.n_descsz, sizeof build.id));
      return build;
    }
    at = id + padded(note.n_descsz);
  }
  return std::nullopt;
}

/// Returns true if a segment lies in one that is loaded and can be read, in memory as in the file.
[[nodiscard]] inline bool is_loaded(const Elf64_Phdr& part, std::span<const Elf64_Phdr> headers) noexcept {
  return std::any_of(headers.begin(), headers.end(), [&part](const Elf64_Phdr& load) {
    const std::uint64_t at = part.p_vaddr - load.p_vaddr;
    return load.p_type == PT_LOAD && (load.p_flags & PF_R) != 0 && part.p_vaddr >= load.p_vaddr &&
           at <= load.p_filesz && part.p_filesz <= load.p_filesz - at && part.p_offset - load.p_offset == at;
  });
}

/// Returns the checksum (FNV-1a) of what changes when code is added or removed, and stays when a file is
/// copied or stripped: where the loaded parts, the unwind table's index and the dynamic section lie.
[[nodiscard]] inline ModuleBuild layout_of(std::span<const Elf64_Phdr> headers) noexcept {
  std::uint64_t sum = 0xcbf29ce484222325;
  bool is_empty = true;
  for (const Elf64_Phdr& each : headers) {
    if (each.p_type != PT_LOAD && each.p_type != PT_DYNAMIC && each.p_type != PT_GNU_EH_FRAME) continue;
    is_empty = false;
    for (const std::uint64_t value :
         {std::uint64_t{each.p_type}, std::uint64_t{each.p_flags}, each.p_vaddr, each.p_memsz}) {
      for (int bit = 0; bit < 64; bit += 8) sum = (sum ^ (value >> bit & 0xff)) * 0x100000001b3;
    }
  }
  if (is_empty) return {};
  ModuleBuild build{BuildBy::layout, sizeof sum, {}};
  std::memcpy(build.id, &sum, sizeof sum);
  return build;
}

/// Returns the build of what has these program headers. `read(header, to)`: copies the first bytes of a
/// segment, of memory or of a file; false: it cannot be read, and then nothing is known.
template <typename Read>
[[nodiscard]] ModuleBuild build_of(std::span<const Elf64_Phdr> headers, const Read& read) noexcept {
  std::array<std::byte, most_note_bytes> buffer;
  for (const Elf64_Phdr& each : headers) {
    if (each.p_type != PT_NOTE || !is_loaded(each, headers)) continue;
    const std::span notes(buffer.data(), std::min<std::uint64_t>(each.p_filesz, buffer.size()));
    if (!read(each, notes)) return {};
    if (const auto build = build_id_in(notes, each.p_align)) return *build;
  }
  return layout_of(headers);
}

}  // namespace penstock::trace
