// The blocks of a layout. Nearly every layout has one, and is made, copied and cut with every message: that
// one lies in the list itself, so that no memory is allocated. Knows nothing of what blocks stand for.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace penstock::transports {

/// `count` pieces of `bytes`, `stride` apart, the first at `offset` from the buffer's pointer. In a Layout
/// `stride` is 0 for one piece and else larger than `bytes`, so that a two-dimensional copy can move it.
struct Block {
  std::ptrdiff_t offset = 0;
  std::size_t bytes = 0;
  std::size_t count = 1;
  std::ptrdiff_t stride = 0;
  friend bool operator==(const Block&, const Block&) = default;
};

class BlockList {
 public:
  BlockList() = default;
  explicit BlockList(const Block& only) noexcept : only_(only), has_only_(true) {}

  [[nodiscard]] std::span<const Block> all() const noexcept {
    return has_only_ ? std::span(&only_, 1) : std::span(many_);
  }
  [[nodiscard]] std::span<Block> all() noexcept {
    return has_only_ ? std::span(&only_, 1) : std::span(many_);
  }
  [[nodiscard]] std::size_t size() const noexcept { return all().size(); }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] const Block& operator[](std::size_t index) const noexcept { return all()[index]; }
  [[nodiscard]] Block& operator[](std::size_t index) noexcept { return all()[index]; }
  [[nodiscard]] Block& back() noexcept { return all().back(); }

  void push_back(const Block& block) {
    if (empty()) {
      only_ = block;
      has_only_ = true;
      return;
    }
    if (has_only_) many_ = {only_};
    has_only_ = false;
    many_.push_back(block);
  }
  void pop_back() noexcept { erase(size() - 1); }
  void erase(std::size_t index) noexcept {
    if (!std::exchange(has_only_, false)) many_.erase(many_.begin() + static_cast<std::ptrdiff_t>(index));
  }

 private:
  Block only_;
  bool has_only_ = false;    ///< then all there is lies there
  std::vector<Block> many_;  ///< else here
};

}  // namespace penstock::transports
