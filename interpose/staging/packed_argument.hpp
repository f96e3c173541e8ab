// A stand-in in host memory for a buffer whose bytes lie apart: of absolute addresses (MPI_BOTTOM), which may
// be of several allocations, tens of TiB apart, or of a datatype with gaps. The stand-in is packed: elements
// lie one behind the other, their bytes in the order in which they are sent. Datatypes and displacements that
// describe this replace the user's. Counts and element sizes stay, as MPI libraries cut messages by them.
// Only for calls that move bytes and do not interpret them. Knows datatypes, no MPI call.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "interpose/binding/byte_datatype.hpp"
#include "interpose/staging/host_memory.hpp"
#include "transports/host/status.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::interpose {

class ByteRange;

/// Returns whether packed elements have hardly more blocks than where they lie, in no order: those of several
/// blocks each have as many for each element.
[[nodiscard]] bool pack_into_few_blocks(MPI_Count count, MPI_Datatype datatype, const ByteRange& as_they_lie);

/// Owns the memory, and the datatypes and arrays that describe it; a move does not relocate these. Unit:
/// bytes. Thread: one at a time. Errors: as a Status; throws std::bad_alloc, UnreadableDatatype.
class PackedArgument {
 public:
  /// `base`: the address to which those of the blocks are relative.
  explicit PackedArgument(const void* base = MPI_BOTTOM) noexcept
      : base_(reinterpret_cast<std::ptrdiff_t>(base)) {}

  /// Adds a block behind the earlier ones.
  void add(MPI_Count count, MPI_Datatype datatype, std::ptrdiff_t address);
  /// Returns the bytes of all blocks so far. Before open().
  [[nodiscard]] std::ptrdiff_t bytes() const noexcept { return static_cast<std::ptrdiff_t>(layout_.bytes()); }

  /// Returns the datatype that describes elements of `datatype` in the stand-in.
  [[nodiscard]] MPI_Datatype element_of(MPI_Datatype datatype);
  /// The same if all blocks have that datatype; elements keep the user's distance if they have room there.
  [[nodiscard]] MPI_Datatype spaced_element_of(MPI_Datatype datatype);
  /// Keeps an array until the call is over.
  [[nodiscard]] const MPI_Datatype* keep(std::vector<MPI_Datatype> datatypes) noexcept {
    datatypes_ = std::move(datatypes);
    return datatypes_.data();
  }
  template <typename Displacement>
  [[nodiscard]] const Displacement* keep(const std::vector<std::ptrdiff_t>& displacements);

  /// Takes memory for the blocks.
  [[nodiscard]] Status open(bool is_read, bool is_written);
  [[nodiscard]] void* address() const noexcept { return memory_.data(); }

  /// The next four: as those of StagedArgument.
  [[nodiscard]] Status fetch(const char* why) const;
  [[nodiscard]] bool may_fetch_now() const { return !is_read_ || is_idle(); }
  [[nodiscard]] bool may_write_back_now() const { return !is_written_ || is_idle(); }
  [[nodiscard]] Status write_back(const char* why) const;

 private:
  [[nodiscard]] MPI_Datatype make(std::size_t bytes, std::size_t extent);
  [[nodiscard]] bool is_idle() const;
  /// Returns the blocks as they lie now: their memory may have been freed since open().
  [[nodiscard]] const transports::BufferView& view() const;

  HostMemory memory_;
  std::ptrdiff_t base_;
  transports::Layout layout_;            ///< of absolute addresses, until open()
  mutable transports::BufferView view_;  ///< from open() on: finding many blocks' allocations takes long
  bool is_read_ = false;
  bool is_written_ = false;
  std::vector<ByteDatatype> made_;
  std::size_t last_made_bytes_ = 0;
  std::vector<MPI_Datatype> datatypes_;
  std::tuple<std::vector<int>, std::vector<MPI_Aint>> displacements_;
  bool are_too_far_ = false;  ///< the displacements do not fit their type
  std::size_t spaced_ = 0;    ///< number of elements if each has room behind it; 0: none has
  std::size_t element_bytes_ = 0;
  std::size_t extent_ = 0;
};

template <typename Displacement>
const Displacement* PackedArgument::keep(const std::vector<std::ptrdiff_t>& displacements) {
  auto& kept = std::get<std::vector<Displacement>>(displacements_);
  for (const std::ptrdiff_t each : displacements) {
    are_too_far_ = are_too_far_ || each > std::numeric_limits<Displacement>::max();
    kept.push_back(static_cast<Displacement>(each));
  }
  return kept.data();
}

}  // namespace penstock::interpose
