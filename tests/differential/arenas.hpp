// A rank's memory for one program: one allocation of each kind, in which all of its buffers lie, surrounded
// by guard bytes. Filled from the seed, so that every run starts from the same bytes. Knows no MPI.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "tests/differential/program.hpp"
#include "tests/support/memory.hpp"

namespace penstock::differential {

class Arenas {
 public:
  /// Makes pageable memory only. `host_only`: all kinds are that, and no GPU is touched.
  Arenas(const Program& program, int rank, bool host_only);
  /// Makes the rest, unless all of it is pageable.
  void use_gpu();
  /// Returns true after use_gpu(), unless all memory is pageable.
  [[nodiscard]] bool uses_gpu() const noexcept { return uses_gpu_; }

  [[nodiscard]] std::byte* address(const Region& region) const;
  /// Overwrites the region's bytes from `value`; returns when done.
  void fill(const Region& region, std::uint64_t value);
  /// Fills it with different 32-bit integers of one dense range, in any order.
  void fill_with_list(const Region& region, std::uint64_t value);
  /// The same as fill() by a copy on the legacy stream that may still be queued when it returns.
  void fill_in_stream_order(const Region& region, std::uint64_t value);
  /// Digest of the region and its guards, as it is now.
  [[nodiscard]] std::uint64_t digest(const Region& region) const;
  /// Sets to zero what MPI leaves undefined or may differ legally.
  void forget(const Region& region, std::size_t from_byte = 0);
  /// The same with the gap of each element.
  void forget(const Region& region, Gap gap, std::size_t element_bytes);
  /// Bytes of a region, as they are now.
  [[nodiscard]] std::vector<std::byte> read(const Region& region) const;
  /// Digest of everything of a kind.
  [[nodiscard]] std::uint64_t digest(MemoryKind kind) const;

 private:
  void make(MemoryKind kind);
  [[nodiscard]] const test_support::Memory& of(MemoryKind kind) const {
    return arenas_[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] test_support::Memory& of(MemoryKind kind) { return arenas_[static_cast<std::size_t>(kind)]; }

  const Program& program_;
  const int rank_;
  const bool host_only_;
  int device_ = 0;
  bool uses_gpu_ = false;
  std::array<test_support::Memory, test_support::memory_kinds.size()> arenas_;
  test_support::Memory staging_;  ///< pinned sources of queued copies, each used once
  std::size_t staging_used_ = 0;
};

}  // namespace penstock::differential
