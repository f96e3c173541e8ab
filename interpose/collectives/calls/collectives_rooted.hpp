// The collectives with a root, and what they read and write: Bcast, Gather(v), Scatter(v), Reduce. Arguments
// that matter only at the root are ignored elsewhere. Only the files that wrap these functions include this
// one.
#pragma once

#include "interpose/collectives/calls/collective_call.hpp"
#include "interpose/collectives/calls/one_shot_blocks.hpp"
#include "interpose/collectives/calls/reduction_part.hpp"
#include "interpose/collectives/schedules/collective_blocks.hpp"
#include "interpose/collectives/schedules/reduction_schedule.hpp"
#include "interpose/collectives/schedules/rounds_over_nodes.hpp"

namespace penstock::interpose {

/// Returns what `add` adds; votes for the library if the root is not a rank.
template <typename Add>
CollectiveBuffers brought(const Ranks& ranks, int root, Add add) {
  CollectiveBuffers buffers;
  if (ranks.has_root(root)) {
    add(buffers);
  } else {
    buffers.leave_to_library();
  }
  return buffers;
}

/// Returns a hash of the count and the element size. It differs for any two that would be cut differently,
/// except for some with 4 Gi elements, or bytes an element, and more.
inline std::uint64_t arguments_of(MPI_Count count, MPI_Datatype datatype) noexcept {
  return static_cast<std::uint64_t>(count) << 32 ^ payload_bytes(1, datatype);
}

inline constexpr auto bcast = [](const auto& call, void* buffer, auto count, MPI_Datatype datatype, int root,
                                 MPI_Comm communicator, auto... request) {
  const Ranks ranks(communicator);
  const auto message = [&] { return ByteRange(count, datatype); };
  StagedCall staged = call.begin(communicator, root, [&] { return payload_bytes(count, datatype); });
  const auto block = one_block(count, datatype);
  const auto post = [&](auto& run) {
    if (!ranks.is_root(root)) return run.receive(buffer, block.at(0), root);
    ranks.for_others([&](int other) { run.send(buffer, block.at(0), other); });
  };
  // only blocking calls: others may need messages of later rounds while this rank is outside MPI
  const NodeMap* const nodes = node_map_of(communicator);
  const NodeMap* const map = is_blocking_form<decltype(request)...> ? nodes : nullptr;
  const auto buffers = brought(ranks, root, [&](CollectiveBuffers& all) {
    all.add(buffer, block);
    all.measure([&] { return block.bytes(); });
    if (map != nullptr) {
      all.sign(arguments_of(count, datatype));  // all must cut it into the same pieces
    } else if (nodes != nullptr && ranks.peers > 2) {
      all.leave_to_library("between nodes the broadcast tree of the MPI library is better");
    }
  });
  const auto over_nodes = [&] {
    return broadcast_over_nodes(*map, ranks.rank, root, buffer, count, datatype);
  };
  CallOutcome outcome = map == nullptr ? call.by_messages(communicator, buffers, post, request...)
                                       : call.by_schedule(communicator, buffers, over_nodes, request...);
  if (outcome.code) return *outcome.code;
  outcome.uses(datatype);
  const auto packed = packed_elements(count, datatype);
  if (ranks.is_root(root)) {
    staged.read(buffer, message, packed);
  } else if (ranks.is_leaf(root)) {
    staged.write(buffer, message, packed);
  }
  return call.run(std::move(outcome), std::move(staged), communicator, buffer, count, datatype, root,
                  communicator, request...);
};

/// The root's own block is in its place already if `send` is MPI_IN_PLACE.
template <typename BlocksOfAll, typename Pack>
void stage_gather(StagedCall& staged, const Ranks& ranks, int root, const void*& send, MPI_Count send_count,
                  MPI_Datatype& send_type, void*& receive, const BlocksOfAll& blocks, Pack pack) {
  if (ranks.is_leaf(root)) {
    staged.read(
        send, [&] { return ByteRange(send_count, send_type); }, packed_elements(send_count, send_type));
  }
  if (!ranks.is_root(root)) return;
  const bool in_place = send == MPI_IN_PLACE;
  staged.use(
      receive, [&] { return in_place ? blocks.one(ranks.rank) : ByteRange(); }, [&] { return blocks.all(); },
      pack);
}

template <typename Call, typename OwnBlock, typename BlocksOfAll, typename... Request>
CallOutcome gather_by_messages(const Call& call, const Ranks& ranks, int root, const void* send,
                               const OwnBlock& block, void* receive, const BlocksOfAll& blocks,
                               const KnownSizes& sizes, MPI_Comm communicator, Request... request) {
  const bool is_root = ranks.is_root(root);
  const auto buffers = brought(ranks, root, [&](CollectiveBuffers& all) {
    all.add(send, block);
    if (is_root) all.add(receive, blocks);
    offer_kernel_for_blocks(
        all, communicator, sizes,
        [&] {
          return send == MPI_IN_PLACE ? only_for(root, receive, blocks.at(root))
                                      : only_for(root, send, block.at(0));
        },
        [&] { return is_root ? in_row(receive, blocks) : BlocksInRow{}; });
    all.weigh(ranks.peers, [&] {
      return is_root ? blocks.bytes() : block.bytes() * static_cast<std::uint64_t>(ranks.peers);
    });
  });
  const auto post = [&](auto& run) {
    if (!is_root) return run.send(send, block.at(0), root);
    if (send != MPI_IN_PLACE) run.keep(send, block.at(0), receive, blocks.at(root), root);
    ranks.for_others([&](int other) { run.receive(receive, blocks.at(other), other); });
  };
  return call.by_messages(communicator, buffers, post, request...);
}

template <typename BlocksOfAll>
std::uint64_t gather_payload(const Ranks& ranks, int root, const void* send, MPI_Count send_count,
                             MPI_Datatype send_type, const BlocksOfAll& blocks) noexcept {
  const bool sends = ranks.is_leaf(root) && send != MPI_IN_PLACE;
  return (sends ? payload_bytes(send_count, send_type) : 0) + (ranks.is_root(root) ? blocks.bytes() : 0);
}

inline constexpr auto gather = [](const auto& call, const void* send, auto send_count, MPI_Datatype send_type,
                                  void* receive, auto receive_count, MPI_Datatype receive_type, int root,
                                  MPI_Comm communicator, auto... request) {
  const Ranks ranks(communicator);
  const auto blocks = equal_blocks(ranks.peers, receive_count, receive_type);
  const KnownSizes sizes = ranks.is_root(root) ? equal_sizes(receive_count, receive_type, root)
                                               : equal_sizes(send_count, send_type, root);
  StagedCall staged = call.begin(
      communicator, root, [&] { return gather_payload(ranks, root, send, send_count, send_type, blocks); });
  CallOutcome outcome = gather_by_messages(call, ranks, root, send, one_block(send_count, send_type), receive,
                                           blocks, sizes, communicator, request...);
  if (outcome.code) return *outcome.code;
  outcome.uses(send_type, receive_type);
  stage_gather(staged, ranks, root, send, send_count, send_type, receive, blocks,
               packed_equal(blocks, receive_type));
  return call.run(std::move(outcome), std::move(staged), communicator, send, send_count, send_type, receive,
                  receive_count, receive_type, root, communicator, request...);
};

inline constexpr auto gatherv = [](const auto& call, const void* send, auto send_count,
                                   MPI_Datatype send_type, void* receive, const auto* counts,
                                   const auto* displacements, MPI_Datatype receive_type, int root,
                                   MPI_Comm communicator, auto... request) {
  const Ranks ranks(communicator);
  const auto blocks = placed_blocks(ranks.peers, counts, displacements, receive_type);
  StagedCall staged = call.begin(
      communicator, root, [&] { return gather_payload(ranks, root, send, send_count, send_type, blocks); });
  CallOutcome outcome = gather_by_messages(call, ranks, root, send, one_block(send_count, send_type), receive,
                                           blocks, KnownSizes{}, communicator, request...);
  if (outcome.code) return *outcome.code;
  outcome.uses(send_type, receive_type);
  stage_gather(staged, ranks, root, send, send_count, send_type, receive, blocks,
               packed_placed(blocks, displacements, receive_type));
  return call.run(std::move(outcome), std::move(staged), communicator, send, send_count, send_type, receive,
                  counts, displacements, receive_type, root, communicator, request...);
};

template <typename BlocksOfAll, typename Pack>
void stage_scatter(StagedCall& staged, const Ranks& ranks, int root, const void*& send,
                   const BlocksOfAll& blocks, Pack pack, void*& receive, MPI_Count receive_count,
                   MPI_Datatype& receive_type) {
  if (ranks.is_root(root)) {
    staged.read(
        send, [&] { return blocks.all(); }, pack);
  }
  if (ranks.is_leaf(root)) {
    staged.write(
        receive, [&] { return ByteRange(receive_count, receive_type); },
        packed_elements(receive_count, receive_type));
  }
}

template <typename Call, typename BlocksOfAll, typename OwnBlock, typename... Request>
CallOutcome scatter_by_messages(const Call& call, const Ranks& ranks, int root, const void* send,
                                const BlocksOfAll& blocks, void* receive, const OwnBlock& block,
                                const KnownSizes& sizes, MPI_Comm communicator, Request... request) {
  const bool is_root = ranks.is_root(root);
  const auto buffers = brought(ranks, root, [&](CollectiveBuffers& all) {
    all.add(receive, block);
    if (is_root) all.add(send, blocks);
    // in place, the root's own block is copied to where it is
    offer_kernel_for_blocks(
        all, communicator, sizes, [&] { return is_root ? in_row(send, blocks) : BlocksInRow{}; },
        [&] {
          return receive == MPI_IN_PLACE ? only_for(root, send, blocks.at(root))
                                         : only_for(root, receive, block.at(0));
        });
    all.weigh(ranks.peers, [&] {
      return is_root ? blocks.bytes() : block.bytes() * static_cast<std::uint64_t>(ranks.peers);
    });
  });
  const auto post = [&](auto& run) {
    if (!is_root) return run.receive(receive, block.at(0), root);
    if (receive != MPI_IN_PLACE) run.keep(send, blocks.at(root), receive, block.at(0), root);
    ranks.for_others([&](int other) { run.send(send, blocks.at(other), other); });
  };
  return call.by_messages(communicator, buffers, post, request...);
}

template <typename BlocksOfAll>
std::uint64_t scatter_payload(const Ranks& ranks, int root, const BlocksOfAll& blocks, const void* receive,
                              MPI_Count receive_count, MPI_Datatype receive_type) noexcept {
  const bool receives = ranks.is_leaf(root) && receive != MPI_IN_PLACE;
  return (ranks.is_root(root) ? blocks.bytes() : 0) +
         (receives ? payload_bytes(receive_count, receive_type) : 0);
}

inline constexpr auto scatter =
    [](const auto& call, const void* send, auto send_count, MPI_Datatype send_type, void* receive,
       auto receive_count, MPI_Datatype receive_type, int root, MPI_Comm communicator, auto... request) {
      const Ranks ranks(communicator);
      const auto blocks = equal_blocks(ranks.peers, send_count, send_type);
      const KnownSizes sizes = ranks.is_root(root) ? equal_sizes(send_count, send_type, root)
                                                   : equal_sizes(receive_count, receive_type, root);
      StagedCall staged = call.begin(communicator, root, [&] {
        return scatter_payload(ranks, root, blocks, receive, receive_count, receive_type);
      });
      CallOutcome outcome =
          scatter_by_messages(call, ranks, root, send, blocks, receive,
                              one_block(receive_count, receive_type), sizes, communicator, request...);
      if (outcome.code) return *outcome.code;
      outcome.uses(send_type, receive_type);
      stage_scatter(staged, ranks, root, send, blocks, packed_equal(blocks, send_type), receive,
                    receive_count, receive_type);
      return call.run(std::move(outcome), std::move(staged), communicator, send, send_count, send_type,
                      receive, receive_count, receive_type, root, communicator, request...);
    };

inline constexpr auto scatterv = [](const auto& call, const void* send, const auto* counts,
                                    const auto* displacements, MPI_Datatype send_type, void* receive,
                                    auto receive_count, MPI_Datatype receive_type, int root,
                                    MPI_Comm communicator, auto... request) {
  const Ranks ranks(communicator);
  const auto blocks = placed_blocks(ranks.peers, counts, displacements, send_type);
  StagedCall staged = call.begin(communicator, root, [&] {
    return scatter_payload(ranks, root, blocks, receive, receive_count, receive_type);
  });
  CallOutcome outcome =
      scatter_by_messages(call, ranks, root, send, blocks, receive, one_block(receive_count, receive_type),
                          KnownSizes{}, communicator, request...);
  if (outcome.code) return *outcome.code;
  outcome.uses(send_type, receive_type);
  stage_scatter(staged, ranks, root, send, blocks, packed_placed(blocks, displacements, send_type), receive,
                receive_count, receive_type);
  return call.run(std::move(outcome), std::move(staged), communicator, send, counts, displacements, send_type,
                  receive, receive_count, receive_type, root, communicator, request...);
};

inline constexpr auto reduce = [](const auto& call, const void* send, void* receive, auto count,
                                  MPI_Datatype datatype, MPI_Op operation, int root, MPI_Comm communicator,
                                  auto... request) {
  const Ranks ranks(communicator);
  const auto vector = [&] { return ByteRange(count, datatype); };
  const bool in_place = send == MPI_IN_PLACE;
  StagedCall staged = call.begin(communicator, root, [&] { return payload_bytes(count, datatype); });
  const void* const own = in_place ? receive : send;
  const auto elements = static_cast<std::size_t>(count);
  ReductionPart part(ranks, datatype, operation, count);
  if constexpr (is_blocking_form<decltype(request)...>) part.may_be_on_host(communicator);
  // the library's tree does not bring every vector to the root's node
  const bool would_crowd = ranks.peers > 2 && node_map_of(communicator) != nullptr;
  const bool is_root = ranks.is_root(root);
  if (ranks.has_root(root)) part.offer_kernel(communicator, [&] { return to_root(elements, root, is_root); });
  if (!ranks.has_root(root) || would_crowd) part.leave_to_library();
  if (!is_root) {
    part.combine_nothing(own, nullptr);
  } else if (part.is_for_gpu()) {
    part.take_place(own, receive, elements, ReductionSchedule::scratch_bytes(part.shape(), elements));
  }
  const auto schedule = [&] {
    return part.around(ReductionSchedule::all_to_root(part.shape(), part.take_place_away(), part.own(),
                                                      part.result(), elements, root));
  };
  const auto root_number = static_cast<std::uint64_t>(root + 1);
  CallOutcome outcome =
      call.by_schedule(communicator, part.buffers(own, count, datatype, root_number), schedule, request...);
  if (outcome.code) return *outcome.code;
  outcome.uses(datatype);
  if (ranks.is_leaf(root)) staged.read(send, vector);
  if (ranks.is_root(root)) {
    staged.use(
        receive, [&] { return in_place ? vector() : ByteRange(); }, vector);
  }
  return call.run(std::move(outcome), std::move(staged), communicator, send, receive, count, datatype,
                  operation, root, communicator, request...);
};

}  // namespace penstock::interpose
