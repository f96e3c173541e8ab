// Reads the numbers of unwind tables: of fixed size, LEB128, and pointers in the encodings that compilers of
// x86-64 use. Knows nothing of what the numbers mean.
#pragma once

#include <cstdint>
#include <cstring>

namespace penstock::record {

/// Addresses; empty: none.
struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Encodings of pointers (DW_EH_PE_*).
namespace pointer_encoding {
inline constexpr std::uint8_t absolute_8 = 0x00;
inline constexpr std::uint8_t unsigned_4 = 0x03;
inline constexpr std::uint8_t relative_4 = 0x1b;
inline constexpr std::uint8_t relative_8 = 0x1c;
inline constexpr std::uint8_t to_index_4 = 0x3b;
}  // namespace pointer_encoding

/// Reads forward, and never outside of its range: then all is zero, and ok() is false.
class Bytes {
 public:
  Bytes(std::uint64_t at, ByteRange range) noexcept : at_(at), range_(range) {
    ok_ = range.begin <= at && at <= range.end;
  }
  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] std::uint64_t at() const noexcept { return at_; }
  [[nodiscard]] bool at_end() const noexcept { return !ok_ || at_ >= range_.end; }
  void skip(std::uint64_t bytes) noexcept {
    ok_ = ok_ && bytes <= range_.end - at_;
    if (ok_) at_ += bytes;
  }
  template <typename Number>
  Number read() noexcept {
    Number number{};
    ok_ = ok_ && sizeof number <= range_.end - at_;
    if (!ok_) return number;
    std::memcpy(&number, reinterpret_cast<const void*>(at_), sizeof number);
    at_ += sizeof number;
    return number;
  }
  std::uint64_t unsigned_leb() noexcept { return leb().value; }
  std::int64_t signed_leb() noexcept {
    const Leb leb = this->leb();
    const bool is_negative = (leb.last & 0x40) != 0 && leb.bits < 64;
    return static_cast<std::int64_t>(is_negative ? leb.value | (~std::uint64_t{0} << leb.bits) : leb.value);
  }
  std::uint64_t pointer(std::uint8_t encoding) noexcept {
    const std::uint64_t here = at_;
    switch (encoding) {
      case pointer_encoding::absolute_8:
        return read<std::uint64_t>();
      case pointer_encoding::relative_4:
        return here + static_cast<std::uint64_t>(std::int64_t{read<std::int32_t>()});
      case pointer_encoding::relative_8:
        return here + read<std::uint64_t>();
      default:
        ok_ = false;
        return 0;
    }
  }

 private:
  struct Leb {
    std::uint64_t value = 0;
    unsigned bits = 0;
    std::uint8_t last = 0;
  };
  Leb leb() noexcept {
    Leb leb;
    do {
      leb.last = read<std::uint8_t>();
      if (leb.bits < 64) leb.value |= std::uint64_t{leb.last & 0x7fu} << leb.bits;
      leb.bits += 7;
    } while (ok_ && (leb.last & 0x80) != 0);
    return leb;
  }

  std::uint64_t at_;
  ByteRange range_;
  bool ok_;
};

}  // namespace penstock::record
