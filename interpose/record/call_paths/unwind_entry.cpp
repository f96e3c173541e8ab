#include "interpose/record/call_paths/unwind_entry.hpp"

#include <array>
#include <cstddef>

namespace penstock::record {
namespace {

/// Reads the length in front of an entry, and returns the range of what follows.
ByteRange body_of(Bytes& bytes, ByteRange mapped) noexcept {
  const auto length = bytes.read<std::uint32_t>();
  constexpr std::uint32_t longest = 0xfffffff0;  // above: the 64-bit form, which compilers do not write here
  if (!bytes.ok() || length == 0 || length >= longest || length > mapped.end - bytes.at()) return {};
  return {bytes.at(), bytes.at() + length};
}

bool read_common_part(std::uint64_t at, ByteRange mapped, UnwindEntry& entry) noexcept {
  Bytes outer(at, mapped);
  const ByteRange body = body_of(outer, mapped);
  if (body.begin == 0) return false;
  Bytes bytes(body.begin, body);
  if (bytes.read<std::uint32_t>() != 0) return false;  // the mark of a common part
  const auto version = bytes.read<std::uint8_t>();
  if (version != 1 && version != 3) return false;
  std::array<char, 8> letters{};
  for (char& letter : letters) {
    letter = bytes.read<char>();
    if (letter == '\0') break;
  }
  if (letters.back() != '\0') return false;
  entry.code_unit = bytes.unsigned_leb();
  entry.data_unit = bytes.signed_leb();
  if ((version == 1 ? bytes.read<std::uint8_t>() : bytes.unsigned_leb()) != return_address_column)
    return false;
  if (letters[0] != '\0' && letters[0] != 'z') return false;
  if (letters[0] == 'z') {
    entry.has_augmentation = true;
    const std::uint64_t length = bytes.unsigned_leb();
    Bytes data = bytes;
    bytes.skip(length);
    for (std::size_t i = 1; letters[i] != '\0'; ++i) {
      if (letters[i] == 'R') {
        entry.encoding = data.read<std::uint8_t>();
      } else if (letters[i] == 'L') {
        data.skip(1);
      } else if (letters[i] == 'P') {
        const auto encoding = data.read<std::uint8_t>();
        data.skip((encoding & 0x0f) == 0x0b || (encoding & 0x0f) == pointer_encoding::unsigned_4 ? 4 : 8);
      } else if (letters[i] == 'S') {
        entry.is_of_signal = true;
      } else {
        return false;
      }
    }
    if (!data.ok()) return false;
  }
  entry.common_instructions = {bytes.at(), body.end};
  return bytes.ok();
}

}  // namespace

std::uint64_t entry_for(std::uint64_t index, ByteRange mapped, std::uint64_t address) noexcept {
  Bytes bytes(index, mapped);
  const auto version = bytes.read<std::uint8_t>();
  const auto table_encoding = bytes.read<std::uint8_t>();
  const auto count_encoding = bytes.read<std::uint8_t>();
  const auto row_encoding = bytes.read<std::uint8_t>();
  if (!bytes.ok() || version != 1 || count_encoding != pointer_encoding::unsigned_4 ||
      row_encoding != pointer_encoding::to_index_4)
    return 0;
  bytes.pointer(table_encoding);
  const auto count = bytes.read<std::uint32_t>();
  struct IndexRow {
    std::int32_t function;
    std::int32_t entry;
  };
  if (!bytes.ok() || count > (mapped.end - bytes.at()) / sizeof(IndexRow)) return 0;
  const auto row_at = [&](std::uint32_t which) {
    return Bytes(bytes.at() + which * sizeof(IndexRow), mapped).read<IndexRow>();
  };
  const auto behind_index = [index](std::int32_t distance) {
    return index + static_cast<std::uint64_t>(std::int64_t{distance});
  };
  std::uint32_t low = 0;
  std::uint32_t high = count;  // the row that is sought lies before it
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (behind_index(row_at(middle).function) <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low == 0 ? 0 : behind_index(row_at(low - 1).entry);
}

bool read_entry(std::uint64_t at, ByteRange mapped, UnwindEntry& entry) noexcept {
  Bytes outer(at, mapped);
  const ByteRange body = body_of(outer, mapped);
  if (body.begin == 0) return false;
  Bytes bytes(body.begin, body);
  const auto back = bytes.read<std::uint32_t>();
  if (back == 0 || !read_common_part(body.begin - back, mapped, entry)) return false;
  entry.function = bytes.pointer(entry.encoding);
  entry.function_bytes = entry.encoding == pointer_encoding::relative_4 ? bytes.read<std::uint32_t>()
                                                                        : bytes.read<std::uint64_t>();
  if (entry.has_augmentation) bytes.skip(bytes.unsigned_leb());
  entry.instructions = {bytes.at(), body.end};
  return bytes.ok();
}

}  // namespace penstock::record
