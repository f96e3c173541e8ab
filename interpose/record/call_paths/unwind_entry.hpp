// Finds the entry of a function in a module's unwind table (.eh_frame) by the table's index (.eh_frame_hdr),
// and reads it but for its instructions. Reads within a mapped range only, whatever the tables say.
#pragma once

#include <cstdint>

#include "interpose/record/call_paths/unwind_bytes.hpp"

namespace penstock::record {

/// The column of the return address on x86-64.
inline constexpr std::uint64_t return_address_column = 16;

/// The common part of functions' entries, and the entry of one function.
struct UnwindEntry {
  std::uint64_t code_unit = 1;
  std::int64_t data_unit = 1;
  std::uint8_t encoding = pointer_encoding::absolute_8;
  bool has_augmentation = false;
  bool is_of_signal = false;
  ByteRange common_instructions;
  std::uint64_t function = 0;
  std::uint64_t function_bytes = 0;
  ByteRange instructions;
};

/// Returns the place of the entry for the function that may hold `address`; 0: there is none.
[[nodiscard]] std::uint64_t entry_for(std::uint64_t index, ByteRange mapped, std::uint64_t address) noexcept;

/// Reads the entry at a place. Returns false if it is none, or of a form that compilers do not write.
[[nodiscard]] bool read_entry(std::uint64_t at, ByteRange mapped, UnwindEntry& entry) noexcept;

}  // namespace penstock::record
