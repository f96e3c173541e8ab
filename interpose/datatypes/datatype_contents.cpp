#include "interpose/datatypes/datatype_contents.hpp"

#include "interpose/binding/function_names.hpp"
#include "interpose/binding/mpi_binding.hpp"
#include "interpose/calls/errors.hpp"

namespace penstock::interpose {
namespace {

// Open MPI 4 has the numbers of the combiners that MPI-3 removed, under other names. The standard ABI has
// none.
#if !PENSTOCK_HAS_REMOVED_FUNCTIONS
constexpr int hvector_integer = -1;
constexpr int hindexed_integer = -2;
constexpr int struct_integer = -3;
#elif defined(OPEN_MPI)
constexpr int hvector_integer = MPI_COMBINER_HVECTOR - 1;
constexpr int hindexed_integer = MPI_COMBINER_HINDEXED - 1;
constexpr int struct_integer = MPI_COMBINER_STRUCT - 1;
#else
constexpr int hvector_integer = MPI_COMBINER_HVECTOR_INTEGER;
constexpr int hindexed_integer = MPI_COMBINER_HINDEXED_INTEGER;
constexpr int struct_integer = MPI_COMBINER_STRUCT_INTEGER;
#endif

/// Number of arguments of each type that the constructor had (MPI calls it an envelope).
struct Signature {
  MPI_Count integers = 0;
  MPI_Count addresses = 0;
  MPI_Count large_counts = 0;
  MPI_Count types = 0;
  int combiner = MPI_COMBINER_NAMED;
};

#if PENSTOCK_HAS_LARGE_COUNTS
/// Returns whether the library has the functions of MPI-4 that read datatypes.
bool reads_large_counts() noexcept {
  return has_function(Function::Type_get_envelope_c) && has_function(Function::Type_get_contents_c);
}
#endif

/// Returns the MPI library's code.
int read_signature(MPI_Datatype datatype, Signature& signature) noexcept {
#if PENSTOCK_HAS_LARGE_COUNTS
  if (reads_large_counts()) {
    return PMPI_Type_get_envelope_c(datatype, &signature.integers, &signature.addresses,
                                    &signature.large_counts, &signature.types, &signature.combiner);
  }
#endif
  int integers = 0;
  int addresses = 0;
  int types = 0;
  const int code = PMPI_Type_get_envelope(datatype, &integers, &addresses, &types, &signature.combiner);
  signature.integers = integers;
  signature.addresses = addresses;
  signature.types = types;
  return code;
}

Signature signature_of(MPI_Datatype datatype) {
  Signature signature;
  const int code = read_signature(datatype, signature);
  if (code != MPI_SUCCESS) throw UnreadableDatatype("MPI_Type_get_envelope", code);
  return signature;
}

Combiner combiner_of(int combiner) noexcept {
  switch (combiner) {
    case MPI_COMBINER_DUP:
      return Combiner::duplicate;
    case MPI_COMBINER_CONTIGUOUS:
      return Combiner::contiguous;
    case MPI_COMBINER_VECTOR:
      return Combiner::vector;
    case MPI_COMBINER_HVECTOR:
    case hvector_integer:
      return Combiner::hvector;
    case MPI_COMBINER_INDEXED:
      return Combiner::indexed;
    case MPI_COMBINER_HINDEXED:
    case hindexed_integer:
      return Combiner::hindexed;
    case MPI_COMBINER_INDEXED_BLOCK:
      return Combiner::indexed_block;
    case MPI_COMBINER_HINDEXED_BLOCK:
      return Combiner::hindexed_block;
    case MPI_COMBINER_STRUCT:
    case struct_integer:
      return Combiner::structure;
    case MPI_COMBINER_SUBARRAY:
      return Combiner::subarray;
    case MPI_COMBINER_DARRAY:
      return Combiner::darray;
    case MPI_COMBINER_RESIZED:
      return Combiner::resized;
    default:
      return Combiner::named;
  }
}

template <typename Next>
auto several(std::ptrdiff_t count, Next next) {
  std::vector<decltype(next())> values;
  values.reserve(static_cast<std::size_t>(count));
  for (std::ptrdiff_t index = 0; index < count; ++index) values.push_back(next());
  return values;
}

}  // namespace

DatatypeContents::DatatypeContents(MPI_Datatype datatype) {
  const Signature signature = signature_of(datatype);
  combiner_ = combiner_of(signature.combiner);
  addresses_are_integers_ = signature.combiner == hvector_integer || signature.combiner == hindexed_integer ||
                            signature.combiner == struct_integer;
  integers_.resize(static_cast<std::size_t>(signature.integers));
  addresses_.resize(static_cast<std::size_t>(signature.addresses));
  large_counts_.resize(static_cast<std::size_t>(signature.large_counts));
  types_.resize(static_cast<std::size_t>(signature.types), MPI_DATATYPE_NULL);
  const int code = read(datatype);
  if (code != MPI_SUCCESS) throw UnreadableDatatype("MPI_Type_get_contents", code);
}

int DatatypeContents::read(MPI_Datatype datatype) noexcept {
#if PENSTOCK_HAS_LARGE_COUNTS
  if (reads_large_counts()) {
    return PMPI_Type_get_contents_c(
        datatype, static_cast<MPI_Count>(integers_.size()), static_cast<MPI_Count>(addresses_.size()),
        static_cast<MPI_Count>(large_counts_.size()), static_cast<MPI_Count>(types_.size()), integers_.data(),
        addresses_.data(), large_counts_.data(), types_.data());
  }
#endif
  return PMPI_Type_get_contents(datatype, static_cast<int>(integers_.size()),
                                static_cast<int>(addresses_.size()), static_cast<int>(types_.size()),
                                integers_.data(), addresses_.data(), types_.data());
}

DatatypeContents::~DatatypeContents() {
  for (MPI_Datatype& type : types_) {
    if (type == MPI_DATATYPE_NULL) continue;
    Signature signature;
    const bool is_read = read_signature(type, signature) == MPI_SUCCESS;
    if (is_read && combiner_of(signature.combiner) != Combiner::named) PMPI_Type_free(&type);
  }
}

bool DatatypeContents::is_predefined(MPI_Datatype datatype) {
  return combiner_of(signature_of(datatype).combiner) == Combiner::named;
}

int DatatypeContents::next_integer() {
  return integers_[integers_read_++];
}

std::ptrdiff_t DatatypeContents::next_count() {
  return large_counts_.empty() ? next_integer() : large_counts_[large_counts_read_++];
}

std::ptrdiff_t DatatypeContents::next_address() {
  if (!large_counts_.empty()) return large_counts_[large_counts_read_++];
  return addresses_are_integers_ ? next_integer() : addresses_[addresses_read_++];
}

MPI_Datatype DatatypeContents::next_type() {
  return types_[types_read_++];
}

std::vector<int> DatatypeContents::next_integers(std::ptrdiff_t count) {
  return several(count, [this] { return next_integer(); });
}

std::vector<std::ptrdiff_t> DatatypeContents::next_counts(std::ptrdiff_t count) {
  return several(count, [this] { return next_count(); });
}

std::vector<std::ptrdiff_t> DatatypeContents::next_addresses(std::ptrdiff_t count) {
  return several(count, [this] { return next_address(); });
}

}  // namespace penstock::interpose
