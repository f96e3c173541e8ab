// The regions that one member has attached to a dynamic window, as all members see them: rows in memory that
// all map. Its member writes the table while others read it, and nobody takes half a row for a whole one.
// Does not know what a record says, nor MPI.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "interpose/windows/memory/member_memory.hpp"

namespace penstock::interpose {

/// Owns nothing: the memory must stay mapped. Thread: one writes at a time; any may read meanwhile.
class RegionTable {
 public:
  /// A table of these takes 0.3 MiB.
  static constexpr std::size_t most_rows = 1024;

  [[nodiscard]] static constexpr std::size_t bytes() noexcept { return sizeof(Table); }
  /// `memory`: aligned as `WordRow`, and cleared: an empty table.
  explicit RegionTable(std::byte* memory) noexcept : table_(reinterpret_cast<Table*>(memory)) {}

  /// Replaces a row, by an empty record if its region is detached.
  void write(std::size_t row, const MemberRecord& record) const noexcept {
    const auto words = std::bit_cast<Words>(record);
    Word& generation = table_->generations[row];
    const std::uint64_t before = generation.load(std::memory_order_relaxed);
    generation.store(before + 1, std::memory_order_relaxed);
    // who sees one of the words sees the odd generation, too
    for (std::size_t i = 0; i < words.size(); ++i)
      table_->records[row][i].store(words[i], std::memory_order_release);
    generation.store(before + 2, std::memory_order_release);
    const std::uint64_t rows = table_->rows.load(std::memory_order_relaxed);
    table_->rows.store(std::max<std::uint64_t>(rows, row + 1), std::memory_order_relaxed);
    table_->version.fetch_add(1, std::memory_order_release);
  }

  /// Another number after each write: who knows all rows as of this one has nothing to read.
  [[nodiscard]] std::uint64_t version() const noexcept {
    return table_->version.load(std::memory_order_acquire);
  }
  /// The rows that have ever been written. To be called after version().
  [[nodiscard]] std::size_t rows() const noexcept {
    return std::min<std::size_t>(table_->rows.load(std::memory_order_relaxed), most_rows);
  }
  /// Another number after each write of the row; 0: it was never written.
  [[nodiscard]] std::uint64_t generation(std::size_t row) const noexcept {
    return table_->generations[row].load(std::memory_order_acquire);
  }
  /// Reads a row, and which generation it is. False: the row is being written. Then version() will change,
  /// and MPI forbids accesses to the region until then, as nobody knows whether it is attached.
  [[nodiscard]] bool read(std::size_t row, MemberRecord& record, std::uint64_t& generation) const noexcept {
    generation = this->generation(row);
    Words words;
    for (std::size_t i = 0; i < words.size(); ++i)
      words[i] = table_->records[row][i].load(std::memory_order_acquire);
    record = std::bit_cast<MemberRecord>(words);
    return generation % 2 == 0 && table_->generations[row].load(std::memory_order_relaxed) == generation;
  }

 private:
  using Word = std::atomic<std::uint64_t>;
  static_assert(Word::is_always_lock_free);
  static constexpr std::size_t record_words = sizeof(MemberRecord) / sizeof(Word);
  using Words = std::array<std::uint64_t, record_words>;
  static_assert(sizeof(Words) == sizeof(MemberRecord));

  struct Table {
    Word version;
    Word rows;
    std::array<Word, most_rows> generations;  ///< odd: the row is being written
    std::array<std::array<Word, record_words>, most_rows> records;
  };

  Table* table_;
};

}  // namespace penstock::interpose
