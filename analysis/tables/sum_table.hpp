// Sums by key, for few keys that each occur again and again. Must not know what is added up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/tables/merging.hpp"

namespace penstock::analysis {

/// `Hash` returns a std::uint64_t whose low bits are well mixed. A table that was moved from may only be
/// assigned to or destroyed. Thread: one at a time. Cost: constant; next
/// to nothing if the key equals the previous one.
template <typename Key, typename Hash, typename Sum = std::uint64_t>
class SumTable {
 public:
  using Entry = std::pair<Key, Sum>;

  Sum& operator[](const Key& key) {
    if (last_ == entries_.size() || !(entries_[last_].first == key)) {
      last_ = place_of(key);
    }
    return entries_[last_].second;
  }
  /// Returns the entries in the order in which their keys first occurred.
  [[nodiscard]] const std::vector<Entry>& entries() const noexcept { return entries_; }
  /// Adds the sums of another table, in its order; see SumsBy.
  void merge(SumTable&& part, const Renumbering& numbers) {
    for (auto& [key, sum] : part.entries_) {
      merge_into((*this)[key.renumbered(numbers)], std::move(sum), numbers);
    }
  }
  /// See archive.hpp. Only an empty table may read.
  template <typename Archive>
  void exchange(Archive& archive) {
    std::vector<Entry> entries = entries_;
    archive(entries);
    if constexpr (Archive::reads) {
      for (const auto& [key, sum] : entries) {
        (*this)[key] = sum;
      }
    }
  }

 private:
  /// Returns the key's place in entries_; adds it if there is none.
  std::size_t place_of(const Key& key) {
    std::size_t slot = Hash{}(key) & (slots_.size() - 1);
    for (; slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1)) {
      if (entries_[slots_[slot] - 1].first == key) {
        return slots_[slot] - 1;
      }
    }
    return add(key, slot);
  }
  std::size_t add(const Key& key, std::size_t slot) {
    entries_.emplace_back(key, Sum{});
    slots_[slot] = static_cast<std::uint32_t>(entries_.size());
    if (entries_.size() * 2 >= slots_.size()) {
      grow();
    }
    return entries_.size() - 1;
  }
  void grow() {
    slots_.assign(slots_.size() * 2, 0);
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      std::size_t slot = Hash{}(entries_[i].first) & (slots_.size() - 1);
      while (slots_[slot] != 0) {
        slot = (slot + 1) & (slots_.size() - 1);
      }
      slots_[slot] = static_cast<std::uint32_t>(i + 1);
    }
  }

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(64);  ///< by hash: an entry's number, from
                                                                       ///< 1; 0: free
  std::size_t last_ = 0;  ///< the entry that was looked up last; there may be none
};

/// Mixes one part of a key into its hash.
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t hash, std::uint64_t part) noexcept {
  hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 32);
}

}  // namespace penstock::analysis
