// The blocks of a layout. Nearly every layout has one block, and is made, copied and cut with every message:
// that block lies in the list itself, so that no memory is allocated. If there are several, copies share the
// memory until one of them is changed. Does not know what blocks stand for.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "transports/memory/kept_loops.hpp"

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
    if (has_only_) return {&only_, 1};
    return many_ == nullptr ? std::span<const Block>() : std::span<const Block>(many_->blocks);
  }
  /// Returns the blocks for a change. Errors: std::bad_alloc.
  [[nodiscard]] std::span<Block> own() { return has_only_ ? std::span(&only_, 1) : std::span(own_many()); }
  [[nodiscard]] std::size_t size() const noexcept { return all().size(); }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] const Block& operator[](std::size_t index) const noexcept { return all()[index]; }

  void push_back(const Block& block) {
    if (empty()) {
      only_ = block;
      has_only_ = true;
      return;
    }
    std::vector<Block>& blocks = own_many();
    if (std::exchange(has_only_, false)) blocks = {only_};
    blocks.push_back(block);
  }
  void pop_back() { erase(size() - 1); }
  void erase(std::size_t index) {
    if (std::exchange(has_only_, false)) return;
    std::vector<Block>& blocks = own_many();
    blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(index));
  }

  /// Holds what is derived from several blocks, as long as any copy of the list has them; null for a list of
  /// one. Its users must lock.
  [[nodiscard]] std::shared_ptr<void>* companion() const noexcept {
    return has_only_ || many_ == nullptr ? nullptr : &many_->companion;
  }
  /// The same for the blocks' loops. Thread: any.
  [[nodiscard]] KeptLoops* kept_loops() const noexcept {
    return has_only_ || many_ == nullptr ? nullptr : &many_->loops;
  }

 private:
  struct Shared {
    std::vector<Block> blocks;
    std::shared_ptr<void> companion;
    KeptLoops loops;
  };

  [[nodiscard]] std::vector<Block>& own_many() {
    if (many_ == nullptr || many_.use_count() > 1) {
      auto own = std::make_shared<Shared>();
      if (many_ != nullptr) own->blocks = many_->blocks;
      many_ = std::move(own);
    }
    many_->companion.reset();
    many_->loops.forget();
    return many_->blocks;
  }

  Block only_;
  bool has_only_ = false;         ///< then only_ is all there is
  std::shared_ptr<Shared> many_;  ///< otherwise; null: no blocks
};

}  // namespace penstock::transports
