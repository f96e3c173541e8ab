// Memory that the neighbours' kernels write: two sets of ghost faces, used in turn, and flags, shared by CUDA
// IPC. Knows no kernels.
//
// Two sets suffice. A rank's n-th faces are packed after its own kernel for the outer slices of step n − 1,
// which waited for all neighbours' faces n − 1. These were packed after the neighbours' step n − 2, so that
// nobody reads the set of n − 2 any more.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <map>
#include <string>

#include "examples/dslash/team.hpp"
#include "examples/support/gpu.hpp"

namespace dslash {

class DirectZone {
 public:
  /// Collective. `set_bytes` is the size of a set.
  DirectZone(const Team& team, std::size_t set_bytes);
  ~DirectZone();
  DirectZone(const DirectZone&) = delete;
  DirectZone& operator=(const DirectZone&) = delete;

  /// Why ranks cannot write each other's memory, the same on all ranks, or nothing. Collective.
  [[nodiscard]] static std::string complaint(const Team& team);

  /// Where this rank's ghosts of that step are.
  [[nodiscard]] std::byte* own_faces(unsigned step) const { return faces(memory_.get(), step); }
  /// And those of the rank where a face goes.
  [[nodiscard]] std::byte* faces_at_destination(Face face, unsigned step) const {
    return faces(zone_of(face), step);
  }

  /// Steps of which that face has come.
  [[nodiscard]] const unsigned* own_flag(Face face) const { return flag(memory_.get(), face); }
  [[nodiscard]] unsigned* flag_at_destination(Face face) const { return flag(zone_of(face), face); }

 private:
  static constexpr std::size_t flag_bytes = 256;  ///< a flag has a line of its own
  static constexpr std::size_t flags_bytes = most_faces * flag_bytes;
  /// CUDA packs smaller allocations into blocks of this size. It refuses to open one in the place of an
  /// earlier one that somebody in this process still has mapped, as a library that moves messages may.
  static constexpr std::size_t block_bytes = std::size_t{2} << 20;
  [[nodiscard]] static std::size_t whole_blocks(std::size_t bytes) {
    return (bytes + block_bytes - 1) / block_bytes * block_bytes;
  }

  [[nodiscard]] std::byte* zone_of(Face face) const { return opened_.at(team_.destination(face)); }
  [[nodiscard]] std::byte* faces(std::byte* zone, unsigned step) const {
    return zone + flags_bytes + (step % 2) * set_bytes_;
  }
  [[nodiscard]] static unsigned* flag(std::byte* zone, Face face) {
    return reinterpret_cast<unsigned*>(zone + face * flag_bytes);
  }

  Team team_;
  std::size_t set_bytes_;
  example::DeviceArray<std::byte> memory_;
  std::map<int, std::byte*> opened_;  ///< the neighbours' zones, by rank
};

}  // namespace dslash
