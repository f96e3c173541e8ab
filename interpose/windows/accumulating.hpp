// Makes accumulates into a target's memory atomic to each other.
#pragma once

#include <cstddef>

#include "interpose/progress/progress.hpp"
#include "interpose/windows/memory/shared_words.hpp"

namespace penstock::interpose {

/// Holds the target's word while it lives; waits for it with progress.
class Accumulating {
 public:
  Accumulating(const SharedWords& words, std::size_t target) : words_(words), target_(target) {
    wait_with_progress([&] { return words_.try_to_accumulate(target_); });
  }
  ~Accumulating() { words_.end_accumulation(target_); }
  Accumulating(const Accumulating&) = delete;
  Accumulating& operator=(const Accumulating&) = delete;

 private:
  const SharedWords& words_;
  std::size_t target_;
};

}  // namespace penstock::interpose
