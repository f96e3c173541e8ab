// Keeps account, in the recording itself, of records that are no longer in it: up to when what happened is
// not known, and how many halves of each envelope are gone, by which a reader joins the others. Knows no
// blocks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "interpose/record/delta_coding.hpp"
#include "interpose/record/trace_format.hpp"

namespace penstock::record {

/// The file has two copies, of which the one that is not valid is written, and then made the valid one: a job
/// may be killed at any moment. Thread: one at a time.
class LossTable {
 public:
  /// `copies`: a block of the file, all zero; `generation`: of its header. Both must outlive the table.
  /// Returns false if there is no memory.
  [[nodiscard]] bool open(std::byte* copies, std::uint64_t& generation) noexcept;

  /// Takes account of all records of a block, which is wiped out next.
  void lose_block(const std::byte* block) noexcept;
  /// Takes account of a record that is not written.
  void lose(const void* record) noexcept;

 private:
  /// Twice as many as there are groups, so that searches stay short.
  static constexpr std::size_t slots = 8192;
  static_assert(slots >= 2 * trace::Losses::most_groups);

  void add_deltas(const std::byte* block) noexcept;
  void add(const void* record) noexcept;
  void add_half(const trace::MessageHalf& half) noexcept;
  void publish() noexcept;

  std::unique_ptr<trace::Losses> losses_;
  std::unique_ptr<trace::DeltaReader> deltas_;
  std::unique_ptr<std::array<std::uint16_t, slots>> places_;  ///< by hash: index in lost_halves + 1; 0: free
  std::byte* copies_ = nullptr;
  std::uint64_t* generation_ = nullptr;
};

}  // namespace penstock::record
