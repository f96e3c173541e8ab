#include "interpose/collectives/schedules/reduction_kind.hpp"

#include <algorithm>
#include <array>

#include "interpose/binding/mpi_details.hpp"
#include "interpose/collectives/schedules/undefined_reductions.hpp"
#include "interpose/datatypes/known_type.hpp"

namespace penstock::interpose {
namespace {

using transports::ReductionOperation;

struct PredefinedOperation {
  MPI_Op operation;
  std::optional<ReductionOperation> known;  ///< none: for windows only
};

// Made at first use: an MPI library that is bound at run time has its handles only then.
const auto& predefined_operations() {
  static const std::array operations = {
      PredefinedOperation{MPI_SUM, ReductionOperation::sum},
      PredefinedOperation{MPI_MAX, ReductionOperation::maximum},
      PredefinedOperation{MPI_MIN, ReductionOperation::minimum},
      PredefinedOperation{MPI_PROD, ReductionOperation::product},
      PredefinedOperation{MPI_LAND, ReductionOperation::logical_and},
      PredefinedOperation{MPI_LOR, ReductionOperation::logical_or},
      PredefinedOperation{MPI_LXOR, ReductionOperation::logical_xor},
      PredefinedOperation{MPI_BAND, ReductionOperation::bit_and},
      PredefinedOperation{MPI_BOR, ReductionOperation::bit_or},
      PredefinedOperation{MPI_BXOR, ReductionOperation::bit_xor},
      PredefinedOperation{MPI_MAXLOC, ReductionOperation::maximum_location},
      PredefinedOperation{MPI_MINLOC, ReductionOperation::minimum_location},
      PredefinedOperation{MPI_REPLACE, std::nullopt},
      PredefinedOperation{MPI_NO_OP, std::nullopt},
  };
  return operations;
}

bool is_allowed(Allowed allowed, ReductionOperation operation) noexcept {
  const bool is_logical =
      operation >= ReductionOperation::logical_and && operation <= ReductionOperation::logical_xor;
  switch (allowed) {
    case Allowed::everything:
      return true;
    case Allowed::not_logical:
      return !is_logical;
    case Allowed::logical:
      return is_logical;
    case Allowed::bitwise:
      return operation >= ReductionOperation::bit_and;
    case Allowed::nothing:
      return false;
  }
  return false;
}

const PredefinedOperation* find(MPI_Op operation) noexcept {
  const auto found = std::ranges::find(predefined_operations(), operation, &PredefinedOperation::operation);
  return found != predefined_operations().end() ? &*found : nullptr;
}

}  // namespace

bool is_predefined(MPI_Op operation) noexcept {
  return find(operation) != nullptr;
}

std::optional<ReductionKind> reduction_kind(MPI_Datatype datatype, MPI_Op operation) noexcept {
  const KnownType* const type = known_type(datatype);
  const PredefinedOperation* const predefined = find(operation);
  if (type == nullptr || predefined == nullptr || !predefined->known) return std::nullopt;
  const ReductionOperation known = *predefined->known;
  if (!transports::is_defined(known, type->type)) return std::nullopt;
  const std::size_t bytes = transports::bytes_of(type->type);
  if (extent_of(datatype) != static_cast<std::ptrdiff_t>(bytes)) return std::nullopt;
  if (!is_allowed(type->allowed, known) &&
      !library_combines_alike({datatype, operation}, {type->type, known})) {
    return std::nullopt;
  }
  ReductionKind kind{type->type, known};
  if (payload_bytes(1, datatype) == bytes) return kind;
  MPI_Count begin = 0;
  MPI_Count used = 0;
  PMPI_Type_get_true_extent_x(datatype, &begin, &used);
  kind.pairs = datatype;
  kind.last_gap_bytes = bytes - static_cast<std::size_t>(used);
  return kind;
}

}  // namespace penstock::interpose
