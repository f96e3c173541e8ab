// Reads memory of this process that may be unmapped or changed by others meanwhile: the kernel does the
// reading, so that this is an error and no crash. Knows not what the memory holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace penstock::record {

/// Returns false if not all of it could be read. Cost: a system call, some 200 ns.
[[nodiscard]] bool read_own_memory(std::uint64_t at, std::span<std::byte> to) noexcept;

/// Keeps what it reads, with the places, so that a later look tells whether all of it is still the same.
/// Errors: std::bad_alloc.
class ReadLog {
 public:
  /// More is read, but not kept: then is_unchanged() returns false.
  static constexpr std::size_t most_places = 128;
  static constexpr std::size_t most_bytes = 32 * 1024;

  /// Returns false, and keeps nothing, if it cannot be read.
  [[nodiscard]] bool read(std::uint64_t at, std::span<std::byte> to);
  /// Makes one system call. `scratch` is memory for it.
  [[nodiscard]] bool is_unchanged(std::vector<std::byte>& scratch) const;
  void clear() noexcept;

 private:
  struct Place {
    std::uint64_t at;
    std::size_t bytes;
  };
  std::vector<Place> places_;
  std::vector<std::byte> bytes_;
  bool has_all_ = true;
};

}  // namespace penstock::record
