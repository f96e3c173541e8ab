// What the file calls read and write, blocking or not (`outcome` is the status or the request). A read may
// end early at the file's end, so what it is to write is downloaded first. Included by staged_calls.cpp only.
#pragma once

#include "interpose/binding/mpi_details.hpp"
#include "interpose/staging/library_call.hpp"

namespace penstock::interpose {

template <typename Call>
StagedCall begin_file_call(const Call& call, MPI_File file, MPI_Count count, MPI_Datatype datatype) {
  if (call.scope().recording()) call.scope().add_bytes(payload_bytes(count, datatype));
  return call.begin(ErrorTarget::of_file(file));
}

inline constexpr auto file_read = [](const auto& call, MPI_File file, void* buffer, auto count,
                                     MPI_Datatype datatype, auto* outcome) {
  StagedCall staged = begin_file_call(call, file, count, datatype);
  const auto elements = [&] { return Region(count, datatype); };
  staged.use(buffer, elements, elements);
  return call.run(std::move(staged), file, buffer, count, datatype, outcome);
};

inline constexpr auto file_read_at = [](const auto& call, MPI_File file, MPI_Offset offset, void* buffer,
                                        auto count, MPI_Datatype datatype, auto* outcome) {
  StagedCall staged = begin_file_call(call, file, count, datatype);
  const auto elements = [&] { return Region(count, datatype); };
  staged.use(buffer, elements, elements);
  return call.run(std::move(staged), file, offset, buffer, count, datatype, outcome);
};

inline constexpr auto file_write = [](const auto& call, MPI_File file, const void* buffer, auto count,
                                      MPI_Datatype datatype, auto* outcome) {
  StagedCall staged = begin_file_call(call, file, count, datatype);
  staged.read(buffer, [&] { return Region(count, datatype); });
  return call.run(std::move(staged), file, buffer, count, datatype, outcome);
};

inline constexpr auto file_write_at = [](const auto& call, MPI_File file, MPI_Offset offset,
                                         const void* buffer, auto count, MPI_Datatype datatype,
                                         auto* outcome) {
  StagedCall staged = begin_file_call(call, file, count, datatype);
  staged.read(buffer, [&] { return Region(count, datatype); });
  return call.run(std::move(staged), file, offset, buffer, count, datatype, outcome);
};

}  // namespace penstock::interpose
