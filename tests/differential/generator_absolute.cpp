#include <algorithm>
#include <iterator>

#include "tests/differential/generator_parts.hpp"

namespace penstock::differential {

namespace {

/// Blocks in several allocations, whose kinds come in any order, for so many elements.
Place draw_absolute(Program& program, Random& random, int rank, Base base, int elements, bool is_pageable) {
  Place place;
  place.shape = Shape::absolute;
  place.elements_each = elements;
  const int blocks = std::min(elements, random.chance(20) ? 1 : random.between(2, 5));
  const MemoryKind kinds[] = {draw_kind(program, random, rank, 90), draw_kind(program, random, rank, 40)};
  // equal blocks, the last perhaps but for one, or any
  const bool are_equal = random.chance(60);
  for (int left = elements, i = 0; i < blocks; ++i) {
    const bool is_last = i + 1 == blocks;
    const int length = is_last     ? left
                       : are_equal ? elements / blocks
                                   : random.between(1, left - (blocks - i - 1));
    const MemoryKind kind = is_pageable ? MemoryKind::pageable : kinds[random.below(2)];
    place.parts.push_back(
        {allocate_region(program, random, rank, static_cast<std::size_t>(length) * size_of(base), kind),
         length});
    left -= length;
  }
  if (random.chance(30)) std::reverse(place.parts.begin(), place.parts.end());
  return place;
}

}  // namespace

void spread_some_messages(Program& program, Random random) {
  auto& messages = program.messages;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    Message& message = messages[i];
    if (message.send_request >= 0 && message.send_request != static_cast<int>(i)) {
      message.send = messages[static_cast<std::size_t>(message.send_request)].send;
    } else if (message.send.elements() > 0 && random.chance(10)) {
      message.send =
          draw_absolute(program, random, message.source, message.base, message.send.elements(), false);
    }
    if (message.receive_request >= 0 && message.receive_request != static_cast<int>(i)) {
      message.receive = messages[static_cast<std::size_t>(message.receive_request)].receive;
    } else if (message.receive.elements() > 0 && random.chance(10)) {
      message.receive = draw_absolute(program, random, message.destination, message.base,
                                      message.receive.elements(), message.is_early);
    }
  }
}

void spread_some_collectives(Program& program, Random random, bool everywhere) {
  constexpr CollectiveCall often_unable[] = {CollectiveCall::gather,    CollectiveCall::scatter,
                                             CollectiveCall::allgather, CollectiveCall::alltoall,
                                             CollectiveCall::alltoallv, CollectiveCall::alltoallw};
  for (Collective& collective : program.collectives) {
    const bool is_able = everywhere || std::find(std::begin(often_unable), std::end(often_unable),
                                                 collective.call) == std::end(often_unable);
    const bool is_eligible = collective.call != CollectiveCall::barrier && !is_reduction(collective.call) &&
                             !collective.has_empty_units && is_able;
    if (!is_eligible || !random.chance(20)) continue;
    const auto& members = program.communicators[static_cast<std::size_t>(collective.communicator)].members;
    for (std::size_t i = 0; i < members.size(); ++i) {
      Collective::Member& member = collective.members[i];
      member.send_is_absolute = random.chance(60);
      // see the generator about the extents of MPI_Allgatherv
      member.receive_is_absolute =
          random.chance(60) && (collective.call != CollectiveCall::allgatherv || member.receive_has_gaps);
      if (member.send_is_absolute)
        member.send_rest = allocate_region(program, random, members[i], member.send.bytes, 50u);
      if (member.receive_is_absolute)
        member.receive_rest = allocate_region(program, random, members[i], member.receive.bytes, 50u);
    }
  }
}

}  // namespace penstock::differential
