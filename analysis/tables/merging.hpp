// Merges sums of some ranks into those of the ranks before them. Must not know what is added up.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace penstock::analysis {

/// The new number of each text and call site of a part that is merged.
struct Renumbering {
  std::span<const std::uint32_t> strings;
  std::span<const std::uint32_t> sites;       ///< those that are one for people have one number
  std::span<const std::uint32_t> paths = {};  ///< of the same, but each call path has its own
};

template <typename Each, std::size_t size>
void merge_into(std::array<Each, size>& all, std::array<Each, size>&& part, const Renumbering& numbers);
template <typename Each>
void merge_into(std::vector<Each>& all, std::vector<Each>&& part, const Renumbering& numbers);

/// Merges `part` into `all`. Whole numbers are added, arrays one by one, and lists are appended. A type of
/// several sums names them once, in members(), which the archive uses as well, or has a merge() of its own.
template <typename Sum>
void merge_into(Sum& all, Sum&& part, const Renumbering& numbers) {
  if constexpr (requires { all.merge(std::move(part), numbers); }) {
    all.merge(std::move(part), numbers);
  } else if constexpr (requires { all.members(); }) {
    auto ours = all.members();
    auto theirs = part.members();
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      (merge_into(std::get<i>(ours), std::move(std::get<i>(theirs)), numbers), ...);
    }
    (std::make_index_sequence<std::tuple_size_v<decltype(ours)>>());
  } else {
    static_assert(std::unsigned_integral<Sum> && !std::same_as<Sum, bool>, "needs members() or merge()");
    all += part;
  }
}

template <typename Each, std::size_t size>
void merge_into(std::array<Each, size>& all, std::array<Each, size>&& part, const Renumbering& numbers) {
  for (std::size_t i = 0; i < size; ++i) {
    merge_into(all[i], std::move(part[i]), numbers);
  }
}

template <typename Each>
void merge_into(std::vector<Each>& all, std::vector<Each>&& part, const Renumbering&) {
  all.insert(all.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
}

/// Sums by key, in the keys' order. A key has renumbered(numbers), which returns it with its new numbers.
template <typename Key, typename Sums>
class SumsBy {
 public:
  Sums& operator[](const Key& key) { return sums_[key]; }
  [[nodiscard]] auto begin() const { return sums_.begin(); }
  [[nodiscard]] auto end() const { return sums_.end(); }
  [[nodiscard]] auto begin() { return sums_.begin(); }
  [[nodiscard]] auto end() { return sums_.end(); }
  void merge(SumsBy&& part, const Renumbering& numbers) {
    for (auto& [key, sums] : part.sums_) {
      merge_into(sums_[key.renumbered(numbers)], std::move(sums), numbers);
    }
  }
  auto members() { return std::tie(sums_); }

 private:
  std::map<Key, Sums> sums_;
};

/// The key of sums by call site.
struct SiteKey {
  std::uint32_t site;
  [[nodiscard]] SiteKey renumbered(const Renumbering& numbers) const { return {numbers.sites[site]}; }
  auto operator<=>(const SiteKey&) const = default;
};
template <typename Sums>
using SumsBySite = SumsBy<SiteKey, Sums>;

}  // namespace penstock::analysis
