// Small blocks on a GPU of each rank, which a kernel there may exchange with those of the others. This header
// knows no single collective.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "interpose/collectives/calls/collective_buffers.hpp"
#include "interpose/collectives/calls/collective_call.hpp"
#include "interpose/collectives/kernels/one_shot_collectives.hpp"
#include "interpose/collectives/schedules/collective_blocks.hpp"
#include "interpose/datatypes/datatype_layout.hpp"
#include "interpose/node/policy.hpp"
#include "transports/small/resident_orders.hpp"

namespace penstock::interpose {

/// The blocks that a rank sends to the others, or receives from them: one for each, in one piece each and one
/// behind the other in a GPU's memory, which kernels reach. A value.
struct BlocksInRow {
  std::optional<transports::Buffer> buffer;  ///< none: there are only empty blocks
  const std::byte* first_byte = nullptr;
  std::array<std::uint64_t, transports::kernels::most_sources> bytes{};  ///< by rank
  bool is_for_each = true;                                               ///< false: all get the same block
};

/// Returns none if kernels should not access the memory.
[[nodiscard]] inline std::optional<transports::Buffer> kernel_memory(transports::BufferView view) noexcept {
  const bool suits_kernels = transports::belongs_to_context(view.buffer.kind);
  return suits_kernels ? std::optional(std::move(view.buffer)) : std::nullopt;
}

/// Appends a block. Returns false if it does not suit.
[[nodiscard]] inline bool append(BlocksInRow& row, std::size_t& end, const void* buffer,
                                 const BlockPlace& block, int rank) {
  const transports::Layout layout = layout_of(block.datatype, block.count);
  if (layout.bytes() == 0) return true;
  if (!layout.is_contiguous() || layout.bytes() > policy::largest_one_shot_block) return false;
  const std::byte* const begin = static_cast<const std::byte*>(buffer) + block.displacement;
  if (!row.buffer) {
    row.buffer = kernel_memory(view_of(begin, block.count, block.datatype));
    if (!row.buffer) return false;
    row.first_byte = begin + layout.first_offset();
  }
  if (begin + layout.first_offset() != row.first_byte + end) return false;
  end += layout.bytes();
  row.bytes[static_cast<std::size_t>(rank)] = layout.bytes();
  return true;
}

/// Returns a block for each rank; none if they do not suit.
template <typename BlocksThere>
[[nodiscard]] std::optional<BlocksInRow> in_row(const void* buffer, const BlocksThere& blocks) {
  BlocksInRow row;
  std::size_t end = 0;
  for (int rank = 0; rank < blocks.count(); ++rank) {
    if (!append(row, end, buffer, blocks.at(rank), rank)) return std::nullopt;
  }
  return row;
}
/// Returns a block only for, or from, that rank.
[[nodiscard]] inline std::optional<BlocksInRow> only_for(int rank, const void* buffer,
                                                         const BlockPlace& block) {
  BlocksInRow row;
  std::size_t end = 0;
  if (!append(row, end, buffer, block, rank)) return std::nullopt;
  return row;
}
/// Returns the same block for all.
[[nodiscard]] inline std::optional<BlocksInRow> same_for_all(const void* buffer, const BlockPlace& block) {
  std::optional<BlocksInRow> row = only_for(0, buffer, block);
  if (row) {
    row->bytes.fill(row->bytes[0]);
    row->is_for_each = false;
  }
  return row;
}

/// Returns the memory of a rank that neither sends nor receives anything, but whose kernel reports that to
/// the others.
[[nodiscard]] inline BlocksInRow memory_of_nothing(const CollectiveBuffers& buffers) {
  const auto* const there = static_cast<const std::byte*>(buffers.on_device());
  return {kernel_memory(view_of(there, 1, MPI_BYTE)), there};
}

/// A rank's knowledge of the sizes of others' blocks. Queries the datatype only when they are to be
/// exchanged.
struct KnownSizes {
  MPI_Datatype datatype = MPI_DATATYPE_NULL;  ///< null: nothing is known
  MPI_Count count = 0;
  int root = no_root;

  /// Returns the size of each block that is not empty; none: nothing is known.
  [[nodiscard]] std::optional<std::uint64_t> bytes() const noexcept {
    return datatype == MPI_DATATYPE_NULL ? std::nullopt : std::optional(payload_bytes(count, datatype));
  }
};
[[nodiscard]] inline KnownSizes equal_sizes(MPI_Count count, MPI_Datatype datatype,
                                            int root = no_root) noexcept {
  return {datatype, count, root};
}

/// Returns whether this rank's own blocks have the size that all should have: another rank would wait for
/// ever for a missing one.
[[nodiscard]] inline bool fit(const BlocksInRow& row, const std::optional<std::uint64_t>& bytes) noexcept {
  return !bytes ||
         std::ranges::all_of(row.bytes, [&](std::uint64_t each) { return each == 0 || each == *bytes; });
}

/// Offers a kernel, after the buffers have been added. `sent()` and `received()` return an optional
/// BlocksInRow.
template <typename Sent, typename Received>
void offer_kernel_for_blocks(CollectiveBuffers& buffers, MPI_Comm communicator, const KnownSizes& sizes,
                             Sent sent, Received received) {
  if (buffers.vote() != Vote::messages || buffers.have_host_bytes()) return;
  OneShotCollectives* const one_shot = OneShotCollectives::of(*peek_info(communicator));
  if (one_shot == nullptr || !one_shot->may_take(1)) return;
  const std::optional<std::uint64_t> bytes = sizes.bytes();
  const std::optional<BlocksInRow> from = sent();
  if (!from || !fit(*from, bytes)) return;
  const std::optional<BlocksInRow> to = received();
  if (!to || !fit(*to, bytes)) return;
  const BlocksInRow any = from->buffer ? *from : to->buffer ? *to : memory_of_nothing(buffers);
  if (!any.buffer || (to->buffer && to->buffer->context != any.buffer->context)) return;

  transports::OneShotWork work;
  work.own = any.first_byte;
  work.to = const_cast<std::byte*>(to->buffer ? to->first_byte : any.first_byte);
  std::ranges::copy(from->bytes, work.parts.sent);
  std::ranges::copy(to->bytes, work.parts.received);
  work.parts.is_for_each = from->is_for_each;
  work.parts.is_checked = !bytes;
  const transports::cuda::ContextRef& context = transports::cuda::Context::of(*any.buffer);
  if (context == nullptr || !one_shot->suits(transports::largest_of(work.parts), context)) return;
  // the same on all ranks, if their arguments match
  if (bytes) buffers.sign(*bytes << 16 ^ static_cast<std::uint64_t>(sizes.root + 1));
  buffers.offer_kernel({work, *any.buffer, context}, false);
}

}  // namespace penstock::interpose
