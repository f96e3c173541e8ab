// A datatype of a number of contiguous bytes, which may exceed an int. Knows no call.
#pragma once

#include <mpi.h>

#include <utility>

namespace penstock::interpose {

/// Owns the type; MPI keeps it for calls in flight. Errors: code().
class ByteDatatype {
 public:
  explicit ByteDatatype(MPI_Count bytes) noexcept : ByteDatatype(bytes, static_cast<MPI_Aint>(bytes)) {}
  /// Elements are `extent` bytes apart.
  ByteDatatype(MPI_Count bytes, MPI_Aint extent) noexcept;
  ByteDatatype(ByteDatatype&& other) noexcept
      : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)), code_(other.code_) {}
  ByteDatatype& operator=(ByteDatatype&&) = delete;
  ~ByteDatatype() {
    if (type_ != MPI_DATATYPE_NULL) PMPI_Type_free(&type_);
  }

  /// Returns the code of the MPI function that failed to make the type; MPI_SUCCESS: none did.
  [[nodiscard]] int code() const noexcept { return code_; }
  [[nodiscard]] MPI_Datatype get() const noexcept { return type_; }

 private:
  /// Replaces the type by the result of `make(type, &new type)`, unless an earlier call failed.
  template <typename Make>
  void replace(Make make) noexcept;

  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  int code_ = MPI_SUCCESS;
};

}  // namespace penstock::interpose
