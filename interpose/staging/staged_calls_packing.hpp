// Describes what calls that pack, unpack and reduce locally read and write. Included by staged_calls.cpp
// only.
#pragma once

#include <algorithm>
#include <optional>

#include "interpose/binding/mpi_details.hpp"
#include "interpose/staging/library_call.hpp"
#include "interpose/staging/packing.hpp"

namespace penstock::interpose {

/// Packs by `library`. Only the packed bytes return to the device, as MPI must not write the rest of the
/// output. `stand_in`: as StagedCall's `pack`.
inline constexpr auto pack_with = [](StagedCall staged, const void* in, MPI_Count in_count,
                                     const MPI_Datatype& datatype, auto stand_in, void* out,
                                     std::ptrdiff_t out_size, const auto* position, auto library) {
  const std::ptrdiff_t begin = *position;
  staged.read(
      in, [&] { return ByteRange(in_count, datatype); }, stand_in);
  staged.write(out, [&] { return ByteRange::of_bytes(out_size); });
  if (const Status fetched = staged.fetch(); !fetched.ok()) return staged.raise(fetched);
  const int code = library(in, out);
  staged.narrow(out, *position - begin, begin);
  return staged.finish(code);
};

/// Carries out MPI_Pack or MPI_Unpack between two buffers of one GPU; nothing where they are not.
template <typename Call, typename Position>
std::optional<int> pack_on_device(const Call& call, Packing packing, const Elements& elements,
                                  const void* packed, MPI_Count size, Position* position,
                                  MPI_Comm communicator) {
  if (communicator == MPI_COMM_NULL || !lies_on_device(elements.buffer) || !lies_on_device(packed))
    return std::nullopt;
  const auto copy = pack_on_device(packing, elements, {packed, size, *position});
  if (!copy) return std::nullopt;
  if (call.scope().recording()) call.scope().buffer(static_cast<trace::BufferKind>(copy->elements_kind));
  if (!copy->status.ok()) return raise_status(communicator, call.name(), copy->status);
  *position += static_cast<Position>(copy->bytes);
  return MPI_SUCCESS;
}

inline constexpr auto pack = [](const auto& call, const void* in, auto in_count, MPI_Datatype datatype,
                                void* out, auto out_size, auto* position, MPI_Comm communicator) {
  if (const auto code = pack_on_device(call, Packing::pack, {in, in_count, datatype}, out, out_size, position,
                                       communicator)) {
    return *code;
  }
  return pack_with(call.begin(ErrorTarget::of(communicator)), in, in_count, datatype,
                   WhereverTheyLie{in_count, datatype}, out, out_size, position,
                   [&](const void* from, void* to) {
                     return call.as_it_is(from, in_count, datatype, to, out_size, position, communicator);
                   });
};

inline constexpr auto pack_external = [](const auto& call, const char* representation, const void* in,
                                         auto in_count, MPI_Datatype datatype, void* out, auto out_size,
                                         auto* position) {
  return pack_with(call.begin(ErrorTarget::of(MPI_COMM_NULL)), in, in_count, datatype, AsItLies{}, out,
                   out_size, position, [&](const void* from, void* to) {
                     return call.as_it_is(representation, from, in_count, datatype, to, out_size, position);
                   });
};

/// `packed` returns the ByteRange of the packing buffer that may be read, and is not called for host memory.
template <typename Packed, typename StandIn>
void stage_unpack(StagedCall& staged, const void*& in, Packed packed, void*& out, MPI_Count out_count,
                  const MPI_Datatype& datatype, StandIn stand_in) {
  staged.read(in, packed);
  staged.write(
      out, [&] { return ByteRange(out_count, datatype); }, stand_in);
}

inline constexpr auto unpack = [](const auto& call, const void* in, auto in_size, auto* position, void* out,
                                  auto out_count, MPI_Datatype datatype, MPI_Comm communicator) {
  if (const auto code = pack_on_device(call, Packing::unpack, {out, out_count, datatype}, in, in_size,
                                       position, communicator)) {
    return *code;
  }
  StagedCall staged = call.begin(ErrorTarget::of(communicator));
  const auto packed = [&] {
    const auto rest = static_cast<std::ptrdiff_t>(in_size - *position);
    const auto elements = static_cast<std::ptrdiff_t>(payload_bytes(out_count, datatype));
    return ByteRange::of_bytes(library_packs_plainly() ? std::min(rest, elements) : rest, *position);
  };
  stage_unpack(staged, in, packed, out, out_count, datatype, WhereverTheyLie{out_count, datatype});
  return call.run(std::move(staged), in, in_size, position, out, out_count, datatype, communicator);
};

inline constexpr auto unpack_external = [](const auto& call, const char* representation, const void* in,
                                           auto in_size, auto* position, void* out, auto out_count,
                                           MPI_Datatype datatype) {
  StagedCall staged = call.begin(ErrorTarget::of(MPI_COMM_NULL));
  const auto packed = [&] { return ByteRange::of_bytes(in_size - *position, *position); };
  stage_unpack(staged, in, packed, out, out_count, datatype, AsItLies{});
  return call.run(std::move(staged), representation, in, in_size, position, out, out_count, datatype);
};

inline constexpr auto reduce_local = [](const auto& call, const void* in, void* in_and_out, auto count,
                                        MPI_Datatype datatype, MPI_Op operation) {
  StagedCall staged = call.begin(ErrorTarget::of(MPI_COMM_NULL));
  const auto vector = [&] { return ByteRange(count, datatype); };
  staged.read(in, vector);
  staged.use(in_and_out, vector, vector);
  return call.run(std::move(staged), in, in_and_out, count, datatype, operation);
};

}  // namespace penstock::interpose
