#include "interpose/binding/byte_datatype.hpp"

namespace penstock::interpose {

template <typename Make>
void ByteDatatype::replace(Make make) noexcept {
  if (code_ != MPI_SUCCESS) return;
  MPI_Datatype made = MPI_DATATYPE_NULL;
  code_ = make(type_, &made);
  if (type_ != MPI_DATATYPE_NULL) PMPI_Type_free(&type_);
  type_ = code_ == MPI_SUCCESS ? made : MPI_DATATYPE_NULL;
}

ByteDatatype::ByteDatatype(MPI_Count bytes, MPI_Aint extent) noexcept {
  constexpr MPI_Count piece_bytes = MPI_Count{1} << 30;
  const int pieces = static_cast<int>(bytes / piece_bytes);
  const int rest = static_cast<int>(bytes % piece_bytes);
  if (pieces == 0) {
    replace([&](MPI_Datatype, MPI_Datatype* made) { return PMPI_Type_contiguous(rest, MPI_BYTE, made); });
  } else {
    constexpr int each = static_cast<int>(piece_bytes);
    replace([&](MPI_Datatype, MPI_Datatype* made) {
      return PMPI_Type_vector(pieces, each, each, MPI_BYTE, made);
    });
    replace([&](MPI_Datatype whole_pieces, MPI_Datatype* made) {
      const int lengths[2] = {1, rest};
      const MPI_Aint displacements[2] = {0, static_cast<MPI_Aint>(bytes - rest)};
      const MPI_Datatype types[2] = {whole_pieces, MPI_BYTE};
      return PMPI_Type_create_struct(2, lengths, displacements, types, made);
    });
  }
  if (extent != bytes) {
    replace([&](MPI_Datatype packed, MPI_Datatype* made) {
      return PMPI_Type_create_resized(packed, 0, extent, made);
    });
  }
  if (code_ == MPI_SUCCESS) code_ = PMPI_Type_commit(&type_);
}

}  // namespace penstock::interpose
