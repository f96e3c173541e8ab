#include "tests/analysis/planted/planted_job.hpp"

#include <algorithm>
#include <utility>

namespace penstock::analysis::testing {
namespace {

using trace::Direction;

constexpr std::uint64_t call_ns = 200;     // of a call that does not wait
constexpr std::uint64_t launch_ns = 2000;  // of the host
constexpr std::uint64_t begin_ns = 1000;   // from then until an idle GPU begins
constexpr std::uint64_t between_calls_ns = 50;
constexpr std::uint64_t notice_ns = 1000;  // from a kernel's end until its host goes on
// A reduction's kernel tells the host its result before it ends, and clocks differ by some 100 ns.
constexpr std::uint64_t behind_call_ns = 400;
constexpr std::uint32_t window_id = 1u << 31;

}  // namespace

PlantedJob::PlantedJob(std::size_t ranks) : ranks_(ranks) {
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    builders_.emplace_back(static_cast<std::int32_t>(rank), static_cast<std::int32_t>(ranks));
  }
}

void PlantedJob::host_code(const ByRank& time_ns) {
  for (std::size_t rank = 0; rank < size(); ++rank) {
    ranks_[rank].now_ns += time_ns.of(rank);
  }
}

void PlantedJob::launch(std::string_view kernel, const ByRank& time_ns, std::uint32_t stream) {
  for (std::size_t rank = 0; rank < size(); ++rank) {
    Rank& own = ranks_[rank];
    own.now_ns += launch_ns;
    std::uint64_t& end_ns = own.stream_ends_ns[stream];
    trace::DeviceActivity record{};
    record.begin_ns = origin_ns + std::max(own.now_ns + begin_ns, end_ns);
    record.end_ns = record.begin_ns + time_ns.of(rank);
    record.name = builders_[rank].text(kernel);
    record.stream = stream;
    record.correlation = ++own.correlation;
    record.kind = trace::RecordKind::kernel;
    builders_[rank].raw(record);
    end_ns = record.end_ns - origin_ns;
  }
}

void PlantedJob::synchronise(std::uint32_t stream) {
  for (std::size_t rank = 0; rank < size(); ++rank) {
    Rank& own = ranks_[rank];
    trace::CudaSynchronisation record{};
    record.begin_ns = origin_ns + own.now_ns;
    own.now_ns = std::max(own.now_ns, own.stream_ends_ns[stream]) + notice_ns;
    record.end_ns = origin_ns + own.now_ns;
    record.what = builders_[rank].text("stream");
    record.stream = stream;
    record.correlation = ++own.correlation;
    record.kind = trace::RecordKind::cuda_synchronisation;
    builders_[rank].raw(record);
  }
}

void PlantedJob::copy(std::uint8_t kind, std::uint64_t bytes, std::uint64_t time_ns) {
  for (std::size_t rank = 0; rank < size(); ++rank) {
    Rank& own = ranks_[rank];
    ++own.correlation;
    const std::uint64_t copy_begin_ns = std::max(own.now_ns + begin_ns, own.stream_ends_ns[main_stream]);
    builders_[rank].copy(copy_begin_ns, copy_begin_ns + time_ns, bytes, kind);
    own.stream_ends_ns[main_stream] = copy_begin_ns + time_ns;
    own.now_ns = copy_begin_ns + time_ns + notice_ns;
  }
}

std::uint64_t PlantedJob::site_of(std::string_view function, std::string_view name) {
  const auto [site, is_new] =
      sites_.try_emplace(std::string(function) + " " + std::string(name), 0x1000 * (sites_.size() + 1));
  for (RecordingBuilder& each : builders_) {
    if (is_new) {
      each.module("/planted/" + std::string(name), site->second - 0x800, site->second + 0x800, 0, 0);
    }
  }
  return site->second;
}

std::size_t PlantedJob::next_message(const PlantedMessage& message, Direction direction) {
  const std::string name(message.name);
  auto& own = direction == Direction::send ? open_sends_ : open_receives_;
  auto& others = direction == Direction::send ? open_receives_ : open_sends_;
  if (const auto other = others.find(name); other != others.end()) {
    const std::size_t number = other->second;
    others.erase(other);
    return number;
  }
  messages_.push_back({std::vector<std::uint64_t>(size()), std::vector<std::uint64_t>(size()), message});
  return own[name] = messages_.size() - 1;
}

void PlantedJob::post(const PlantedMessage& message, Direction direction, std::uint64_t call_site) {
  const std::size_t number = next_message(message, direction);
  for (std::size_t rank = 0; rank < size(); ++rank) {
    (direction == Direction::send ? messages_[number].sends_ns : messages_[number].receives_ns)[rank] =
        ranks_[rank].now_ns;
    ranks_[rank].posted.push_back({number, direction, ranks_[rank].now_ns, call_site});
  }
}

void PlantedJob::isend(const PlantedMessage& message) {
  const std::uint64_t site = site_of("MPI_Isend", message.name);
  post(message, Direction::send, site);
  for (std::size_t rank = 0; rank < size(); ++rank) {
    const std::uint64_t now_ns = ranks_[rank].now_ns;
    builders_[rank].call({.function = "MPI_Isend",
                          .begin = now_ns,
                          .end = now_ns + call_ns,
                          .bytes = message.bytes,
                          .call_site = site,
                          .peer = static_cast<std::int32_t>((rank + 1) % size()),
                          .waits = 0});
    ranks_[rank].now_ns += call_ns + between_calls_ns;
  }
}

void PlantedJob::irecv(const PlantedMessage& message) {
  const std::uint64_t site = site_of("MPI_Irecv", message.name);
  post(message, Direction::receive, site);
  for (std::size_t rank = 0; rank < size(); ++rank) {
    const std::uint64_t now_ns = ranks_[rank].now_ns;
    builders_[rank].call({.function = "MPI_Irecv",
                          .begin = now_ns,
                          .end = now_ns + call_ns,
                          .call_site = site,
                          .peer = static_cast<std::int32_t>((rank + size() - 1) % size()),
                          .waits = 0});
    ranks_[rank].now_ns += call_ns + between_calls_ns;
  }
}

void PlantedJob::complete(std::string_view function, std::uint64_t call_site, std::uint64_t bytes,
                          bool is_blocking, bool of_sends) {
  for (std::size_t rank = 0; rank < size(); ++rank) {
    Rank& own = ranks_[rank];
    std::uint64_t end_ns = own.now_ns + call_ns;
    const auto stays = [of_sends](const Posted& each) {
      return !of_sends && each.direction == Direction::send;
    };
    const auto rest = std::stable_partition(own.posted.begin(), own.posted.end(), stays);
    const std::vector<Posted> completed(rest, own.posted.end());
    own.posted.erase(rest, own.posted.end());
    for (const Posted& each : completed) {
      const bool is_send = each.direction == Direction::send;
      const std::size_t sender = is_send ? rank : (rank + size() - 1) % size();
      const Sent& sent = messages_[each.message];
      end_ns = std::max(end_ns, std::max(sent.sends_ns[sender], sent.receives_ns[(sender + 1) % size()]) +
                                    sent.what.wire_ns_from(sender));
    }
    for (const Posted& each : completed) {
      const bool is_send = each.direction == Direction::send;
      const std::size_t sender = is_send ? rank : (rank + size() - 1) % size();
      const Sent& sent = messages_[each.message];
      trace::MessageHalf half{};
      half.post_ns = origin_ns + each.post_ns;
      half.complete_ns = origin_ns + end_ns;
      half.bytes = sent.what.bytes;
      half.key = (std::uint64_t{sender} + 1) << 40 | (each.message + 1);
      half.call_site = each.call_site;
      half.peer = static_cast<std::int32_t>(is_send ? (rank + 1) % size() : sender);
      half.communicator = 1;
      half.direction = each.direction;
      half.buffer = trace::BufferKind::pageable;
      half.blocking = is_blocking ? 1 : 0;
      half.kind = trace::RecordKind::message_half;
      builders_[rank].raw(half);
    }
    builders_[rank].call(
        {.function = function, .begin = own.now_ns, .end = end_ns, .bytes = bytes, .call_site = call_site});
    own.now_ns = end_ns + between_calls_ns;
  }
}

void PlantedJob::waitall(std::string_view name) {
  complete("MPI_Waitall", site_of("MPI_Waitall", name), 0, false);
}

void PlantedJob::recv(const PlantedMessage& message) {
  const std::uint64_t site = site_of("MPI_Recv", message.name);
  post(message, Direction::receive, site);
  complete("MPI_Recv", site, message.bytes, true, false);
}

void PlantedJob::sendrecv(const PlantedMessage& message) {
  const std::uint64_t site = site_of("MPI_Sendrecv", message.name);
  post(message, Direction::send, site);
  post(message, Direction::receive, site);
  complete("MPI_Sendrecv", site, 2 * message.bytes, true);
}

void PlantedJob::allreduce(std::string_view name, std::uint64_t bytes, std::uint64_t time_ns) {
  std::uint64_t all_came_ns = 0;
  for (const Rank& each : ranks_) {
    all_came_ns = std::max(all_came_ns, each.now_ns);
  }
  const std::uint64_t site = site_of("MPI_Allreduce", name);
  ++collectives_;
  for (std::size_t rank = 0; rank < size(); ++rank) {
    builders_[rank].call({.function = "MPI_Allreduce",
                          .begin = ranks_[rank].now_ns,
                          .end = all_came_ns + time_ns,
                          .bytes = bytes,
                          .call_site = site,
                          .collective_ordinal = collectives_});
    builders_[rank].kernel(all_came_ns, all_came_ns + time_ns + behind_call_ns, "penstock_one_shot", true);
    ranks_[rank].now_ns = all_came_ns + time_ns + between_calls_ns;
  }
}

void PlantedJob::wait_at_window(std::string_view function, std::string_view name, std::size_t rank,
                                std::size_t awaited, std::uint64_t until_ns) {
  const std::uint64_t now_ns = ranks_[rank].now_ns;
  const std::uint64_t end_ns = std::max(now_ns, until_ns) + call_ns;
  builders_[rank].call({.function = function,
                        .begin = now_ns,
                        .end = end_ns,
                        .call_site = site_of(function, name),
                        .peer = until_ns > now_ns ? static_cast<std::int32_t>(awaited) : -1,
                        .communicator = window_id});
  ranks_[rank].now_ns = end_ns + between_calls_ns;
}

void PlantedJob::put_to_next(const PlantedMessage& message) {
  if (!std::exchange(has_window_, true)) {
    for (RecordingBuilder& each : builders_) {
      each.window(window_id);
    }
  }
  const auto call = [&](std::string_view function, std::size_t rank, std::uint64_t time_ns, bool waits,
                        std::uint64_t bytes = 0) {
    const std::uint64_t end_ns = ranks_[rank].now_ns + time_ns;
    builders_[rank].call({.function = function,
                          .begin = ranks_[rank].now_ns,
                          .end = end_ns,
                          .bytes = bytes,
                          .call_site = site_of(function, message.name),
                          .waits = static_cast<std::uint8_t>(waits ? 1 : 0),
                          .communicator = window_id});
    ranks_[rank].now_ns = end_ns + between_calls_ns;
    return end_ns;
  };
  std::vector<std::uint64_t> opened_ns(size());
  std::vector<std::uint64_t> completed_ns(size());
  for (std::size_t rank = 0; rank < size(); ++rank) {
    opened_ns[rank] = call("MPI_Win_post", rank, call_ns, false);
  }
  for (std::size_t rank = 0; rank < size(); ++rank) {
    const std::size_t next = (rank + 1) % size();
    wait_at_window("MPI_Win_start", message.name, rank, next, opened_ns[next]);
    call("MPI_Put", rank, call_ns, false, message.bytes);
    completed_ns[rank] = call("MPI_Win_complete", rank, message.wire_ns_from(rank), true);
  }
  for (std::size_t rank = 0; rank < size(); ++rank) {
    const std::size_t previous = (rank + size() - 1) % size();
    wait_at_window("MPI_Win_wait", message.name, rank, previous, completed_ns[previous]);
  }
}

void PlantedJob::push(std::string_view range) {
  for (Rank& each : ranks_) {
    each.ranges.emplace_back(range, each.now_ns);
  }
}

void PlantedJob::pop() {
  for (std::size_t rank = 0; rank < size(); ++rank) {
    Rank& own = ranks_[rank];
    trace::Range record{};
    record.begin_ns = origin_ns + own.ranges.back().second;
    record.end_ns = origin_ns + own.now_ns;
    record.name = builders_[rank].text(own.ranges.back().first);
    own.ranges.pop_back();
    record.depth = static_cast<std::uint8_t>(own.ranges.size());
    record.kind = trace::RecordKind::range;
    builders_[rank].raw(record);
  }
}

std::uint64_t PlantedJob::finish() {
  std::uint64_t total_ns = 0;
  for (std::size_t rank = 0; rank < size(); ++rank) {
    builders_[rank].runs(0, ranks_[rank].now_ns);
    total_ns = std::max(total_ns, ranks_[rank].now_ns);
  }
  return total_ns;
}

}  // namespace penstock::analysis::testing
