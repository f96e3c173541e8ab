#include "interpose/record/file/strings.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <new>

#include "interpose/record/file/recording.hpp"

namespace penstock::record {

namespace {

constexpr std::size_t characters_per_piece = sizeof(trace::Text::characters);
constexpr std::size_t pieces_per_block = trace::block_bytes / trace::record_bytes - 1;
constexpr std::size_t most_characters = characters_per_piece * pieces_per_block;
constexpr std::size_t first_slot_count = 4096;

constinit StringTable table;

bool write_text(std::uint32_t id, std::string_view text) noexcept {
  const std::size_t pieces =
      std::max<std::size_t>(1, (text.size() + characters_per_piece - 1) / characters_per_piece);
  const std::unique_ptr<trace::Text[]> records(new (std::nothrow) trace::Text[pieces]());
  if (!records) return false;
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::string_view piece = text.substr(i * characters_per_piece, characters_per_piece);
    records[i].id = id;
    records[i].bytes = static_cast<std::uint8_t>(piece.size());
    records[i].more = i + 1 < pieces ? 1 : 0;
    piece.copy(records[i].characters, characters_per_piece);
    records[i].kind = trace::RecordKind::text;
  }
  return recording().write_rare(records.get(), pieces);
}

}  // namespace

struct StringTable::Entry {
  std::string_view text;
  std::size_t hash;
  std::uint32_t id;
};

/// Open addressing; a slot is written once.
struct StringTable::Slots {
  std::size_t count;  ///< a power of two
  std::unique_ptr<std::atomic<const Entry*>[]> at;
  std::unique_ptr<const Slots> outgrown;  ///< the smaller table before; threads may still read it

  /// Returns where the text is, or where it would go.
  [[nodiscard]] std::size_t index_of(std::string_view text, std::size_t hash) const noexcept {
    std::size_t index = hash & (count - 1);
    while (const Entry* entry = at[index].load(std::memory_order_acquire)) {
      if (entry->hash == hash && entry->text == text) break;
      index = (index + 1) & (count - 1);
    }
    return index;
  }
};

StringTable& strings() noexcept {
  return table;
}

std::uint32_t StringTable::id_of(std::string_view text) noexcept {
  text = text.substr(0, most_characters);
  const std::size_t hash = std::hash<std::string_view>{}(text);
  const Entry* entry = find(slots_.load(std::memory_order_acquire), text, hash);
  if (entry == nullptr) [[unlikely]] {
    const std::lock_guard lock(adding_);
    entry = find(slots_.load(std::memory_order_relaxed), text, hash);  // another thread may have been faster
    if (entry == nullptr) entry = add(text, hash);
  }
  return entry == nullptr ? trace::no_string : entry->id;
}

const StringTable::Entry* StringTable::find(const Slots* slots, std::string_view text,
                                            std::size_t hash) noexcept {
  return slots == nullptr ? nullptr : slots->at[slots->index_of(text, hash)].load(std::memory_order_acquire);
}

const StringTable::Entry* StringTable::add(std::string_view text, std::size_t hash) noexcept {
  if (!make_room()) return nullptr;
  std::unique_ptr<char[]> copy(new (std::nothrow) char[text.size() + 1]);
  std::unique_ptr<Entry> entry(new (std::nothrow) Entry{{}, hash, entries_ + 1});
  if (!copy || !entry || !write_text(entry->id, text)) return nullptr;
  text.copy(copy.get(), text.size());
  entry->text = {copy.release(), text.size()};
  ++entries_;
  const Slots* slots = slots_.load(std::memory_order_relaxed);
  const Entry* added = entry.release();
  slots->at[slots->index_of(added->text, hash)].store(added, std::memory_order_release);
  return added;
}

/// Keeps at least half of the slots free, so that searches stay short and always end.
bool StringTable::make_room() noexcept {
  const Slots* old = slots_.load(std::memory_order_relaxed);
  if (old != nullptr && (entries_ + 1) * std::size_t{2} <= old->count) return true;
  const std::size_t count = old == nullptr ? first_slot_count : old->count * 2;
  std::unique_ptr<Slots> larger(new (std::nothrow) Slots{count, nullptr, nullptr});
  if (!larger) return false;
  larger->at.reset(new (std::nothrow) std::atomic<const Entry*>[count]());
  if (!larger->at) return false;
  for (std::size_t i = 0; old != nullptr && i < old->count; ++i) {
    const Entry* entry = old->at[i].load(std::memory_order_relaxed);
    if (entry != nullptr)
      larger->at[larger->index_of(entry->text, entry->hash)].store(entry, std::memory_order_relaxed);
  }
  larger->outgrown.reset(old);
  slots_.store(larger.release(), std::memory_order_release);
  return true;
}

}  // namespace penstock::record
