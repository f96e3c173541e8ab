// Describes split collective file calls: the stand-in lives from the call that begins to the one that ends.
// Included by staged_calls.cpp only.
#pragma once

#include <memory>
#include <utility>

#include "interpose/progress/progress.hpp"
#include "interpose/staging/begun_file_calls.hpp"
#include "interpose/staging/staged_calls_files.hpp"

namespace penstock::interpose {

/// `library(buffer, datatype)` begins the call on the stand-in.
template <typename Call, typename Pointer, typename Library>
int begin_split(const Call& call, MPI_File file, Pointer buffer, MPI_Count count, MPI_Datatype datatype,
                bool is_read, Library library) {
  StagedCall staged = begin_file_call(call, file, count, datatype);
  stage_elements(staged, file, buffer, count, datatype, is_read);
  if (const Status fetched = staged.fetch(); !fetched.ok()) return staged.raise(fetched);
  if (!staged.is_staged()) return library(buffer, datatype);
  staged.outlive_the_call();
  BegunFileCalls begun;
  begun.push_back({file, const_cast<void*>(static_cast<const void*>(buffer)),
                   std::make_unique<PendingStagedCall>(std::make_shared<StagedCall>(std::move(staged)))});
  begun.front().pending->look_at_gpu();
  const int code = library(buffer, datatype);
  if (code == MPI_SUCCESS) keep_begun(std::move(begun));
  return code;
}

template <bool is_read>
inline constexpr auto file_begin = [](const auto& call, MPI_File file, auto buffer, auto count,
                                      MPI_Datatype datatype) {
  return begin_split(call, file, buffer, count, datatype, is_read, [&](auto stand_in, MPI_Datatype element) {
    return call.as_it_is(file, stand_in, count, element);
  });
};

template <bool is_read>
inline constexpr auto file_at_begin = [](const auto& call, MPI_File file, MPI_Offset offset, auto buffer,
                                         auto count, MPI_Datatype datatype) {
  return begin_split(call, file, buffer, count, datatype, is_read, [&](auto stand_in, MPI_Datatype element) {
    return call.as_it_is(file, offset, stand_in, count, element);
  });
};

inline constexpr auto file_read_begin = file_begin<true>;
inline constexpr auto file_write_begin = file_begin<false>;
inline constexpr auto file_read_at_begin = file_at_begin<true>;
inline constexpr auto file_write_at_begin = file_at_begin<false>;

/// The buffer must be that of the call which began it; what was read is copied there.
inline constexpr auto file_end = [](const auto& call, MPI_File file, auto buffer, MPI_Status* status) {
  const BegunFileCalls begun = take_begun(file);
  if (begun.empty()) return call.as_it_is(file, buffer, status);
  const int code = call.as_it_is(file, begun.front().stand_in, status);
  if (code != MPI_SUCCESS) return code;
  PendingStagedCall& pending = *begun.front().pending;
  MPI_Status unused{};
  wait_with_progress([&] { return pending.advance(true, unused); });
  return pending.complete(unused, code);
};

/// Frees the stand-in of a call that has not ended.
inline constexpr auto file_close = [](const auto& call, MPI_File* file) {
  BegunFileCalls begun = take_begun(*file);
  const int code = call.as_it_is(file);
  if (code != MPI_SUCCESS) keep_begun(std::move(begun));
  return code;
};

}  // namespace penstock::interpose
