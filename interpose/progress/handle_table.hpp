// A hash table from an MPI handle to a pointer, for the request table. It uses open addressing with linear
// probing: posting and completing a host message costs a few nanoseconds and, once the table has grown, no
// allocation. Knows nothing of the values.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace penstock::interpose {

/// Thread: callers lock. Handles are unique; MPI_REQUEST_NULL is no key.
template <typename Value>
class HandleTable {
 public:
  void insert(MPI_Request handle, Value* value) {
    if (2 * (size_ + 1) > cells_.size()) grow();
    std::size_t at = home_of(handle);
    while (cells_[at].value != nullptr) at = next(at);
    cells_[at] = {handle, value};
    ++size_;
  }

  [[nodiscard]] Value* find(MPI_Request handle) const noexcept {
    if (size_ == 0) return nullptr;
    for (std::size_t at = home_of(handle); cells_[at].value != nullptr; at = next(at)) {
      if (cells_[at].handle == handle) return cells_[at].value;
    }
    return nullptr;
  }

  void erase(MPI_Request handle) noexcept {
    if (size_ == 0) return;
    std::size_t hole = home_of(handle);
    while (cells_[hole].value != nullptr && cells_[hole].handle != handle) hole = next(hole);
    if (cells_[hole].value == nullptr) return;
    // close the gap: a later cell moves up unless its home lies between the hole and itself
    for (std::size_t at = next(hole); cells_[at].value != nullptr; at = next(at)) {
      const std::size_t home = home_of(cells_[at].handle);
      const bool stays = hole <= at ? (hole < home && home <= at) : (hole < home || home <= at);
      if (stays) continue;
      cells_[hole] = cells_[at];
      hole = at;
    }
    cells_[hole] = {};
    --size_;
  }

 private:
  struct Cell {
    MPI_Request handle{};
    Value* value = nullptr;
  };

  [[nodiscard]] std::size_t home_of(MPI_Request handle) const noexcept {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &handle, sizeof handle);
    // multiplicative hashing: handles are small integers or aligned addresses
    return static_cast<std::size_t>((bits * 0x9e3779b97f4a7c15ull) >> 32) & (cells_.size() - 1);
  }
  [[nodiscard]] std::size_t next(std::size_t at) const noexcept { return (at + 1) & (cells_.size() - 1); }

  void grow() {
    std::vector<Cell> old(cells_.empty() ? 64 : 2 * cells_.size());
    old.swap(cells_);
    size_ = 0;
    for (const Cell& cell : old) {
      if (cell.value != nullptr) insert(cell.handle, cell.value);
    }
  }

  std::vector<Cell> cells_;  ///< a power of two of them, at most half full
  std::size_t size_ = 0;
};

}  // namespace penstock::interpose
