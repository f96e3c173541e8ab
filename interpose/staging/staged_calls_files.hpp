// Describes what the file calls read and write, blocking or not (`outcome` is the status or the request). A
// read may end early at the file's end, so its buffer is downloaded first. Included by staged_calls.cpp only.
#pragma once

#include <cstdint>
#include <string_view>

#include "interpose/binding/mpi_details.hpp"
#include "interpose/datatypes/datatype_contents.hpp"
#include "interpose/staging/library_call.hpp"

namespace penstock::interpose {

template <typename Call>
StagedCall begin_file_call(const Call& call, MPI_File file, MPI_Count count, MPI_Datatype datatype) {
  if (call.scope().recording()) call.scope().add_bytes(payload_bytes(count, datatype));
  return call.begin(ErrorTarget::of_file(file));
}

/// Returns whether the file has the bytes as in memory, so that elements may be packed for it.
inline bool is_native(MPI_File file) {
  MPI_Offset offset = 0;
  MPI_Datatype types[2] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
  char representation[MPI_MAX_DATAREP_STRING + 1] = {};
  if (PMPI_File_get_view(file, &offset, &types[0], &types[1], representation) != MPI_SUCCESS) return false;
  for (MPI_Datatype& type : types) {
    if (!DatatypeContents::is_predefined(type)) PMPI_Type_free(&type);
  }
  return std::string_view(representation) == "native";
}

/// The most that MPICH's non-blocking calls transfer of elements in one piece: Linux ends a transfer there.
inline constexpr std::uint64_t most_bytes_at_once = 0x7ffff000;

/// Stages elements that are read from the file, or written to it; packed, as the file has them, where its
/// bytes are those of memory. The library gets `datatype` as set here.
template <typename Pointer>
void stage_elements(StagedCall& staged, MPI_File file, Pointer& buffer, MPI_Count count,
                    MPI_Datatype& datatype, bool is_written) {
  const auto elements = [&] { return ByteRange(count, datatype); };
  const auto written = [&] { return is_written ? elements() : ByteRange(); };
  const bool may_be_packed = may_be_absolute(buffer) ||
                             (lies_on_device(buffer) && payload_bytes(count, datatype) <= most_bytes_at_once);
  if (may_be_packed && is_native(file)) {
    staged.use(buffer, elements, written, WhereverTheyLie{count, datatype});
  } else {
    staged.use(buffer, elements, written);
  }
}

inline constexpr auto file_read = [](const auto& call, MPI_File file, void* buffer, auto count,
                                     MPI_Datatype datatype, auto* outcome) {
  StagedCall staged = begin_file_call(call, file, count, datatype);
  stage_elements(staged, file, buffer, count, datatype, true);
  return call.run(std::move(staged), file, buffer, count, datatype, outcome);
};

inline constexpr auto file_read_at = [](const auto& call, MPI_File file, MPI_Offset offset, void* buffer,
                                        auto count, MPI_Datatype datatype, auto* outcome) {
  StagedCall staged = begin_file_call(call, file, count, datatype);
  stage_elements(staged, file, buffer, count, datatype, true);
  return call.run(std::move(staged), file, offset, buffer, count, datatype, outcome);
};

inline constexpr auto file_write = [](const auto& call, MPI_File file, const void* buffer, auto count,
                                      MPI_Datatype datatype, auto* outcome) {
  StagedCall staged = begin_file_call(call, file, count, datatype);
  stage_elements(staged, file, buffer, count, datatype, false);
  return call.run(std::move(staged), file, buffer, count, datatype, outcome);
};

inline constexpr auto file_write_at = [](const auto& call, MPI_File file, MPI_Offset offset,
                                         const void* buffer, auto count, MPI_Datatype datatype,
                                         auto* outcome) {
  StagedCall staged = begin_file_call(call, file, count, datatype);
  stage_elements(staged, file, buffer, count, datatype, false);
  return call.run(std::move(staged), file, offset, buffer, count, datatype, outcome);
};

}  // namespace penstock::interpose
