// Small equal blocks on a GPU of each rank, which a kernel there may exchange with those of the others. Knows
// no single collective.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>

#include "interpose/collectives/brought_buffers.hpp"
#include "interpose/collectives/collective_blocks.hpp"
#include "interpose/collectives/collective_call.hpp"
#include "interpose/collectives/fused_collectives.hpp"
#include "interpose/datatypes/datatype_layout.hpp"
#include "transports/small/small_copies.hpp"

namespace penstock::interpose {

/// Blocks of so many bytes each, in one piece and one behind the other in a GPU's memory, which kernels of
/// that context reach. None: they are something else.
template <typename BlocksThere>
[[nodiscard]] std::optional<transports::Place> one_behind_the_other(const void* buffer,
                                                                    const BlocksThere& blocks,
                                                                    std::size_t bytes) {
  const BlockPlace first = blocks.at(0);
  std::ptrdiff_t begin = 0;
  for (int block = 0; block < blocks.count(); ++block) {
    const BlockPlace next = blocks.at(block);
    const transports::Layout layout = layout_of(next.datatype, next.count);
    if (!layout.is_contiguous() || layout.bytes() != bytes) return std::nullopt;
    const std::ptrdiff_t there = next.displacement + layout.first_offset();
    if (block == 0) begin = there;
    if (there - begin != block * static_cast<std::ptrdiff_t>(bytes)) return std::nullopt;
  }
  transports::Place place =
      place_of(static_cast<const std::byte*>(buffer) + first.displacement, first.count, first.datatype);
  const bool suits_kernels =
      transports::lives_on_device(place.buffer.kind) && place.buffer.kind != transports::BufferKind::managed;
  return suits_kernels ? std::optional(std::move(place)) : std::nullopt;
}

/// `sent` are a block for all ranks, or one for each; if `send` is MPI_IN_PLACE, the own one of `received`.
/// The buffers have been added.
template <typename SentBlocks, typename ReceivedBlocks>
void offer_kernel_for_blocks(BroughtBuffers& buffers, MPI_Comm communicator, const Ranks& ranks,
                             const void* send, const SentBlocks& sent, void* receive,
                             const ReceivedBlocks& received) {
  if (buffers.preference() != Preference::messages || buffers.have_host_bytes()) return;
  const BlockPlace first = received.at(0);
  const auto bytes = static_cast<std::size_t>(payload_bytes(first.count, first.datatype));
  if (bytes == 0 || bytes > transports::largest_fused_order) return;
  FusedCollectives* const fused = FusedCollectives::of(*peek_info(communicator));
  if (fused == nullptr || !fused->may_take(bytes)) return;
  const auto to = one_behind_the_other(receive, received, bytes);
  if (!to) return;
  const transports::cuda::ContextRef& context = transports::cuda::Context::of(to->buffer);
  if (context == nullptr || !fused->suits(bytes, context)) return;

  transports::FusedBlocks blocks{nullptr, to->first_byte(), bytes, false};
  transports::Buffer own = to->buffer;
  if (send == MPI_IN_PLACE) {
    blocks.own = static_cast<std::byte*>(blocks.to) + static_cast<std::size_t>(ranks.rank) * bytes;
  } else {
    const auto from = one_behind_the_other(send, sent, bytes);
    if (!from || from->buffer.context != to->buffer.context) return;
    blocks.own = from->first_byte();
    blocks.is_for_each = sent.count() != 1;
    own = from->buffer;
  }
  buffers.sign(bytes);
  buffers.offer_kernel({blocks, own, context}, false);
}

}  // namespace penstock::interpose
