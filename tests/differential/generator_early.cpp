#include <algorithm>

#include "tests/differential/generator_parts.hpp"

namespace penstock::differential {

namespace {

/// Around the 64 bytes of an envelope, for the most part.
std::size_t draw_early_bytes(Random& random) {
  constexpr std::size_t typical[] = {0, 1, 16, 63, 64, 64, 65, 200, 4096, 100000};
  return random.chance(50) ? random.below(64) : typical[random.below(10)];
}

/// The room for a message, in host memory; mostly more than it takes.
Place draw_early_receive(Program& program, Random& random, int rank, Base base, int elements) {
  Place place;
  place.elements_each = elements;
  if (random.chance(80)) place.elements_each += random.between(1, random.chance(50) ? 20 : 400);
  if (random.chance(30)) place.shape = static_cast<Shape>(random.between(1, 3));
  place.region = allocate_region(program, random, rank, span_bytes(place, base), MemoryKind::pageable);
  return place;
}

}  // namespace

void leave_ranks_without_gpu(Program& program, Random random) {
  if (!random.chance(25)) return;
  for (int rank = 0; rank < program.ranks; ++rank) program.uses_no_gpu[rank] = random.chance(30);
}

void add_early_messages(Program& program, Random random) {
  if (!random.chance(60)) return;
  for (int i = random.between(1, 8); i > 0; --i) {
    Message message;
    message.is_early = true;
    message.communicator = random.between(0, static_cast<int>(program.communicators.size()) - 1);
    const auto& members = program.communicators[static_cast<std::size_t>(message.communicator)].members;
    message.source = members[random.below(members.size())];
    message.destination = members[random.below(members.size())];
    message.tag = random.chance(50) ? random.between(0, 2) : random.between(3, 30000);
    message.base = random.chance(70) ? Base::byte : static_cast<Base>(random.between(1, 2));
    message.any_tag = random.chance(15);
    message.checks_at_once = random.chance(50);
    message.fills_late = random.chance(30);
    const int times = random.chance(35) ? random.between(2, 3) : 1;
    if (times > 1) message.receive_request = static_cast<int>(program.messages.size());
    int most = 0;
    for (int start = 0; start < times; ++start) {
      const int elements = static_cast<int>(draw_early_bytes(random) / size_of(message.base));
      message.send = draw_place(program, random, message.source, message.base, elements, false, 85);
      most = std::max(most, elements);
      program.messages.push_back(message);
    }
    const Place receive = draw_early_receive(program, random, message.destination, message.base, most);
    for (std::size_t j = program.messages.size() - static_cast<std::size_t>(times);
         j < program.messages.size(); ++j) {
      program.messages[j].receive = receive;
    }
  }
}

}  // namespace penstock::differential
