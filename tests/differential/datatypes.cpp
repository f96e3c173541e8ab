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

MPI_Datatype irregular(Shape shape, const std::vector<Piece>& blocks, Base base) {
  std::vector<int> lengths;
  std::vector<int> starts;
  std::vector<MPI_Aint> byte_starts;
  const std::vector<MPI_Datatype> types(blocks.size(), predefined(base));
  for (const Piece& block : blocks) {
    lengths.push_back(block.length);
    starts.push_back(block.start);
    byte_starts.push_back(block.start * static_cast<MPI_Aint>(size_of(base)));
  }
  const int count = static_cast<int>(blocks.size());
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (shape == Shape::indexed) {
    MPI_Type_indexed(count, lengths.data(), starts.data(), types[0], &type);
  } else {
    MPI_Type_create_struct(count, lengths.data(), byte_starts.data(), types.data(), &type);
  }
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

Datatype::Datatype(const Place& place, Base base) {
  if (place.shape == Shape::contiguous || place.elements_each == 0) {
    type_ = predefined(base);
    count_ = place.elements();
    return;
  }
  const std::vector<Piece> blocks = pieces(place.shape, place.elements_each);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (place.shape == Shape::vector) {
    const int row = blocks[0].length;
    MPI_Type_vector(static_cast<int>(blocks.size()), row, 2 * row, predefined(base), &type);
  } else {
    type = irregular(place.shape, blocks, base);
  }
  const auto extent_elements = static_cast<std::size_t>(extent(place.shape, place.elements_each));
  type_ = resized_and_committed(type, extent_elements * size_of(base));
  count_ = place.copies;
  owned_ = true;
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

AffineComposition::AffineComposition() {
  MPI_Op_create(compose, 0, &op_);
}
AffineComposition::~AffineComposition() {
  MPI_Op_free(&op_);
}

}  // namespace penstock::differential
