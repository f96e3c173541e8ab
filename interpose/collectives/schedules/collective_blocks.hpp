// This header describes the blocks, one for each rank or neighbour, that make up a buffer of a collective:
// where the n-th lies and how large it is, in the three ways in which MPI describes them. It knows no single
// collective.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "interpose/binding/mpi_details.hpp"
#include "interpose/staging/packed_argument.hpp"
#include "interpose/staging/staged_argument.hpp"

namespace penstock::interpose {

/// Count, datatype and displacement (in bytes) of the n-th block, as `Place` returns them.
struct BlockPlace {
  MPI_Count count;
  MPI_Datatype datatype;
  std::ptrdiff_t displacement;
};

/// Reads nothing of the user's arrays before a block is requested. A value; refers to the user's arrays.
template <typename Place>
class Blocks {
 public:
  Blocks(int count, Place place) noexcept : count_(count), place_(place) {}

  [[nodiscard]] ByteRange all() const {
    ByteRange region;
    for (int block = 0; block < count_; ++block) add_to(region, block);
    return region;
  }
  [[nodiscard]] ByteRange one(int block) const {
    ByteRange region;
    if (block >= 0 && block < count_) add_to(region, block);
    return region;
  }
  [[nodiscard]] int count() const noexcept { return count_; }
  [[nodiscard]] BlockPlace at(int block) const noexcept { return place_(block); }
  /// Returns false if the MPI library would reject the arguments at once.
  [[nodiscard]] bool are_valid() const noexcept {
    for (int block = 0; block < count_; ++block) {
      const BlockPlace there = place_(block);
      if (there.count < 0 || there.datatype == MPI_DATATYPE_NULL) return false;
    }
    return true;
  }
  [[nodiscard]] bool are_empty() const noexcept {
    for (int block = 0; block < count_; ++block) {
      const BlockPlace there = place_(block);
      if (there.count != 0 && payload_bytes(there.count, there.datatype) != 0) return false;
    }
    return true;
  }
  [[nodiscard]] std::uint64_t bytes() const noexcept {
    std::uint64_t sum = 0;
    for (int block = 0; block < count_; ++block) {
      const BlockPlace there = place_(block);
      sum += payload_bytes(there.count, there.datatype);
    }
    return sum;
  }

 private:
  void add_to(ByteRange& region, int block) const {
    const BlockPlace there = place_(block);
    region.add(there.count, there.datatype, there.displacement);
  }

  int count_;
  Place place_;
};

/// Returns the single block of a collective that takes one message.
[[nodiscard]] inline auto one_block(MPI_Count count, MPI_Datatype datatype) noexcept {
  return Blocks(1, [=](int) { return BlockPlace{count, datatype, 0}; });
}

/// Returns equal blocks, one behind the other: MPI_Gather, MPI_Alltoall …
template <typename Count>
[[nodiscard]] auto equal_blocks(int blocks, Count count, MPI_Datatype datatype) noexcept {
  return Blocks(blocks, [=](int block) {
    return BlockPlace{count, datatype, static_cast<std::ptrdiff_t>(block) * count * extent_of(datatype)};
  });
}

/// Returns blocks of one datatype at displacements in elements: MPI_Gatherv, MPI_Alltoallv …
template <typename Count, typename Displacement>
[[nodiscard]] auto placed_blocks(int blocks, const Count* counts, const Displacement* displacements,
                                 MPI_Datatype datatype) noexcept {
  return Blocks(blocks, [=](int block) {
    return BlockPlace{counts[block], datatype, displacements[block] * extent_of(datatype)};
  });
}

/// Returns blocks with a datatype each, at displacements in bytes: MPI_Alltoallw.
template <typename Count, typename Displacement>
[[nodiscard]] auto individual_blocks(int blocks, const Count* counts, const Displacement* displacements,
                                     const MPI_Datatype* datatypes) noexcept {
  return Blocks(blocks, [=](int block) {
    return BlockPlace{counts[block], datatypes[block], static_cast<std::ptrdiff_t>(displacements[block])};
  });
}

/// Adds all blocks. Returns where each begins in the stand-in, in elements of `bytes_each` bytes.
template <typename Place>
std::vector<std::ptrdiff_t> pack_all(PackedArgument& packed, const Blocks<Place>& blocks,
                                     std::uint64_t bytes_each) {
  std::vector<std::ptrdiff_t> starts;
  for (int block = 0; block < blocks.count(); ++block) {
    const BlockPlace there = blocks.at(block);
    starts.push_back(packed.bytes() / std::max<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(bytes_each), 1));
    packed.add(there.count, there.datatype, there.displacement);
  }
  return starts;
}

/// These make `pack` of a StagedCall for blocks in the three ways. Each refers to the call's arguments, which
/// it replaces.
template <typename Place>
[[nodiscard]] auto packed_equal(const Blocks<Place>& blocks, MPI_Datatype& datatype) noexcept {
  return [blocks, &datatype](PackedArgument& packed) {
    pack_all(packed, blocks, 1);
    datatype = packed.element_of(datatype);
  };
}

/// Says whether elements stay as far apart as they are, where there is room.
enum class Spacing : std::uint8_t { none, as_extent };

template <typename Place, typename Displacement>
[[nodiscard]] auto packed_placed(const Blocks<Place>& blocks, const Displacement*& displacements,
                                 MPI_Datatype& datatype, Spacing spacing = Spacing::none) noexcept {
  return [blocks, &displacements, &datatype, spacing](PackedArgument& packed) {
    const std::uint64_t bytes_each = payload_bytes(1, datatype);
    displacements = packed.keep<Displacement>(pack_all(packed, blocks, bytes_each));
    datatype =
        spacing == Spacing::as_extent ? packed.spaced_element_of(datatype) : packed.element_of(datatype);
  };
}

template <typename Place, typename Displacement>
[[nodiscard]] auto packed_individual(const Blocks<Place>& blocks, const Displacement*& displacements,
                                     const MPI_Datatype*& datatypes) noexcept {
  return [blocks, &displacements, &datatypes](PackedArgument& packed) {
    displacements = packed.keep<Displacement>(pack_all(packed, blocks, 1));
    std::vector<MPI_Datatype> elements;
    for (int block = 0; block < blocks.count(); ++block) {
      // the library says what is wrong with the others
      const BlockPlace there = blocks.at(block);
      elements.push_back(there.count > 0 ? packed.element_of(there.datatype) : there.datatype);
    }
    datatypes = packed.keep(std::move(elements));
  };
}

}  // namespace penstock::interpose
