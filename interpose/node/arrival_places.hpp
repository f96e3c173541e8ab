// Which communicator a rank's notes about collectives are of: each rank keeps one place in its row of the
// node directory for each communicator on which it has come to a collective, and the others find it by the
// communicator's id. Two communicators never share a place. Knows no MPI call.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

#include "interpose/node/node_directory.hpp"

namespace penstock::interpose {

enum class Seen : std::uint8_t {
  here,     ///< that rank has come to the collective
  not_yet,  ///< it has not
  unknown,  ///< it may have: it has more communicators than places, or has used a place again
};

/// Of another rank (or one's own): has it come to that collective of the communicator? `row` is in shared
/// memory. Cost: one load, mostly; of all places where nothing is found in a row without a free one.
[[nodiscard]] Seen look_for_arrival(const DirectoryRow& row, std::uint64_t communicator_id,
                                    std::uint32_t ordinal) noexcept;

/// Of one's own row. A place that was once used stays findable for the others, who may still be waiting at a
/// communicator's last collective when this rank has freed it: it is used again only when all places are
/// taken, the one longest free first. Thread: any.
class ArrivalPlaces {
 public:
  /// None: all places are those of communicators in use. Says so in the row.
  [[nodiscard]] std::optional<std::uint32_t> claim(DirectoryRow& row, std::uint64_t communicator_id) noexcept;
  /// The communicator is gone. Waits for nothing.
  void release(std::uint32_t place) noexcept;

 private:
  struct Place {
    std::uint64_t released = 0;  ///< when, counted in releases; 0: not yet
    bool is_claimed = false;     ///< once
  };

  std::mutex mutex_;
  std::array<Place, arrival_places> places_{};
  std::uint64_t releases_ = 0;
};

/// This rank has come to that many collectives of the communicator. Cost: one store.
void note_arrival(DirectoryRow& row, std::uint32_t place, std::uint64_t communicator_id,
                  std::uint32_t ordinal) noexcept;

/// This process's.
[[nodiscard]] ArrivalPlaces& own_arrival_places() noexcept;

/// The place of one communicator, as long as that is there.
class ArrivalPlace {
 public:
  ArrivalPlace(DirectoryRow& row, std::uint64_t communicator_id) noexcept
      : place_(own_arrival_places().claim(row, communicator_id)) {}
  ~ArrivalPlace() {
    if (place_) own_arrival_places().release(*place_);
  }
  ArrivalPlace(const ArrivalPlace&) = delete;
  ArrivalPlace& operator=(const ArrivalPlace&) = delete;

  [[nodiscard]] std::optional<std::uint32_t> get() const noexcept { return place_; }

 private:
  std::optional<std::uint32_t> place_;
};

}  // namespace penstock::interpose
