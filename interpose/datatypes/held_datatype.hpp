// A datatype that the user may free while a persistent or deferred operation still needs it. This header
// knows no operation.
#pragma once

#include <mpi.h>

#include "interpose/calls/errors.hpp"
#include "interpose/datatypes/datatype_contents.hpp"

namespace penstock::interpose {

/// Owns a datatype of one element of a derived datatype: unlike a duplicate's, its making calls no function
/// of the program's that copies attributes. Errors: UnreadableDatatype.
class HeldDatatype {
 public:
  explicit HeldDatatype(MPI_Datatype datatype) : datatype_(datatype) {
    if (datatype == MPI_DATATYPE_NULL || DatatypeContents::is_predefined(datatype)) return;
    const int code = PMPI_Type_contiguous(1, datatype, &datatype_);
    if (code != MPI_SUCCESS) throw UnreadableDatatype("MPI_Type_contiguous", code);
    is_derived_ = true;
    PMPI_Type_commit(&datatype_);
  }
  ~HeldDatatype() {
    if (is_derived_) PMPI_Type_free(&datatype_);
  }
  HeldDatatype(const HeldDatatype&) = delete;
  HeldDatatype& operator=(const HeldDatatype&) = delete;
  [[nodiscard]] MPI_Datatype get() const noexcept { return datatype_; }

 private:
  MPI_Datatype datatype_;
  bool is_derived_ = false;
};

}  // namespace penstock::interpose
