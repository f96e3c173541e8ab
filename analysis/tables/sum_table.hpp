// Sums by key, for few keys that each occur again and again. Must not know what is added up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/tables/merging.hpp"

namespace penstock::analysis {

/// `Hash` returns a std::uint64_t whose low bits are well mixed. Thread: one at a time. Cost: constant; next
/// to nothing if the key equals the previous one.
template <typename Key, typename Hash, typename Sum = std::uint64_t>
class SumTable {
 public:
  using Entry = std::pair<Key, Sum>;

  Sum& operator[](const Key& key) {
    if (last_ < entries_.size() && entries_[last_].first == key) {
      return entries_[last_].second;
    }
    if (entries_.size() * 2 >= places_.size()) {
      grow();
    }
    std::size_t place = Hash{}(key) & (places_.size() - 1);
    for (; places_[place] != 0; place = (place + 1) & (places_.size() - 1)) {
      last_ = places_[place] - 1;
      if (entries_[last_].first == key) {
        return entries_[last_].second;
      }
    }
    last_ = entries_.size();
    entries_.emplace_back(key, Sum{});
    places_[place] = static_cast<std::uint32_t>(entries_.size());
    return entries_.back().second;
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
  void grow() {
    places_.assign(places_.empty() ? 64 : places_.size() * 2, 0);
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      std::size_t place = Hash{}(entries_[i].first) & (places_.size() - 1);
      while (places_[place] != 0) {
        place = (place + 1) & (places_.size() - 1);
      }
      places_[place] = static_cast<std::uint32_t>(i + 1);
    }
  }

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> places_;  ///< by hash: an entry's number, from 1; 0: free
  std::size_t last_ = 0;
};

/// Mixes one part of a key into its hash.
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t hash, std::uint64_t part) noexcept {
  hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 32);
}

}  // namespace penstock::analysis
