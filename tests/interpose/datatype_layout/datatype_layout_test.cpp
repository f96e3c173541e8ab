// What layout_of says of a datatype against what MPI_Pack does with it: packing a buffer that is filled with
// its own byte offsets tells where every byte of the message lies, and in which order.
#include "interpose/datatypes/datatype_layout.hpp"
#include "interpose/binding/mpi_level.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "tests/interpose/datatype_layout/element_span.hpp"
#include "tests/interpose/datatype_layout/random_datatype.hpp"

namespace penstock::interpose {
namespace {

using transports::Block;
using transports::Layout;

std::vector<std::ptrdiff_t> offsets_of(const Layout& layout) {
  std::vector<std::ptrdiff_t> offsets;
  for (const Block& block : layout.blocks()) {
    for (std::size_t piece = 0; piece < block.count; ++piece) {
      for (std::size_t byte = 0; byte < block.bytes; ++byte) {
        offsets.push_back(block.offset + static_cast<std::ptrdiff_t>(piece) * block.stride +
                          static_cast<std::ptrdiff_t>(byte));
      }
    }
  }
  return offsets;
}

/// Offsets as MPI_Pack finds them: packs three times, each time one byte of every offset.
std::vector<std::ptrdiff_t> packed_offsets(MPI_Datatype datatype, int count) {
  int size = 0;
  MPI_Type_size(datatype, &size);
  const std::size_t bytes = static_cast<std::size_t>(size) * static_cast<std::size_t>(count);
  if (bytes == 0) return {};
  const test_support::ElementSpan span = test_support::span_of(datatype, count);
  const auto origin = static_cast<std::ptrdiff_t>(span.before);
  const std::ptrdiff_t end = origin + static_cast<std::ptrdiff_t>(span.after);
  EXPECT_LT(end, 1 << 24) << "three bytes cannot tell such an offset";

  std::vector<std::ptrdiff_t> offsets(bytes, -origin);
  std::vector<std::uint8_t> buffer(static_cast<std::size_t>(end) + 1);
  std::vector<std::uint8_t> packed(bytes + 1);
  for (unsigned shift = 0; shift < 24; shift += 8) {
    for (std::size_t index = 0; index < buffer.size(); ++index) {
      buffer[index] = static_cast<std::uint8_t>(index >> shift);
    }
    int position = 0;
    MPI_Pack(buffer.data() + origin, count, datatype, packed.data(), static_cast<int>(packed.size()),
             &position, MPI_COMM_SELF);
    EXPECT_EQ(static_cast<std::size_t>(position), bytes);
    for (std::size_t index = 0; index < bytes; ++index) {
      offsets[index] += static_cast<std::ptrdiff_t>(packed[index]) << shift;
    }
  }
  return offsets;
}

/// MPICH 4.0.2 may pack 3 bytes of a type of 4 once handles of freed types have been used again: no reference
/// then.
bool packs_what_its_size_says(MPI_Datatype datatype) {
  int size = 0;
  MPI_Type_size(datatype, &size);
  if (size == 0) return true;
  MPI_Aint first = 0;
  MPI_Aint span = 0;
  MPI_Type_get_true_extent(datatype, &first, &span);
  const std::vector<std::uint8_t> buffer(static_cast<std::size_t>(span) + 1);
  std::vector<std::uint8_t> packed(static_cast<std::size_t>(size) + 1);
  int position = 0;
  MPI_Pack(buffer.data() - first, 1, datatype, packed.data(), static_cast<int>(packed.size()), &position,
           MPI_COMM_SELF);
  return position == size;
}

class DatatypeLayout : public testing::Test {
 protected:
  void TearDown() override {
    for (MPI_Datatype& type : made_) MPI_Type_free(&type);
  }

  /// Owns a committed type until the test's end.
  MPI_Datatype make(const std::function<void(MPI_Datatype*)>& construct) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    construct(&type);
    MPI_Type_commit(&type);
    made_.push_back(type);
    return type;
  }

  void expect_as_packed(MPI_Datatype datatype) {
    for (const int count : {0, 1, 2, 5}) {
      const std::vector<std::ptrdiff_t> expected = packed_offsets(datatype, count);
      const Layout layout = layout_of(datatype, count);
      EXPECT_EQ(offsets_of(layout), expected) << "count " << count;
      std::ptrdiff_t offset = 0;
      std::size_t bytes = 0;
      if (is_contiguous(datatype, count, &offset, &bytes)) {
        EXPECT_EQ(offsets_of(Layout::contiguous(bytes, offset)), expected) << "count " << count;
      }
    }
    // once more, from what was kept
    EXPECT_EQ(offsets_of(layout_of(datatype, 1)), packed_offsets(datatype, 1));
  }

 private:
  std::vector<MPI_Datatype> made_;
};

TEST_F(DatatypeLayout, of_predefined_types_is_contiguous) {
  const std::array types = {MPI_CHAR,        MPI_SHORT,          MPI_INT,    MPI_LONG_LONG, MPI_DOUBLE,
                            MPI_LONG_DOUBLE, MPI_DOUBLE_COMPLEX, MPI_C_BOOL, MPI_BYTE,      MPI_PACKED,
                            MPI_2INT,        MPI_AINT,           MPI_COUNT};
  for (const MPI_Datatype type : types) {
    expect_as_packed(type);
    std::ptrdiff_t offset = 0;
    std::size_t bytes = 0;
    EXPECT_TRUE(is_contiguous(type, 7, &offset, &bytes));
  }
}

TEST_F(DatatypeLayout, of_pairs_leaves_their_holes_out) {
  for (const MPI_Datatype type :
       {MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT}) {
    expect_as_packed(type);
  }
  std::ptrdiff_t offset = 0;
  std::size_t bytes = 0;
  EXPECT_FALSE(is_contiguous(MPI_DOUBLE_INT, 2, &offset, &bytes));
  expect_as_packed(make([](MPI_Datatype* type) { MPI_Type_vector(3, 2, 5, MPI_DOUBLE_INT, type); }));
}

TEST_F(DatatypeLayout, of_null_type_and_negative_count_is_empty) {
  EXPECT_EQ(layout_of(MPI_DATATYPE_NULL, 3).bytes(), 0u);
  EXPECT_EQ(layout_of(MPI_INT, -3).bytes(), 0u);
}

TEST_F(DatatypeLayout, of_each_regular_constructor) {
  expect_as_packed(make([](auto* type) { MPI_Type_contiguous(7, MPI_INT, type); }));
  expect_as_packed(make([](auto* type) { MPI_Type_dup(MPI_DOUBLE, type); }));
  expect_as_packed(make([](auto* type) { MPI_Type_vector(4, 3, 5, MPI_SHORT, type); }));
  expect_as_packed(make([](auto* type) { MPI_Type_vector(4, 3, -7, MPI_INT, type); }));
  expect_as_packed(make([](auto* type) { MPI_Type_vector(4, 1, 0, MPI_INT, type); }));
  expect_as_packed(make([](auto* type) { MPI_Type_create_hvector(5, 2, 37, MPI_INT, type); }));
  expect_as_packed(make([](auto* type) { MPI_Type_create_resized(MPI_INT, -4, 16, type); }));
}

TEST_F(DatatypeLayout, of_each_irregular_constructor) {
  const std::array<int, 4> lengths = {2, 0, 3, 1};
  const std::array<int, 4> elements = {10, 3, -6, 0};
  const std::array<MPI_Aint, 4> bytes = {81, 3, -60, 5};
  const std::array<MPI_Datatype, 4> types = {MPI_CHAR, MPI_INT, MPI_DOUBLE_INT, MPI_SHORT};
  expect_as_packed(
      make([&](auto* type) { MPI_Type_indexed(4, lengths.data(), elements.data(), MPI_INT, type); }));
  expect_as_packed(
      make([&](auto* type) { MPI_Type_create_hindexed(4, lengths.data(), bytes.data(), MPI_INT, type); }));
  expect_as_packed(
      make([&](auto* type) { MPI_Type_create_indexed_block(4, 3, elements.data(), MPI_INT, type); }));
  expect_as_packed(
      make([&](auto* type) { MPI_Type_create_hindexed_block(4, 3, bytes.data(), MPI_INT, type); }));
  expect_as_packed(
      make([&](auto* type) { MPI_Type_create_struct(4, lengths.data(), bytes.data(), types.data(), type); }));
}

TEST_F(DatatypeLayout, of_subarrays_in_both_orders) {
  const std::array<int, 3> sizes = {5, 7, 6};
  const std::array<int, 3> subsizes = {2, 3, 4};
  const std::array<int, 3> starts = {1, 3, 2};
  for (const int order : {MPI_ORDER_C, MPI_ORDER_FORTRAN}) {
    expect_as_packed(make([&](auto* type) {
      MPI_Type_create_subarray(3, sizes.data(), subsizes.data(), starts.data(), order, MPI_INT, type);
    }));
  }
}

TEST_F(DatatypeLayout, of_every_ranks_share_of_a_distributed_array) {
  const std::array<int, 3> sizes = {11, 5, 9};
  const std::array<int, 3> processes = {3, 1, 2};
  const std::array<int, 3> default_arguments = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG,
                                                MPI_DISTRIBUTE_DFLT_DARG};
  const std::array<int, 3> arguments = {4, MPI_DISTRIBUTE_DFLT_DARG, 2};
  const std::array<int, 3> blocks = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK};
  const std::array<int, 3> cyclic = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_CYCLIC};
  const std::array<int, 3> mixed = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_CYCLIC};
  const auto expect_share = [&](int rank, const auto& kinds, const auto& given, int order) {
    SCOPED_TRACE(testing::Message() << "rank " << rank << ", order "
                                    << (order == MPI_ORDER_C ? "C" : "Fortran"));
    expect_as_packed(make([&](auto* type) {
      MPI_Type_create_darray(6, rank, 3, sizes.data(), kinds.data(), given.data(), processes.data(), order,
                             MPI_INT, type);
    }));
  };
  for (int rank = 0; rank < 6; ++rank) {
    for (const int order : {MPI_ORDER_C, MPI_ORDER_FORTRAN}) {
      expect_share(rank, blocks, default_arguments, order);
      expect_share(rank, cyclic, default_arguments, order);
      expect_share(rank, cyclic, arguments, order);
      expect_share(rank, mixed, default_arguments, order);
    }
  }
}

TEST_F(DatatypeLayout, of_parametrised_fortran_types) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_f90_real(15, MPI_UNDEFINED, &type);
  expect_as_packed(type);
  expect_as_packed(make([&](MPI_Datatype* made) { MPI_Type_vector(3, 1, 2, type, made); }));
}

#if PENSTOCK_HAS_LARGE_COUNTS
TEST_F(DatatypeLayout, of_types_made_with_large_counts) {
  const std::array<MPI_Count, 3> lengths = {2, 0, 3};
  const std::array<MPI_Count, 3> places = {40, 3, 8};
  const std::array<MPI_Datatype, 3> types = {MPI_CHAR, MPI_INT, MPI_DOUBLE_INT};
  const std::array<MPI_Count, 2> sizes = {5, 7};
  const std::array<MPI_Count, 2> subsizes = {2, 3};
  const std::array<MPI_Count, 2> starts = {1, 3};
  const std::array<int, 2> kinds = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK};
  const std::array<int, 2> arguments = {2, MPI_DISTRIBUTE_DFLT_DARG};
  const std::array<int, 2> processes = {2, 2};
  expect_as_packed(make([](auto* type) { MPI_Type_contiguous_c(7, MPI_INT, type); }));
  expect_as_packed(make([](auto* type) { MPI_Type_vector_c(4, 3, 5, MPI_SHORT, type); }));
  expect_as_packed(make([](auto* type) { MPI_Type_create_hvector_c(5, 2, 37, MPI_INT, type); }));
  expect_as_packed(
      make([&](auto* type) { MPI_Type_indexed_c(3, lengths.data(), places.data(), MPI_INT, type); }));
  expect_as_packed(
      make([&](auto* type) { MPI_Type_create_hindexed_c(3, lengths.data(), places.data(), MPI_INT, type); }));
  expect_as_packed(
      make([&](auto* type) { MPI_Type_create_indexed_block_c(3, 2, places.data(), MPI_INT, type); }));
  expect_as_packed(
      make([&](auto* type) { MPI_Type_create_hindexed_block_c(3, 2, places.data(), MPI_INT, type); }));
  expect_as_packed(make(
      [&](auto* type) { MPI_Type_create_struct_c(3, lengths.data(), places.data(), types.data(), type); }));
  expect_as_packed(make([](auto* type) { MPI_Type_create_resized_c(MPI_INT, -4, 16, type); }));
  expect_as_packed(make([&](auto* type) {
    MPI_Type_create_subarray_c(2, sizes.data(), subsizes.data(), starts.data(), MPI_ORDER_FORTRAN, MPI_INT,
                               type);
  }));
  expect_as_packed(make([&](auto* type) {
    MPI_Type_create_darray_c(4, 2, 2, sizes.data(), kinds.data(), arguments.data(), processes.data(),
                             MPI_ORDER_C, MPI_INT, type);
  }));
}
#endif

TEST_F(DatatypeLayout, keeps_a_face_of_a_cube_as_one_block) {
  const MPI_Datatype face = make([](auto* type) { MPI_Type_vector(512, 1, 512, MPI_DOUBLE, type); });
  const Layout layout = layout_of(face, 1);
  ASSERT_EQ(layout.blocks().size(), 1u);
  EXPECT_EQ(layout.blocks()[0], (Block{.offset = 0, .bytes = 8, .count = 512, .stride = 4096}));
}

TEST_F(DatatypeLayout, sees_a_dense_vector_as_contiguous) {
  const MPI_Datatype dense = make([](auto* type) { MPI_Type_vector(16, 4, 4, MPI_INT, type); });
  std::ptrdiff_t offset = 0;
  std::size_t bytes = 0;
  EXPECT_TRUE(is_contiguous(dense, 3, &offset, &bytes));
  EXPECT_EQ(bytes, 3u * 16 * 4 * sizeof(int));
}

TEST_F(DatatypeLayout, is_a_types_own_after_another_took_its_handle) {
  for (int length = 1; length < 20; ++length) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_vector(3, length, 25, MPI_INT, &type);
    MPI_Type_commit(&type);
    EXPECT_EQ(layout_of(type, 1).bytes(), 3u * static_cast<unsigned>(length) * sizeof(int));
    MPI_Type_free(&type);
  }
}

TEST_F(DatatypeLayout, of_random_nested_types) {
  std::mt19937 random(20260601);
  int contradictions = 0;
  for (int round = 0; round < 400 && !HasFailure(); ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round);
    const MPI_Datatype type =
        make([&](MPI_Datatype* made) { *made = test_support::random_datatype(random, 3); });
    if (packs_what_its_size_says(type)) {
      expect_as_packed(type);
    } else {
      ++contradictions;
    }
  }
  EXPECT_LE(contradictions, 4);
}

TEST_F(DatatypeLayout, place_of_an_absolute_address_begins_at_the_first_byte) {
  std::array<int, 100> numbers{};
  MPI_Aint address = 0;
  MPI_Get_address(&numbers[40], &address);
  const int length = 3;
  const MPI_Datatype absolute =
      make([&](auto* type) { MPI_Type_create_hindexed(1, &length, &address, MPI_INT, type); });
  const transports::BufferView place = view_of(MPI_BOTTOM, 1, absolute);
  EXPECT_EQ(place.buffer.pointer, &numbers[40]);
  EXPECT_EQ(place.layout.first_offset(), 0);
  EXPECT_EQ(place.layout.bytes(), sizeof(int) * 3);
  EXPECT_FALSE(touches_device(MPI_BOTTOM, 1, absolute));
}

TEST_F(DatatypeLayout, place_of_a_type_with_an_offset_begins_at_the_first_byte) {
  std::array<int, 100> numbers{};
  const MPI_Datatype late = make([](auto* type) {
    const int length = 2;
    const int start = 10;
    MPI_Type_indexed(1, &length, &start, MPI_INT, type);
  });
  const transports::BufferView place = view_of(numbers.data(), 2, late);
  EXPECT_EQ(place.buffer.pointer, &numbers[10]);
  EXPECT_EQ(place.layout.bytes(), sizeof(int) * 4);
}

}  // namespace
}  // namespace penstock::interpose

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  MPI_Init(&argc, &argv);
  const int failed = RUN_ALL_TESTS();
  MPI_Finalize();
  return failed;
}
