#include <algorithm>

#include "tests/differential/generator_parts.hpp"

namespace penstock::differential {

namespace {

void draw_form(Place& place, Random& random) {
  if (place.elements() == 0) {
    place.empty = static_cast<Empty>(random.below(5));
    place.empty_count = random.between(0, 3);
  } else if (place.shape == Shape::indexed || place.shape == Shape::structure) {
    place.has_empty_blocks = random.chance(30);
  }
}

void leave_nothing(Place& place) {
  place.copies = 1;
  place.elements_each = 0;
}

}  // namespace

void empty_some_messages(Program& program, Random random) {
  auto& messages = program.messages;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    Message& message = messages[i];
    const bool is_persistent = message.send_request >= 0 || message.receive_request >= 0;
    if (!is_persistent && random.chance(6)) {
      leave_nothing(message.send);
      if (random.chance(60)) leave_nothing(message.receive);
    }
    draw_form(message.send, random);
    draw_form(message.receive, random);
    // what shares a persistent request shares its arguments
    if (message.send_request >= 0) {
      message.send = messages[static_cast<std::size_t>(message.send_request)].send;
    }
    if (message.receive_request >= 0) {
      message.receive = messages[static_cast<std::size_t>(message.receive_request)].receive;
    }
  }
}

void empty_some_collectives(Program& program, Random random) {
  for (Collective& collective : program.collectives) {
    if (collective.call == CollectiveCall::barrier || !random.chance(10)) continue;
    if (is_reduction(collective.call)) {
      std::fill(collective.counts.begin(), collective.counts.end(), 0);
    } else {
      collective.has_empty_units = true;
    }
  }
}

}  // namespace penstock::differential
