#include "tests/differential/datatypes.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace penstock::differential {

namespace {

MPI_Datatype predefined(Base base) {
  return base == Base::byte ? MPI_BYTE : base == Base::int32 ? MPI_INT : MPI_DOUBLE;
}

MPI_Datatype resized_and_committed(MPI_Datatype type, std::size_t extent_bytes) {
  MPI_Datatype resized = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(type, 0, static_cast<MPI_Aint>(extent_bytes), &resized);
  MPI_Type_free(&type);
  MPI_Type_commit(&resized);
  return resized;
}

/// With empty blocks, one stands before each other block, outside of what is sent.
MPI_Datatype irregular(const Place& place, const std::vector<Piece>& blocks, Base base) {
  const Shape shape = place.shape;
  std::vector<int> lengths;
  std::vector<int> starts;
  std::vector<MPI_Aint> byte_starts;
  const auto add = [&](const Piece& block) {
    lengths.push_back(block.length);
    starts.push_back(block.start);
    byte_starts.push_back(block.start * static_cast<MPI_Aint>(size_of(base)));
  };
  for (const Piece& block : blocks) {
    if (place.has_empty_blocks) add({block.start + block.length + 1, 0});
    add(block);
  }
  const int count = static_cast<int>(lengths.size());
  const std::vector<MPI_Datatype> types(lengths.size(), predefined(base));
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (shape == Shape::indexed) {
    MPI_Type_indexed(count, lengths.data(), starts.data(), types[0], &type);
  } else {
    MPI_Type_create_struct(count, lengths.data(), byte_starts.data(), types.data(), &type);
  }
  return type;
}

MPI_Aint address_of(const void* data) {
  MPI_Aint address = 0;
  MPI_Get_address(data, &address);
  return address;
}

MPI_Datatype absolute(const Place& place, Base base, const Arenas& arenas) {
  std::vector<int> lengths;
  std::vector<MPI_Aint> starts;
  for (const Part& part : place.parts) {
    lengths.push_back(part.elements);
    starts.push_back(address_of(arenas.address(part.region)));
  }
  const int count = static_cast<int>(lengths.size());
  const std::vector<MPI_Datatype> types(lengths.size(), predefined(base));
  MPI_Datatype type = MPI_DATATYPE_NULL;
  // two constructors for the same
  if (lengths[0] % 2 == 0) {
    MPI_Type_create_hindexed(count, lengths.data(), starts.data(), predefined(base), &type);
  } else {
    MPI_Type_create_struct(count, lengths.data(), starts.data(), types.data(), &type);
  }
  MPI_Type_commit(&type);
  return type;
}

void compose(void* in, void* inout, int* count, MPI_Datatype*) {
  const auto* outer = static_cast<const std::uint32_t*>(in);
  auto* inner = static_cast<std::uint32_t*>(inout);
  for (int i = 0; i < *count; ++i, outer += 2, inner += 2) {
    inner[1] = outer[0] * inner[1] + outer[1];
    inner[0] = outer[0] * inner[0];
  }
}

}  // namespace

Datatype::Datatype(const Place& place, Base base, const Arenas& arenas) {
  if (place.elements() == 0) {
    take_empty(place, predefined(base), arenas);
    return;
  }
  if (place.shape == Shape::contiguous) {
    type_ = predefined(base);
    count_ = place.elements();
    return;
  }
  owned_ = true;
  if (place.shape == Shape::absolute) {
    type_ = absolute(place, base, arenas);
    count_ = 1;
    return;
  }
  const std::vector<Piece> blocks = pieces(place.shape, place.elements_each);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (place.shape == Shape::vector) {
    const int row = blocks[0].length;
    MPI_Type_vector(static_cast<int>(blocks.size()), row, 2 * row, predefined(base), &type);
  } else {
    type = irregular(place, blocks, base);
  }
  const auto extent_elements = static_cast<std::size_t>(extent(place.shape, place.elements_each));
  type_ = resized_and_committed(type, extent_elements * size_of(base));
  count_ = place.copies;
}

void Datatype::take_empty(const Place& place, MPI_Datatype base, const Arenas& arenas) {
  const int none[] = {0, 0};
  const MPI_Datatype bases[] = {base, base};
  const MPI_Aint apart[] = {8, 100};
  const MPI_Aint here = address_of(arenas.address(place.region));
  owned_ = place.empty != Empty::count_of_zero && place.empty != Empty::null_buffer;
  count_ = owned_ ? 1 + place.empty_count : 0;
  switch (place.empty) {
    case Empty::type_of_zero:
      MPI_Type_contiguous(0, base, &type_);
      break;
    case Empty::empty_blocks:
      MPI_Type_create_struct(2, none, apart, bases, &type_);
      break;
    case Empty::absolute_block:
      MPI_Type_create_hindexed(1, none, &here, base, &type_);
      break;
    default:
      type_ = base;
  }
  if (owned_) MPI_Type_commit(&type_);
}

Datatype Datatype::absolute_units(const void* first, const void* second, int units) {
  Datatype unit;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (units == 1) {
    // three blocks of the same length, in two allocations by turns
    const MPI_Aint starts[] = {address_of(first), address_of(second), address_of(first) + 8};
    const int lengths[] = {1, 1, 1};
    MPI_Type_create_hindexed(3, lengths, starts, MPI_INT, &type);
  } else {
    const MPI_Aint starts[] = {address_of(first), address_of(second)};
    const int lengths[] = {3 * (units / 2), 3 * (units - units / 2)};
    MPI_Type_create_hindexed(2, lengths, starts, MPI_INT, &type);
  }
  unit.type_ = resized_and_committed(
      type, static_cast<std::size_t>(units) * (units == 1 ? unit_bytes_with_gaps : unit_bytes));
  unit.owned_ = true;
  return unit;
}

Datatype Datatype::empty_unit(bool has_blocks) {
  Datatype unit;
  if (has_blocks) {
    const int none[] = {0, 0};
    const int starts[] = {3, 0};
    MPI_Type_indexed(2, none, starts, MPI_INT, &unit.type_);
  } else {
    MPI_Type_contiguous(0, MPI_INT, &unit.type_);
  }
  MPI_Type_commit(&unit.type_);
  unit.owned_ = true;
  return unit;
}

Datatype Datatype::unit(bool has_gaps) {
  Datatype unit;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(3, 1, has_gaps ? 2 : 1, MPI_INT, &type);
  unit.type_ = resized_and_committed(type, has_gaps ? unit_bytes_with_gaps : unit_bytes);
  unit.owned_ = true;
  return unit;
}

Datatype Datatype::element(Reduction reduction) {
  Datatype element;
  switch (reduction) {
    case Reduction::int_sum:
      element.type_ = MPI_INT;
      break;
    case Reduction::long_bxor:
      element.type_ = MPI_INT64_T;
      break;
    case Reduction::double_sum:
      element.type_ = MPI_DOUBLE;
      break;
    case Reduction::pair_minloc:
      element.type_ = MPI_2INT;
      break;
    case Reduction::complex_product:
      element.type_ = MPI_C_DOUBLE_COMPLEX;
      break;
    case Reduction::bool_lxor:
      element.type_ = MPI_C_BOOL;
      break;
    case Reduction::short_int_minloc:
      element.type_ = MPI_SHORT_INT;
      break;
    case Reduction::double_int_maxloc:
      element.type_ = MPI_DOUBLE_INT;
      break;
    default:
      MPI_Type_contiguous(2, MPI_UINT32_T, &element.type_);
      MPI_Type_commit(&element.type_);
      element.owned_ = true;
  }
  return element;
}

Datatype::Datatype(Datatype&& other) noexcept
    : type_(other.type_), count_(other.count_), owned_(std::exchange(other.owned_, false)) {}

Datatype::~Datatype() {
  if (owned_) MPI_Type_free(&type_);
}

void* buffer_of(const Place& place, const Arenas& arenas) {
  const bool is_empty = place.elements() == 0;
  const bool is_bottom = is_empty ? place.empty == Empty::absolute_block || place.empty == Empty::null_buffer
                                  : place.shape == Shape::absolute;
  return is_bottom ? MPI_BOTTOM : arenas.address(place.region);
}

AffineComposition::AffineComposition() {
  MPI_Op_create(compose, 0, &op_);
}
AffineComposition::~AffineComposition() {
  MPI_Op_free(&op_);
}

}  // namespace penstock::differential
