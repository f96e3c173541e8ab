#include "tests/analysis/known_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "tests/analysis/recording_builder.hpp"
#include "tests/analysis/recording_stream.hpp"

namespace penstock::analysis::testing {
namespace {

// Moments and lengths within a step. Unit: ns. What varies does so with `phase`, 0 to 3, of the pair and
// step.
constexpr std::uint64_t step_ns = 60'000;
constexpr std::uint64_t before_steps_ns = 50'000;
constexpr std::uint64_t behind_steps_ns = 50'000;

constexpr std::uint64_t alone_begin_ns = 1'000;  // a kernel that hides nothing
constexpr std::uint64_t alone_end_ns = 9'000;
constexpr std::uint64_t copy_end_ns = 9'500;
constexpr std::uint64_t synchronised_from_ns = 8'000;
constexpr std::uint64_t synchronised_until_ns = 9'600;

constexpr std::uint64_t late_sender_at_ns = 10'000;  // the second receives
constexpr std::uint64_t late_sender_ns = 500;        // … and so much more with each phase
constexpr std::uint64_t late_sender_phase_ns = 100;
constexpr std::uint64_t late_sender_wire_ns = 1'500;
constexpr std::uint64_t hides_from_ns = 11'900;  // a kernel that hides the end of this message
constexpr std::uint64_t hides_until_ns = 15'000;

constexpr std::uint64_t late_receiver_at_ns = 16'000;  // the second sends
constexpr std::uint64_t late_receiver_ns = 400;
constexpr std::uint64_t late_receiver_phase_ns = 50;
constexpr std::uint64_t late_receiver_wire_ns = 2'000;

constexpr std::uint64_t device_at_ns = 20'000;  // the second pulls
constexpr std::uint64_t transfer_begin_ns = 20'300;
constexpr std::uint64_t gpu_wait_ns = 700;
constexpr std::uint64_t pack_ns = 400;
constexpr std::uint64_t device_end_ns = 24'000;

constexpr std::uint64_t posted_at_ns = 26'000;  // the second receives
constexpr std::uint64_t isend_ns = 200;
constexpr std::uint64_t irecv_ns = 100;
constexpr std::uint64_t beside_begin_ns = 27'000;  // a kernel beside the message
constexpr std::uint64_t beside_end_ns = 30'000;
constexpr std::uint64_t second_waits_ns = 30'500;
constexpr std::uint64_t first_returns_ns = 31'500;
constexpr std::uint64_t first_returns_phase_ns = 100;
constexpr std::uint64_t posted_end_ns = 33'000;

constexpr std::uint64_t collective_at_ns = 36'000;
constexpr std::uint64_t collective_spread_ns = 6'000;
constexpr std::uint64_t collective_wire_ns = 1'200;

constexpr std::uint64_t probe_at_ns = 50'000;
constexpr std::uint64_t probe_ns = 700;

constexpr std::uint64_t host_bytes = 512;
constexpr std::uint64_t device_bytes = 100'000;

constexpr std::uint64_t phases = 4;

/// first % period + (first + 1) % period + … , `count` of them.
constexpr std::uint64_t sum_of_cycle(std::uint64_t first, std::uint64_t count, std::uint64_t period) {
  const auto sum_below = [period](std::uint64_t end) {
    const std::uint64_t rest = end % period;
    return end / period * (period * (period - 1) / 2) + (rest == 0 ? 0 : rest * (rest - 1) / 2);
  };
  first %= period;
  return sum_below(first + count) - sum_below(first);
}
static_assert(sum_of_cycle(2, 6, 4) == 2 + 3 + 0 + 1 + 2 + 3);

/// One rank's place in a step.
struct Role {
  bool is_first;
  std::int32_t partner;
  std::int32_t first;
  std::uint64_t phase;

  Role(std::int32_t rank, std::int32_t ranks, std::uint64_t step)
      : is_first((static_cast<std::uint64_t>(rank) + step) % 2 == 0),
        partner(is_first ? (rank + 1) % ranks : (rank + ranks - 1) % ranks),
        first(is_first ? rank : partner),
        phase((static_cast<std::uint64_t>(first) + step) / 2 % phases) {}
};

/// The steps in which a rank has one of the two roles: every second one.
struct RoleSums {
  std::uint64_t steps;
  std::uint64_t phases_sum;

  /// `first`: the first rank of the pair in these steps.
  RoleSums(std::int32_t first, std::uint64_t all_steps) {
    const auto number = static_cast<std::uint64_t>(first);
    const std::uint64_t from_step = number % 2;
    steps = (all_steps + 1 - from_step) / 2;
    phases_sum = sum_of_cycle((number + from_step) / 2, steps, phases);
  }
};

/// Strings of the recording.
struct Words {
  std::uint32_t send, recv, isend, irecv, waitall, allreduce, probe, barrier, step, alone, hides, beside,
      reason, synchronised;
};

/// Writes one rank. Lane 0 is its thread, lane 1 its GPU.
class RankWriter {
 public:
  RankWriter(std::int32_t rank, std::int32_t ranks, const std::filesystem::path& directory,
             const trace::FileHeader& header)
      : rank_(rank),
        ranks_(ranks),
        stream_(directory / fmt::format("rank-{}.penstock", rank), header,
                {trace::BlockCoding::delta, trace::BlockCoding::plain}),
        words_{.send = stream_.text("MPI_Send"),
               .recv = stream_.text("MPI_Recv"),
               .isend = stream_.text("MPI_Isend"),
               .irecv = stream_.text("MPI_Irecv"),
               .waitall = stream_.text("MPI_Waitall"),
               .allreduce = stream_.text("MPI_Allreduce"),
               .probe = stream_.text("MPI_Probe"),
               .barrier = stream_.text("MPI_Barrier"),
               .step = stream_.text("step"),
               .alone = stream_.text("_Z5alonev"),
               .hides = stream_.text("_Z5hidesv"),
               .beside = stream_.text("_Z6besidev"),
               .reason = stream_.text("peer access"),
               .synchronised = stream_.text("stream")} {
    trace::Communicator world{};
    world.global_id = world_id;
    world.local_id = 1;
    world.name = stream_.text("MPI_COMM_WORLD");
    world.size = ranks;
    world.rank = rank;
    world.kind = trace::RecordKind::communicator;
    stream_.write(0, world);
  }

  void begin() {
    now_ns_ = origin_ns;
    call({words_.barrier, 1'000, 2'000, 0x10, 0, 1, 1});
  }

  void step(std::uint64_t number, std::uint64_t arrival_ns, std::uint64_t last_arrival_ns) {
    now_ns_ = origin_ns + before_steps_ns + number * step_ns;
    const Role role(rank_, ranks_, number);
    kernel(words_.alone, alone_begin_ns, alone_end_ns);
    copy(alone_end_ns, copy_end_ns);
    synchronise(synchronised_from_ns, synchronised_until_ns);
    kernel(words_.hides, hides_from_ns, hides_until_ns);
    kernel(words_.beside, beside_begin_ns, beside_end_ns);
    late_sender(role);
    late_receiver(role);
    device_message(role, number);
    posted_early(role);
    const std::uint64_t last_ns = collective_at_ns + last_arrival_ns;
    call({words_.allreduce, collective_at_ns + arrival_ns, last_ns + collective_wire_ns, 0x80, 8,
          static_cast<std::uint32_t>(number + 2), 1});
    call({words_.probe, probe_at_ns, probe_at_ns + probe_ns, 0x90, 0, 0, 1});
    range(words_.step, 0, step_ns);
  }

  std::uint64_t finish() {
    stream_.finish();
    return records_;
  }

 private:
  struct CallWords {
    std::uint32_t function;
    std::uint64_t begin_ns;
    std::uint64_t end_ns;
    std::uint64_t call_site;
    std::uint64_t bytes;
    std::uint32_t collective_ordinal;
    std::uint8_t waits;
  };

  void late_sender(const Role& role) {
    const std::uint64_t posted_ns = late_sender_at_ns + late_sender_ns + late_sender_phase_ns * role.phase;
    const std::uint64_t end_ns = posted_ns + late_sender_wire_ns;
    message(role, role.is_first, role.is_first ? posted_ns : late_sender_at_ns, end_ns, 0x20, 1);
  }

  void late_receiver(const Role& role) {
    const std::uint64_t posted_ns =
        late_receiver_at_ns + late_receiver_ns + late_receiver_phase_ns * role.phase;
    const std::uint64_t end_ns = posted_ns + late_receiver_wire_ns;
    message(role, !role.is_first, role.is_first ? posted_ns : late_receiver_at_ns, end_ns, 0x30, 2);
  }

  /// By a blocking call, without a key.
  void message(const Role& role, bool is_send, std::uint64_t begin_ns, std::uint64_t end_ns,
               std::uint64_t call_site, std::int32_t tag) {
    half(role, is_send, begin_ns, end_ns, {host_bytes, 0, tag, 1, trace::BufferKind::pageable});
    call({is_send ? words_.send : words_.recv, begin_ns, end_ns, call_site, host_bytes, 0, 1});
  }

  void device_message(const Role& role, std::uint64_t step) {
    const std::uint64_t key = (static_cast<std::uint64_t>(role.first) + 1) << 40 | (step + 1);
    if (!role.is_first) {
      trace::Transfer record{};
      record.begin_ns = now_ns_ + transfer_begin_ns;
      record.end_ns = now_ns_ + device_end_ns;
      record.bytes = device_bytes;
      record.key = key;
      record.reason = words_.reason;
      record.pack_ns = static_cast<std::uint32_t>(pack_ns);
      record.wait_ns = static_cast<std::uint32_t>(gpu_wait_ns);
      record.peer = role.partner;
      record.source = trace::BufferKind::device;
      record.destination = trace::BufferKind::device;
      record.transport = trace::TransportKind::peer;
      record.kind = trace::RecordKind::transfer;
      write(0, record);
    }
    half(role, role.is_first, device_at_ns, device_end_ns,
         {device_bytes, key, 3, 1, trace::BufferKind::device});
    call({role.is_first ? words_.send : words_.recv, device_at_ns, device_end_ns, 0x40, device_bytes, 0, 1});
  }

  void posted_early(const Role& role) {
    if (role.is_first) {
      call({words_.isend, posted_at_ns, posted_at_ns + isend_ns, 0x50, host_bytes, 0, 0});
    } else {
      call({words_.irecv, posted_at_ns, posted_at_ns + irecv_ns, 0x60, 0, 0, 0});
    }
    half(role, role.is_first, posted_at_ns, posted_end_ns,
         {host_bytes, 0, 4, 0, trace::BufferKind::pageable});
    const std::uint64_t waits_from_ns =
        role.is_first ? first_returns_ns + first_returns_phase_ns * role.phase : second_waits_ns;
    call({words_.waitall, waits_from_ns, posted_end_ns, 0x70, 0, 0, 1});
  }

  struct HalfWords {
    std::uint64_t bytes;
    std::uint64_t key;
    std::int32_t tag;
    std::uint8_t blocking;
    trace::BufferKind buffer;
  };

  void half(const Role& role, bool is_send, std::uint64_t post_ns, std::uint64_t complete_ns,
            const HalfWords& words) {
    trace::MessageHalf record{};
    record.post_ns = now_ns_ + post_ns;
    record.complete_ns = now_ns_ + complete_ns;
    record.bytes = words.bytes;
    record.key = words.key;
    record.call_site = 0x20;
    record.peer = role.partner;
    record.tag = words.tag;
    record.communicator = 1;
    record.direction = is_send ? trace::Direction::send : trace::Direction::receive;
    record.buffer = words.buffer;
    record.blocking = words.blocking;
    record.kind = trace::RecordKind::message_half;
    write(0, record);
  }

  void call(const CallWords& words) {
    trace::MpiCall record{};
    record.begin_ns = now_ns_ + words.begin_ns;
    record.end_ns = now_ns_ + words.end_ns;
    record.bytes = words.bytes;
    record.call_site = words.call_site;
    record.function = words.function;
    record.communicator = 1;
    record.peer = -1;
    record.tag = -1;
    record.collective_ordinal = words.collective_ordinal;
    record.repeats = 1;
    record.waits = words.waits;
    record.kind = trace::RecordKind::mpi_call;
    write(0, record);
  }

  void kernel(std::uint32_t name, std::uint64_t begin_ns, std::uint64_t end_ns) {
    trace::DeviceActivity record{};
    record.begin_ns = now_ns_ + begin_ns;
    record.end_ns = now_ns_ + end_ns;
    record.name = name;
    record.kind = trace::RecordKind::kernel;
    write(1, record);
  }

  void copy(std::uint64_t begin_ns, std::uint64_t end_ns) {
    trace::DeviceActivity record{};
    record.begin_ns = now_ns_ + begin_ns;
    record.end_ns = now_ns_ + end_ns;
    record.bytes = 4096;
    record.copy_kind = 1;
    record.kind = trace::RecordKind::device_copy;
    write(1, record);
  }

  void synchronise(std::uint64_t begin_ns, std::uint64_t end_ns) {
    trace::CudaSynchronisation record{};
    record.begin_ns = now_ns_ + begin_ns;
    record.end_ns = now_ns_ + end_ns;
    record.what = words_.synchronised;
    record.kind = trace::RecordKind::cuda_synchronisation;
    write(0, record);
  }

  void range(std::uint32_t name, std::uint64_t begin_ns, std::uint64_t end_ns) {
    trace::Range record{};
    record.begin_ns = now_ns_ + begin_ns;
    record.end_ns = now_ns_ + end_ns;
    record.thread_id = 100;
    record.name = name;
    record.kind = trace::RecordKind::range;
    write(0, record);
  }

  template <typename Record>
  void write(std::size_t lane, const Record& record) {
    ++records_;
    stream_.write(lane, record);
  }

  std::int32_t rank_;
  std::int32_t ranks_;
  RecordingStream stream_;
  Words words_;
  std::uint64_t now_ns_ = 0;  ///< where the step begins
  std::uint64_t records_ = 0;
};

}  // namespace

KnownJob::KnownJob(std::int32_t ranks, std::uint64_t events)
    : ranks_(ranks),
      arrival_unit_ns_(
          std::max<std::uint64_t>(1, collective_spread_ns / static_cast<std::uint64_t>(std::max(1, ranks)))) {
  if (ranks < 2 || ranks % 2 != 0 || ranks > most_ranks) {
    throw std::runtime_error("ranks go in pairs, and there are no more than 8192");
  }
  // a step leaves 17 records with the first of a pair, 18 with the second
  steps_ = std::max<std::uint64_t>(1, events * 2 / 35);
}

std::uint64_t KnownJob::arrival_ns(std::int32_t rank, std::uint64_t step) const noexcept {
  return arrival_unit_ns_ * ((static_cast<std::uint64_t>(rank) + step) % static_cast<std::uint64_t>(ranks_));
}

KnownRank KnownJob::answer(std::int32_t rank) const {
  const RoleSums as_first(rank, steps_);
  const RoleSums as_second((rank + ranks_ - 1) % ranks_, steps_);
  const std::uint64_t phases_sum = as_first.phases_sum + as_second.phases_sum;
  const auto all_ranks = static_cast<std::uint64_t>(ranks_);
  const auto wait_of = [&as_second](std::uint64_t least_ns, std::uint64_t phase_ns) {
    return as_second.steps * least_ns + as_second.phases_sum * phase_ns;
  };

  KnownRank known;
  known.total_ns = steps_ * step_ns;
  known.kernels_ns = steps_ * (alone_end_ns - alone_begin_ns + hides_until_ns - hides_from_ns +
                               beside_end_ns - beside_begin_ns);
  known.messages = as_first.steps + 3 * as_second.steps;

  const std::uint64_t hidden_in_mpi_ns =
      steps_ * (late_sender_at_ns + late_sender_ns + late_sender_wire_ns - hides_from_ns) +
      phases_sum * late_sender_phase_ns;
  known.hidden_ns = hidden_in_mpi_ns + steps_ * (beside_end_ns - beside_begin_ns);

  const auto cause = [&known](Cause which) -> std::uint64_t& {
    return known.by_cause[static_cast<std::size_t>(which)];
  };
  cause(Cause::late_sender) = wait_of(late_sender_ns, late_sender_phase_ns);
  cause(Cause::late_receiver) = wait_of(late_receiver_ns, late_receiver_phase_ns);
  cause(Cause::missing_progress) = wait_of(first_returns_ns - second_waits_ns, first_returns_phase_ns);
  cause(Cause::gpu_not_ready) = steps_ * gpu_wait_ns;
  cause(Cause::staging) = steps_ * pack_ns;
  cause(Cause::unattributed) = steps_ * probe_ns;
  cause(Cause::collective_wait) =
      arrival_unit_ns_ *
      (steps_ * (all_ranks - 1) - sum_of_cycle(static_cast<std::uint64_t>(rank), steps_, all_ranks));
  const std::uint64_t wire_ns =
      steps_ * (late_sender_wire_ns + late_receiver_wire_ns + device_end_ns - device_at_ns - gpu_wait_ns -
                pack_ns + posted_end_ns - first_returns_ns + collective_wire_ns) -
      phases_sum * first_returns_phase_ns + as_first.steps * isend_ns;
  cause(Cause::wire) = wire_ns - hidden_in_mpi_ns;

  known.host_ns = wire_ns;
  for (std::size_t i = 0; i < cause_count; ++i) {
    known.host_ns += static_cast<Cause>(i) == Cause::wire ? 0 : known.by_cause[i];
  }
  // beside H: from when the message was posted until somebody waits for it
  known.communication_ns = known.host_ns + as_second.steps * (second_waits_ns - posted_at_ns) +
                           as_first.steps * (first_returns_ns - posted_at_ns - isend_ns) +
                           as_first.phases_sum * first_returns_phase_ns;
  return known;
}

std::uint64_t KnownJob::write(std::int32_t rank, const std::filesystem::path& directory) const {
  trace::FileHeader header = RecordingBuilder(rank, ranks_).header();
  header.begin_ns = origin_ns;
  header.end_ns = origin_ns + before_steps_ns + steps_ * step_ns + behind_steps_ns;
  RankWriter writer(rank, ranks_, directory, header);
  writer.begin();
  const std::uint64_t last_ns = arrival_unit_ns_ * (static_cast<std::uint64_t>(ranks_) - 1);
  for (std::uint64_t step = 0; step < steps_; ++step) {
    writer.step(step, arrival_ns(rank, step), last_ns);
  }
  return writer.finish();
}

}  // namespace penstock::analysis::testing
