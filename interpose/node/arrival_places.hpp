// Which communicator a rank's notes about collectives are of: each rank keeps one place in its row of the
// node directory for each communicator on which it has come to a collective, and the others find it by the
// communicator's id. Knows no MPI call.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "interpose/node/node_directory.hpp"

namespace penstock::interpose {

enum class Seen : std::uint8_t {
  here,     ///< that rank has come to the collective
  not_yet,  ///< it has not
  unknown,  ///< it may have: it has more communicators than places, or has used a place again
};

/// How a rank would have a collective carried out.
enum class Preference : std::uint8_t {
  library,   ///< by the MPI library, whatever the others say
  any,       ///< as the others will
  messages,  ///< by messages between the ranks: it has a device buffer
  kernels,   ///< by a kernel on each, if all say so; else as with messages, or if it is little by the library
};

[[nodiscard]] constexpr bool has_device_buffer(Preference preference) noexcept {
  return preference == Preference::messages || preference == Preference::kernels;
}

/// A number by which ranks see that their arguments do not fit together: below 4,096, and not 0. Others may
/// have the same, seldom.
[[nodiscard]] std::uint16_t signature_of(std::uint64_t arguments) noexcept;

/// What a rank says when it comes to a collective.
struct Said {
  Preference preference = Preference::library;
  bool meets = false;           ///< it waits for the others, and so knows what they have said
  bool defers = false;          ///< it would agree on non-blocking collectives, too
  std::uint16_t signature = 0;  ///< signature_of() what must be equal on all ranks; 0: nothing is said of it
};

/// `said` counts only if the rank is here.
struct Arrival {
  Seen seen = Seen::not_yet;
  Said said;
};

/// Of another rank (or one's own): has it come to that collective of the communicator, and what did it say?
/// That is remembered for its last two collectives; of earlier ones it is nothing, which is right if every
/// rank that says something waits for all before it goes on. `row` is in shared memory. Cost: two loads,
/// mostly; of all places where nothing is found in a row without a free one.
[[nodiscard]] Arrival look_for_arrival(const DirectoryRow& row, std::uint64_t communicator_id,
                                       std::uint32_t ordinal) noexcept;

/// Has that rank said, by note_failure(), that it cannot do its part in that collective? Of its last one that
/// is remembered.
[[nodiscard]] bool has_failed(const DirectoryRow& row, std::uint64_t communicator_id,
                              std::uint64_t which) noexcept;

/// Has that rank met others in one of its last two collectives of the communicator?
[[nodiscard]] bool has_met_others(const DirectoryRow& row, std::uint64_t communicator_id) noexcept;

/// Where the ranks of the communicator agree on its non-blocking collectives, in the row of their first.
/// Null: that rank has no place for it.
[[nodiscard]] AgreementRing* find_agreements(DirectoryRow& row, std::uint64_t communicator_id) noexcept;

/// Where a rank's notes of one communicator are.
struct ClaimedPlace {
  std::uint32_t index = 0;
  /// Every rank that looks finds it. Else some may have taken it for a communicator without a place.
  bool is_certain = false;
};

/// Those who may still read what a rank said at the collectives of a communicator: until each of them has
/// left it, too. They count that in the place of their first, which is used again when all have: so whoever
/// has been counted and does not find it any more knows that as well.
class Readers {
 public:
  enum class State : std::uint8_t {
    reading,
    left,
    unknown,  ///< their first has no place for it
  };

  /// It is not known who they are.
  Readers() noexcept = default;
  /// `members` of the communicator have rows, the first of them that one. 0: nobody else can read it.
  Readers(DirectoryRow& first, std::uint64_t communicator_id, std::uint32_t members) noexcept
      : first_(&first), communicator_id_(communicator_id), members_(members) {}

  /// Those of the members, by their ranks in MPI_COMM_WORLD, that are on this node.
  [[nodiscard]] static Readers among(DirectoryRow& own, std::uint64_t communicator_id,
                                     std::span<const int> members) noexcept;

  /// This rank has left: says so, if it could not before.
  [[nodiscard]] State look() noexcept;
  [[nodiscard]] bool have_been_told() const noexcept { return is_counted_ || members_ == 0; }

 private:
  DirectoryRow* first_ = nullptr;
  std::uint64_t communicator_id_ = 0;
  std::uint32_t members_ = 0;
  bool is_counted_ = false;
};

/// Of one's own row. A place stays findable for the others, who may still be waiting at a communicator's last
/// collective when this rank has freed it: it is used again when its readers have left. One of which those
/// are not known is used again only when all places are taken, the one longest free first. Thread: any.
class ArrivalPlaces {
 public:
  /// None: all places are those of communicators in use. Says so in the row.
  [[nodiscard]] std::optional<ClaimedPlace> claim(DirectoryRow& row, std::uint64_t communicator_id) noexcept;
  /// The communicator is gone; it need not have had a place. Waits for nothing.
  void release(std::optional<std::uint32_t> place, Readers readers = {}) noexcept;

 private:
  struct Place {
    std::uint64_t released = 0;  ///< when, counted in releases; 0: not yet
    bool is_claimed = false;     ///< once
    Readers readers;
  };
  void tell_readers() noexcept;

  std::mutex mutex_;
  std::array<Place, arrival_places> places_{};
  std::vector<Readers> untold_;  ///< that this rank has left, of communicators without a place
  bool has_untold_ = false;      ///< these, or some of a place
  std::uint64_t releases_ = 0;
};

/// This rank has come to that many collectives of the communicator whose place it is. Cost: one store.
void note_arrival(DirectoryRow& row, std::uint32_t place, std::uint32_t ordinal, Said said = {}) noexcept;

/// Instead of an ordinal: collectives that are not counted, and any other.
inline constexpr std::uint64_t any_collective = std::uint64_t{1} << 32;
/// This rank cannot do its part in that collective, and others would wait for it without end.
void note_failure(DirectoryRow& row, std::uint32_t place, std::uint64_t which) noexcept;

/// This process's.
[[nodiscard]] ArrivalPlaces& own_arrival_places() noexcept;

/// The place of one communicator, as long as somebody on this rank has to do with its collectives.
class ArrivalPlace {
 public:
  /// Of one's own row.
  ArrivalPlace(DirectoryRow& row, std::uint64_t communicator_id, Readers readers) noexcept
      : readers_(readers), place_(own_arrival_places().claim(row, communicator_id)) {}
  /// This rank has left the communicator.
  ~ArrivalPlace();
  ArrivalPlace(const ArrivalPlace&) = delete;
  ArrivalPlace& operator=(const ArrivalPlace&) = delete;

  [[nodiscard]] std::optional<ClaimedPlace> get() const noexcept { return place_; }

 private:
  Readers readers_;
  std::optional<ClaimedPlace> place_;
};

}  // namespace penstock::interpose
