// Memory that the neighbours' kernels write: two sets of ghost faces, used in turn, and flags, shared by CUDA
// IPC. Knows no kernels.
//
// Two sets suffice. A rank's n-th faces are packed after its own kernel for the outer slices of step n − 1,
// which waited for both neighbours' faces n − 1. These were packed after the neighbours' step n − 2, so that
// nobody reads the set of n − 2 any more.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>

#include "examples/dslash/team.hpp"
#include "examples/support/gpu.hpp"

namespace dslash {

class DirectZone {
 public:
  /// Collective. `two_faces_bytes` is the size of a set.
  DirectZone(const Team& team, std::size_t two_faces_bytes);
  ~DirectZone();
  DirectZone(const DirectZone&) = delete;
  DirectZone& operator=(const DirectZone&) = delete;

  /// Why ranks cannot write each other's memory, the same on all ranks, or nothing. Collective.
  [[nodiscard]] static std::string complaint(const Team& team);

  /// Where this rank's ghosts of that step are.
  [[nodiscard]] std::byte* own_faces(unsigned step) const { return faces(memory_.get(), step); }
  [[nodiscard]] std::byte* faces_ahead(unsigned step) const { return faces(ahead_, step); }
  [[nodiscard]] std::byte* faces_behind(unsigned step) const { return faces(behind_, step); }

  /// Steps whose faces have come: upper halves from behind, lower halves from ahead.
  [[nodiscard]] const unsigned* own_upper_flag() const { return flag(memory_.get(), 0); }
  [[nodiscard]] const unsigned* own_lower_flag() const { return flag(memory_.get(), 1); }
  [[nodiscard]] unsigned* upper_flag_ahead() const { return flag(ahead_, 0); }
  [[nodiscard]] unsigned* lower_flag_behind() const { return flag(behind_, 1); }

 private:
  static constexpr std::size_t flag_bytes = 256;  ///< a flag has a line of its own

  [[nodiscard]] std::byte* faces(std::byte* zone, unsigned step) const {
    return zone + 2 * flag_bytes + (step % 2) * two_faces_bytes_;
  }
  [[nodiscard]] static unsigned* flag(std::byte* zone, std::size_t index) {
    return reinterpret_cast<unsigned*>(zone + index * flag_bytes);
  }

  Team team_;
  std::size_t two_faces_bytes_;
  example::DeviceArray<std::byte> memory_;
  std::byte* ahead_ = nullptr;
  std::byte* behind_ = nullptr;
};

}  // namespace dslash
