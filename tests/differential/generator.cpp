#include "tests/differential/generator.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "tests/differential/generator_parts.hpp"

namespace penstock::differential {

namespace {

using test_support::Random;

/// Draws a program's content. Lives for one call of generate().
class Generator {
 public:
  Generator(std::uint64_t seed, int world_size, const Families& families)
      : families_(families), random_(seed) {
    program_.seed = seed;
    program_.ranks = random_.between(2, std::min(world_size, most_ranks));
    // each program has its own taste: how much of it is on devices, how large, how many
    device_percent_ = static_cast<unsigned>(random_.between(30, 100));
    budget_bytes_ = static_cast<std::size_t>(random_.between(1, 8)) << 20;
  }

  Program run() {
    make_communicators();
    if (families_.early) leave_ranks_without_gpu(program_, random_of(1));
    choose_first_unnamed(random_of(9));
    const int messages = random_.chance(20) ? random_.between(200, 400) : random_.between(10, 120);
    while (static_cast<int>(program_.messages.size()) < messages) make_messages();
    straighten_some_messages(random_of(10));
    if (families_.early) add_early_messages(program_, random_of(2));
    if (families_.empty) empty_some_messages(program_, random_of(3));
    if (families_.absolute) spread_some_messages(program_, random_of(4));
    choose_wildcards();
    name_some_receives();
    for (int i = random_.between(0, 14); i > 0; --i) {
      make_collective();
      if (random_.chance(15)) make_barrier();
    }
    for (int i = random_.between(0, 3); i > 0; --i) make_race();
    for (int i = random_.between(0, 4); i > 0; --i) make_unmatched();
    if (families_.empty) empty_some_collectives(program_, random_of(5));
    if (families_.absolute) spread_some_collectives(program_, random_of(6), families_.absolute_everywhere);
    if (families_.freed) add_freed_handles(program_, random_of(7));
    if (families_.errors) add_planted_errors(program_, random_of(8));
    schedule(program_);
    if (families_.callbacks) move_some_actions_into_callbacks(program_, random_of(11));
    return std::move(program_);
  }

 private:
  /// What is left out leaves the draws of the rest as they are.
  [[nodiscard]] Random random_of(std::uint64_t part) const { return Random(program_.seed ^ part << 32); }

  void make_communicators() {
    Communicator world;
    world.members.resize(static_cast<std::size_t>(program_.ranks));
    std::iota(world.members.begin(), world.members.end(), 0);
    program_.communicators.push_back(world);
    world.is_duplicate = true;
    program_.communicators.push_back(world);
    for (int i = random_.between(0, 2); i > 0; --i) {
      Communicator split;
      for (int rank = 0; rank < program_.ranks; ++rank) {
        split.color_of_rank[rank] = random_.between(0, 1);
        split.key_of_rank[rank] = random_.between(0, 9) * most_ranks + rank;  // no ties
      }
      // the program speaks of one half; the other half is made all the same
      for (int rank = 0; rank < program_.ranks; ++rank) {
        if (split.color_of_rank[rank] == split.color_of_rank[0]) split.members.push_back(rank);
      }
      std::sort(split.members.begin(), split.members.end(),
                [&](int a, int b) { return split.key_of_rank[a] < split.key_of_rank[b]; });
      program_.communicators.push_back(split);
    }
  }

  Region allocate(int rank, std::size_t bytes) { return allocate(rank, bytes, device_percent_); }
  Region allocate(int rank, std::size_t bytes, unsigned device_percent) {
    return allocate_region(program_, random_, rank, bytes, device_percent);
  }

  std::size_t draw_bytes() {
    const auto dice = random_.below(100);
    std::size_t bytes = 0;
    if (dice < 5) {
      bytes = 0;
    } else if (dice < 20) {
      bytes = 1 + random_.below(64);
    } else if (dice < 32) {
      bytes = 60 + random_.below(12);
    } else if (dice < 65) {
      bytes = random_.below(4096);
    } else if (dice < 85) {
      bytes = random_.below(64 << 10);
    } else if (dice < 90) {
      bytes = (64 << 10) - 8 + random_.below(16);
    } else if (dice < 98) {
      bytes = random_.below(256 << 10);
    } else {
      bytes = random_.below(2 << 20);
    }
    bytes = std::min(bytes, std::max<std::size_t>(budget_bytes_, 2048));
    budget_bytes_ -= std::min(budget_bytes_, bytes);
    return bytes;
  }

  /// One message, or a few that share their envelope so that persistent requests can carry them.
  void make_messages() {
    Message message;
    message.communicator = random_.between(0, static_cast<int>(program_.communicators.size()) - 1);
    const auto& members = program_.communicators[static_cast<std::size_t>(message.communicator)].members;
    message.source = members[random_.below(members.size())];
    message.destination = members[random_.below(members.size())];
    message.tag = random_.chance(50) ? random_.between(0, 2) : random_.between(3, 30000);
    message.base = static_cast<Base>(random_.between(0, 2));
    const int elements = static_cast<int>(draw_bytes() / size_of(message.base));
    message.send =
        draw_place(program_, random_, message.source, message.base, elements, false, device_percent_);
    message.receive =
        draw_place(program_, random_, message.destination, message.base, elements, true, device_percent_);
    message.fills_late = random_.chance(25);
    message.checks_at_once = random_.chance(35);
    message.any_tag = random_.chance(25);

    const int first = static_cast<int>(program_.messages.size());
    if (!random_.chance(12)) {
      // MPICH 4.0 loses messages to oneself whose request was freed, on host memory too: pmodels/mpich#5977
      message.frees_request = message.source != message.destination && random_.chance(4);
      program_.messages.push_back(message);
      return;
    }
    const bool send = random_.chance(75);
    const bool receive = !send || random_.chance(60);
    message.send_request = send ? first : -1;
    message.receive_request = receive ? first : -1;
    message.fills_late = message.checks_at_once = true;
    for (int i = random_.between(2, 4); i > 0; --i) {
      if (!send)
        message.send =
            draw_place(program_, random_, message.source, message.base, elements, false, device_percent_);
      if (!receive)
        message.receive =
            draw_place(program_, random_, message.destination, message.base, elements, true, device_percent_);
      program_.messages.push_back(message);
    }
  }

  /// MPI_ANY_SOURCE is deterministic only where no other message to the rank has the same tag.
  void choose_wildcards() {
    std::map<std::tuple<int, int, int>, std::set<int>> sources;
    for (const Message& message : program_.messages) {
      sources[{message.communicator, message.destination, message.tag}].insert(message.source);
    }
    for (Message& message : program_.messages) {
      const auto& rivals = sources[{message.communicator, message.destination, message.tag}];
      if (message.any_tag || rivals.size() > 1) continue;
      if (message.receive_request >= 0) {  // all that share a request share its arguments
        const Message& first = program_.messages[static_cast<std::size_t>(message.receive_request)];
        message.any_source = &first == &message ? random_.chance(40) : first.any_source;
      } else {
        message.any_source = random_.chance(40);
      }
    }
  }

  /// A wildcard or a matched probe ends something for all later receives on a communicator, so there are
  /// programs without any, and some that begin without.
  void choose_first_unnamed(Random random) {
    const auto dice = random.below(100);
    program_.first_unnamed = dice < 40 ? 0 : dice < 70 ? random.between(5, 60) : 1 << 30;
  }
  void name_some_receives() {
    const int messages = static_cast<int>(program_.messages.size());
    for (int i = 0; i < std::min(program_.first_unnamed, messages); ++i)
      program_.messages[static_cast<std::size_t>(i)].any_source =
          program_.messages[static_cast<std::size_t>(i)].any_tag = false;
    // all that share a request share its arguments
    for (Message& message : program_.messages) {
      if (message.receive_request < 0) continue;
      const Message& first = program_.messages[static_cast<std::size_t>(message.receive_request)];
      message.any_source = first.any_source;
      message.any_tag = first.any_tag;
    }
  }

  /// In these programs more messages are from device to device, in one piece.
  void straighten_some_messages(Random random) {
    if (program_.first_unnamed == 0) return;
    for (Message& message : program_.messages) {
      // all that share a request share its places
      if (message.send_request >= 0 || message.receive_request >= 0 || random.chance(40)) continue;
      straighten(random, message.send, message.source, message.base);
      straighten(random, message.receive, message.destination, message.base);
    }
  }
  void straighten(Random& random, Place& place, int rank, Base base) {
    if (program_.uses_no_gpu[rank]) return;
    Place straight;
    straight.elements_each = place.elements();
    straight.region = allocate_region(program_, random, rank, span_bytes(straight, base), MemoryKind::device);
    place = straight;
  }

  void make_collective() {
    Collective collective;
    collective.call =
        static_cast<CollectiveCall>(random_.below(static_cast<std::size_t>(CollectiveCall::count_)));
    collective.blocking = random_.chance(60);
    collective.communicator = random_.between(0, static_cast<int>(program_.communicators.size()) - 1);
    collective.reduction = static_cast<Reduction>(random_.below(static_cast<std::size_t>(Reduction::count_)));
    const auto& members = program_.communicators[static_cast<std::size_t>(collective.communicator)].members;
    const std::size_t size = members.size();
    // MPICH 4.0 lets messages of one rank's communicator meet those inside its collectives
    if (size == 1) return;
    collective.root = static_cast<int>(random_.below(size));
    // little is combined by the MPI library
    const bool is_large = random_.chance(is_reduction(collective.call) ? 50 : 15);
    const int typical = is_large ? random_.between(1000, 6000) : random_.between(0, 200);
    const bool varies = shares_vary(collective.call);
    for (std::size_t i = 0; i < size; ++i) {
      collective.counts.push_back(varies ? random_.between(0, typical + 1) : typical);
    }
    collective.in_place = collective.call != CollectiveCall::barrier &&
                          collective.call != CollectiveCall::bcast && random_.chance(25);
    if (is_of_neighbours(collective.call)) collective.in_place = false;
    // MPICH 4.0 crashes in a blocking MPI_Reduce in place of more than 2 KiB unless the root is rank 0
    const std::size_t vector_bytes =
        static_cast<std::size_t>(collective.counts[0]) * element_bytes(collective.reduction);
    if (collective.call == CollectiveCall::reduce && vector_bytes > 2000) collective.in_place = false;
    // enough for every call: each member's share for or from every member
    const auto most =
        static_cast<std::size_t>(*std::max_element(collective.counts.begin(), collective.counts.end()));
    const std::size_t units = most * size;
    // the GPU combines only what all have on devices
    const unsigned device_percent = random_.chance(50) ? 100 : device_percent_;
    for (const int rank : members) {
      Collective::Member member;
      member.send_has_gaps = random_.chance(30);
      member.receive_has_gaps = random_.chance(30);
      // MPICH 4.0 cuts large allgatherv messages by the extent of the local type, so ranks must agree on that
      if (collective.call == CollectiveCall::allgatherv) member.receive_has_gaps = collective.root % 2 == 1;
      const std::size_t bytes = is_reduction(collective.call) ? units * element_bytes(collective.reduction)
                                                              : units * unit_bytes_with_gaps;
      member.send = allocate(rank, bytes, device_percent);
      member.receive = allocate(rank, bytes, device_percent);
      collective.members.push_back(member);
    }
    program_.collectives.push_back(collective);
  }

  /// Receives posted before one are known to be posted after it: ready sends need that.
  void make_barrier() {
    Collective barrier;
    barrier.call = CollectiveCall::barrier;
    barrier.members.resize(static_cast<std::size_t>(program_.ranks));
    barrier.counts.resize(barrier.members.size());
    program_.collectives.push_back(barrier);
  }

  void make_race() {
    Race race;
    race.destination = random_.between(0, program_.ranks - 1);
    race.how = static_cast<Race::How>(random_.below(4));
    const std::size_t bytes = random_.chance(30) ? random_.below(100 << 10) : random_.below(300);
    for (int i = random_.between(2, 24); i > 0; --i) {
      const int source = random_.between(0, program_.ranks - 1);
      race.sources.push_back(source);
      race.sends.push_back(allocate(source, bytes - std::min(bytes, random_.below(3))));
      race.receives.push_back(allocate(race.destination, bytes));
    }
    program_.races.push_back(race);
  }

  void make_unmatched() {
    Unmatched unmatched;
    unmatched.communicator = random_.between(0, static_cast<int>(program_.communicators.size()) - 1);
    const auto& members = program_.communicators[static_cast<std::size_t>(unmatched.communicator)].members;
    unmatched.rank = members[random_.below(members.size())];
    unmatched.tag = 31000 + static_cast<int>(program_.unmatched.size());
    unmatched.region = allocate(unmatched.rank, draw_bytes());
    program_.unmatched.push_back(unmatched);
  }

  const Families families_;
  Random random_;
  Program program_;
  unsigned device_percent_ = 50;
  std::size_t budget_bytes_ = 0;
};

}  // namespace

Program generate(std::uint64_t seed, int world_size, const Families& families) {
  return Generator(seed, world_size, families).run();
}

}  // namespace penstock::differential
