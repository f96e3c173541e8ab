#include "interpose/partitioned/partition_notes.hpp"

#include <algorithm>
#include <bitset>
#include <mutex>
#include <utility>

namespace penstock::interpose {
namespace {

/// Around all that this rank takes of its own area.
constinit std::mutex area_lock;
std::bitset<ready_words_per_rank>& words_taken() noexcept {
  static std::bitset<ready_words_per_rank> taken;
  return taken;
}

PartitionArea& own_area() noexcept {
  return node_directory().partitions_of(*node_directory().own_row());
}

/// Returns a free note, or the oldest that gives way; null if all are in use. The caller holds the lock.
PartitionNote* find_place(PartitionArea& area) noexcept {
  static std::size_t next = 0;
  PartitionNote* gives_way = nullptr;
  for (std::size_t tried = 0; tried < partition_notes_per_rank; ++tried) {
    PartitionNote& note = area.notes[next];
    next = (next + 1) % partition_notes_per_rank;
    if (note.state.get() == NoteState::free) return &note;
    if (gives_way == nullptr && note.state.get() == NoteState::library) gives_way = &note;
  }
  if (gives_way == nullptr) return nullptr;
  next = (static_cast<std::size_t>(gives_way - area.notes) + 1) % partition_notes_per_rank;
  area.has_forgotten.store(1, std::memory_order_release);
  const bool is_free = gives_way->state.move<NoteSide::owner, NoteState::library, NoteState::free>(
      gives_way->state.generation());
  return is_free ? gives_way : nullptr;
}

}  // namespace

ReadyWords ReadyWords::take(std::size_t count) noexcept {
  ReadyWords taken;
  if (count == 0 || count > ready_words_per_rank) return taken;
  const std::lock_guard guard(area_lock);
  auto& all = words_taken();
  std::size_t run = 0;
  for (std::size_t i = 0; i < ready_words_per_rank; ++i) {
    run = all[i] ? 0 : run + 1;
    if (run < count) continue;
    const std::size_t first = i + 1 - count;
    for (std::size_t each = first; each <= i; ++each) all.set(each);
    taken.words_ = std::span(own_area().ready).subspan(first, count);
    std::ranges::for_each(taken.words_, [](auto& word) { word.store(0, std::memory_order_relaxed); });
    break;
  }
  return taken;
}

ReadyWords::ReadyWords(ReadyWords&& other) noexcept : words_(std::exchange(other.words_, {})) {}

ReadyWords& ReadyWords::operator=(ReadyWords&& other) noexcept {
  std::swap(words_, other.words_);
  return *this;
}

ReadyWords::~ReadyWords() {
  if (words_.empty() || !node_directory().is_open()) return;
  const std::lock_guard guard(area_lock);
  for (std::size_t i = 0; i < words_.size(); ++i) words_taken().reset(first() + i);
}

std::uint32_t ReadyWords::first() const noexcept {
  return words_.empty() ? 0 : static_cast<std::uint32_t>(words_.data() - own_area().ready);
}

FoundNote find_note(const DirectoryRow& row, const MessageName& name, const PartitionNote* own) noexcept {
  PartitionArea& area = node_directory().partitions_of(row);
  // looked at first: a note that has gone before this was set is not missed
  const bool has_forgotten = area.has_forgotten.load(std::memory_order_acquire) != 0;
  for (PartitionNote& note : area.notes) {
    const std::uint32_t use = note.state.generation();
    if (&note == own || note.state.get(use) == NoteState::free || note.name.get() != name) continue;
    std::atomic_thread_fence(std::memory_order_acquire);
    // it was this use's name if the use has not ended since
    if (const NoteState state = note.state.get(use); state != NoteState::free) return {&note, use, state};
  }
  return {nullptr, 0, has_forgotten ? NoteState::library : NoteState::free};
}

void show_that_library_moves(const MessageName& name) noexcept {
  const std::lock_guard guard(area_lock);
  PartitionArea& area = own_area();
  PartitionNote* const note = find_place(area);
  if (note == nullptr) {
    area.has_forgotten.store(1, std::memory_order_release);
    return;
  }
  note->name.set(name);
  static_cast<void>(note->state.begin_use<NoteSide::owner, NoteState::library>());
}

FoundNote show_buffer(const MessageName& name, const transports::Offer& offer, std::uint32_t partitions,
                      std::uint32_t first_word) noexcept {
  const std::lock_guard guard(area_lock);
  PartitionNote* const note = find_place(own_area());
  if (note == nullptr) return {};
  note->name.set(name);
  note->offer = offer;
  note->partitions.store(partitions, std::memory_order_relaxed);
  note->first_word.store(first_word, std::memory_order_relaxed);
  note->started.store(0, std::memory_order_relaxed);
  note->done.store(0, std::memory_order_relaxed);
  static_cast<void>(note->state.begin_use<NoteSide::owner, NoteState::open>());
  return {note, note->state.generation(), NoteState::open};
}

void show_operation(const FoundNote& own, std::uint32_t begun, std::uint64_t key) noexcept {
  const std::lock_guard guard(area_lock);
  const NoteState state = own.now();
  if (state != NoteState::open && state != NoteState::direct) return;
  own.note->key.store(key, std::memory_order_relaxed);
  own.note->started.store(begun, std::memory_order_release);
}

void free_note(const FoundNote& own) noexcept {
  if (own.note == nullptr || !node_directory().is_open()) return;
  PartitionNote& note = *own.note;
  static_cast<void>(note.state.move<NoteSide::owner, NoteState::open, NoteState::free>(own.use) ||
                    note.state.move<NoteSide::owner, NoteState::direct, NoteState::free>(own.use) ||
                    note.state.move<NoteSide::owner, NoteState::library, NoteState::free>(own.use));
}

}  // namespace penstock::interpose
