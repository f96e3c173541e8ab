#include "tests/differential/generator_parts.hpp"

namespace penstock::differential {

void add_freed_handles(Program& program, Random random) {
  for (int i = random.chance(40) ? random.between(1, 2) : 0; i > 0; --i) {
    Freed freed;
    freed.reverses_ranks = random.chance(30);
    freed.frees_before_receiving = random.chance(50);
    freed.hints_vertex_sets = random.chance(60);
    for (int j = random.between(1, 5); j > 0; --j) {
      Freed::Transfer transfer;
      transfer.source = random.between(0, program.ranks - 1);
      transfer.destination = random.between(0, program.ranks - 1);
      transfer.is_persistent = random.chance(20);
      transfer.is_synchronous = random.chance(30);
      transfer.stride = random.chance(30) ? random.between(2, 3) : 1;
      const std::size_t integers = random.chance(50) ? random.below(100) : random.below(60000);
      transfer.send = allocate_region(program, random, transfer.source,
                                      4 * integers * static_cast<std::size_t>(transfer.stride), 80u);
      transfer.receive = allocate_region(program, random, transfer.destination, 4 * integers, 80u);
      freed.transfers.push_back(transfer);
    }
    freed.reduces = random.chance(50);
    if (freed.reduces) {
      freed.reduced = random.chance(50) ? random.between(1, 100) : random.between(1000, 8000);
      const unsigned device_percent = random.chance(70) ? 100 : 50;
      const std::size_t bytes = 8 * static_cast<std::size_t>(freed.reduced);
      for (int rank = 0; rank < program.ranks; ++rank) {
        freed.reduce_sends.push_back(allocate_region(program, random, rank, bytes, device_percent));
        freed.reduce_receives.push_back(allocate_region(program, random, rank, bytes, device_percent));
      }
    }
    program.freed.push_back(freed);
  }
}

void add_planted_errors(Program& program, Random random) {
  if (!random.chance(40)) return;
  PlantedErrors planted;
  planted.handler = static_cast<PlantedErrors::Handler>(random.below(2));
  for (int i = random.between(1, 4); i > 0; --i) {
    PlantedErrors::Short message;
    message.source = random.between(0, program.ranks - 1);
    message.destination = (message.source + random.between(1, program.ranks - 1)) % program.ranks;
    message.how =
        static_cast<PlantedErrors::How>(random.below(static_cast<std::size_t>(PlantedErrors::How::count_)));
    message.sends_first = random.chance(50);
    message.with_another = random.chance(40);
    const std::size_t sent = random.chance(50) ? 1 + random.below(200) : 1 + random.below(150000);
    const std::size_t room = random.chance(30) ? sent - 1 : random.below(sent);
    const bool scatters = message.how == PlantedErrors::How::scatter;
    const bool gathers = message.how == PlantedErrors::How::gather;
    message.send = allocate_region(program, random, message.source, scatters ? 2 * sent : sent, 65u);
    message.receive = allocate_region(program, random, message.destination, gathers ? 2 * room : room, 65u);
    const std::size_t other = random.below(5000);
    message.other_send = allocate_region(program, random, message.source, other, 65u);
    message.other_receive = allocate_region(program, random, message.destination, other, 65u);
    planted.messages.push_back(message);
  }
  program.errors.push_back(planted);
}

}  // namespace penstock::differential
