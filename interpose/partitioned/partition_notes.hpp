// The notes by which two ranks of a node agree on who moves a partitioned message: counting requests, showing
// a note, finding the other's. README.md has the rule. Knows neither payloads nor MPI calls.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "interpose/calls/communicators.hpp"
#include "interpose/node/node_directory.hpp"
#include "interpose/node/partition_note.hpp"

namespace penstock::interpose {

/// Counts the requests of one half (sends or receives) by communicator, peer and tag. Thread: one at a time.
class RequestCounts {
 public:
  /// Returns how many there have been. `communicator`: its id on this rank. Errors: std::bad_alloc.
  [[nodiscard]] std::uint64_t& of(std::uint32_t communicator, int peer, int tag) {
    return counts_[{communicator, peer, tag}];
  }

 private:
  struct Key {
    std::uint32_t communicator;
    int peer;
    int tag;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  std::map<Key, std::uint64_t> counts_;
};

/// Some of this rank's ready words. Owns them. Thread: one at a time.
class ReadyWords {
 public:
  ReadyWords() noexcept = default;
  /// Returns none if there is no room.
  [[nodiscard]] static ReadyWords take(std::size_t count) noexcept;
  ReadyWords(ReadyWords&& other) noexcept;
  ReadyWords& operator=(ReadyWords&& other) noexcept;
  ~ReadyWords();

  [[nodiscard]] std::span<std::atomic<std::uint32_t>> words() const noexcept { return words_; }
  /// Returns where they begin among all of the rank's.
  [[nodiscard]] std::uint32_t first() const noexcept;

 private:
  std::span<std::atomic<std::uint32_t>> words_;
};

/// A note that another rank has shown, in one use.
struct FoundNote {
  PartitionNote* note = nullptr;  ///< null: none was found
  std::uint32_t use = 0;
  NoteState state = NoteState::free;  ///< `library` without a note: it may have been there
  [[nodiscard]] NoteState now() const noexcept { return note->state.get(use); }
};

/// Looks for the note that a rank of this node shows under a name. If that is this rank, `own` is not the
/// one.
[[nodiscard]] FoundNote find_note(const DirectoryRow& row, const MessageName& name,
                                  const PartitionNote* own = nullptr) noexcept;

/// Shows that this rank leaves a message to the MPI library. Thread: any.
void show_that_library_moves(const MessageName& name) noexcept;

/// Shows where a sender's buffer lies. Returns no note if there is no room. Thread: any. The caller frees it.
[[nodiscard]] FoundNote show_buffer(const MessageName& name, const transports::Offer& offer,
                                    std::uint32_t partitions, std::uint32_t first_word) noexcept;
/// Shows that a sender has begun so many operations, the last of which has that key in recordings. A note
/// that says `library` stays as it is: it may serve another message by now. Thread: any.
void show_operation(const FoundNote& own, std::uint32_t begun, std::uint64_t key) noexcept;
/// Frees a note of this rank, in any state. Thread: any.
void free_note(const FoundNote& own) noexcept;

}  // namespace penstock::interpose
