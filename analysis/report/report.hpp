// The result of an analysis as plain data, from which text, JSON and page are made. Must not know how it is
// computed or printed. Unit: ns and bytes throughout; sums are exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/causes/causes.hpp"
#include "analysis/recording/flaw.hpp"
#include "interpose/record/trace_format.hpp"

namespace penstock::analysis {

/// The meaning of `counted` throughout a report. Absent is not zero: if GPU kernels were not recorded, the
/// time hidden behind them is unknown, and the report shows the time in communicating calls instead.
enum class Measure : std::uint8_t { exposed_communication, communication_time };

// `within_error`, `within_error_ns`: the part of a figure that lies within the error of the hosts' clocks and
// may belong to another cause, or to none. 0 on one host. The exposed time itself is not affected, only its
// causes.

/// Returns true if the clocks' error makes a figure meaningless: half of it or more lies within the error.
[[nodiscard]] inline bool is_within_error(std::uint64_t figure_ns, std::uint64_t within_error_ns) noexcept {
  return figure_ns != 0 && within_error_ns >= figure_ns - within_error_ns;
}

struct RankFigures {
  std::int32_t rank = 0;
  std::string host;
  bool finished = false;  ///< reached MPI_Finalize
  bool used_gpu = false;
  bool kernels_known = false;                 ///< false: figures that need K must not be shown
  std::uint64_t run_ns = 0;                   ///< MPI_Init to MPI_Finalize, or to the last record
  std::uint64_t recorded_ns = 0;              ///< of run_ns, until its own records begin to be missing
  std::uint64_t known_ns = 0;                 ///< of run_ns, until those of any rank do
  bool is_known = true;                       ///< false: it ran longer than that
  std::uint64_t total_ns = 0;                 ///< the part that the figures below cover: all steps, or the
                                              ///< whole run
  std::uint64_t kernels_ns = 0;               ///< K
  std::uint64_t host_ns = 0;                  ///< H
  std::uint64_t in_flight_ns = 0;             ///< R
  std::uint64_t communication_ns = 0;         ///< C = H ∪ R
  std::uint64_t exposed_ns = 0;               ///< H \ K
  std::uint64_t upper_bound_ns = 0;           ///< C \ K
  std::uint64_t hidden_ns = 0;                ///< C ∩ K
  std::uint64_t cuda_synchronisation_ns = 0;  ///< host in CUDA synchronisation calls of the application
  std::uint64_t computing_ns =
      0;  ///< its GPU computes, or its host is in neither MPI nor CUDA synchronisation
  std::uint64_t gpu_busy_ns = 0;  ///< kernels and copies, the application's and others
  bool is_counted = false;        ///< this rank is part of the report's sums
  std::uint64_t counted_ns = 0;   ///< exposed_ns or host_ns, by the report's measure
  TimeByCause by_cause{};         ///< sums to counted_ns
  TimeByCause within_error{};
  std::uint64_t records = 0;
  std::uint64_t dropped_records = 0;
  std::uint64_t dropped_gpu_records = 0;
  std::optional<std::uint64_t> start_cost_ns;   ///< of recording, before the first event; none in older or
                                                ///< unfinished recordings
  std::optional<std::uint64_t> finish_cost_ns;  ///< after the last event; likewise
  std::optional<std::uint64_t> own_cost_ns;     ///< of recording; known if the rank finished
  std::optional<std::uint64_t>
      clock_error_ns;  ///< of GPU timestamps; none if there is no GPU or it is unknown

  template <typename Archive>
  void exchange(Archive& archive) {
    archive(rank, host, finished, used_gpu, kernels_known, run_ns, recorded_ns, known_ns, is_known, total_ns,
            kernels_ns, host_ns, in_flight_ns, communication_ns, exposed_ns, upper_bound_ns, hidden_ns,
            cuda_synchronisation_ns, computing_ns, gpu_busy_ns, is_counted, counted_ns, by_cause,
            within_error, records, dropped_records, dropped_gpu_records, start_cost_ns, finish_cost_ns,
            own_cost_ns, clock_error_ns);
  }
};

/// Time before the first step, or after the last one. Sums over the counted ranks.
struct OutsideFigures {
  std::uint64_t total_ns = 0;
  std::uint64_t counted_ns = 0;
};

/// One step of the program on all counted ranks.
struct StepFigures {
  std::uint64_t total_ns = 0;  ///< sum over ranks
  std::uint64_t longest_ns = 0;
  std::int32_t longest_rank = -1;
  TimeByCause by_cause{};
};

/// The steps that the program repeats.
struct StepsFigures {
  std::string mark;             ///< the mark that begins each step, for people
  bool is_range = false;        ///< true: an NVTX range; false: a call of MPI
  std::uint64_t median_ns = 0;  ///< of the steps' longest_ns
  std::vector<StepFigures> each;
  OutsideFigures before;
  OutsideFigures behind;
};

/// A place in the source that calls MPI. Empty parts are unknown.
struct CallSiteFigures {
  std::string function;
  std::string file;
  int line = 0;
  std::string module;  ///< path of the executable or library
  std::uint64_t module_offset = 0;
  std::string mpi_function;
  std::uint64_t calls = 0;
  std::uint64_t counted_ns = 0;
  TimeByCause by_cause{};
  TimeByCause within_error{};
  std::uint64_t gpu_wait_ns = 0;       ///< waits for a GPU to be ready, hidden or not
  std::int32_t main_counterpart = -1;  ///< rank at the other end of most of its time; -1: none stands out
};

struct PeerFigures {
  std::int32_t rank = -1;  ///< -1: no particular rank
  std::uint64_t counted_ns = 0;
  TimeByCause by_cause{};
  TimeByCause within_error{};
};

struct CommunicatorFigures {
  std::uint64_t global_id = 0;  ///< 0: calls whose communicator is unknown
  std::string name;
  std::int32_t size = 0;
  std::uint64_t counted_ns = 0;
  TimeByCause by_cause{};
  TimeByCause within_error{};
};

struct FunctionFigures {
  std::string mpi_function;
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  std::uint64_t counted_ns = 0;
  TimeByCause by_cause{};
  TimeByCause within_error{};
};

/// A kernel of the application, and the communication during it. Sums over the counted ranks.
struct KernelFigures {
  std::string name;
  std::uint64_t launches = 0;
  std::uint64_t running_ns = 0;        ///< its share of K; if several kernels cover a time, it counts for the
                                       ///< first one
  std::uint64_t hides_ns = 0;          ///< the part of it with communication in progress
  std::uint64_t exposed_after_ns = 0;  ///< exposed communication between its end and the next kernel's begin
  std::string exposed_at;              ///< the call site of most of that, for people
};

/// Collective calls of one kind. Sums over the counted ranks.
struct CollectiveFigures {
  std::string mpi_function;
  std::uint64_t size_limit_bytes = 0;  ///< upper limit of a rank's bytes; 0: above all limits
  trace::TransportKind transport = trace::TransportKind::none;  ///< none: this rank moved nothing itself
  std::string reason;
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  std::uint64_t waiting_ns = 0;       ///< until the last rank (or the root) arrived, hidden or not
  std::uint64_t moving_ns = 0;        ///< from then on
  std::optional<double> median_gbps;  ///< a rank's bytes divided by its moving time
  std::uint64_t waiting_within_error_ns = 0;
};

/// A rank that others waited for at collective calls, and what it did meanwhile.
struct LateRankFigures {
  std::int32_t rank = -1;
  std::string mpi_function;
  std::string at;                   ///< its call site, for people
  std::uint64_t times = 0;          ///< how often it arrived last
  std::uint64_t late_ns = 0;        ///< sum of the times from the first rank's arrival to its own
  std::uint64_t in_kernels_ns = 0;  ///< the part in which its GPU computed
  std::uint64_t in_mpi_ns = 0;      ///< the part in which it was in other MPI calls and its GPU did not
                                    ///< compute
  std::string main_kernel;          ///< the kernel that ran for most of it; empty: none
  std::uint64_t within_error_ns = 0;
};

/// Messages of host memory that the program copies from or to a GPU by hand. Sums over the counted ranks.
struct HandStagingFigures {
  std::string at;              ///< the call site that posts them, for people
  std::uint64_t messages = 0;  ///< those for which a copy was found
  std::uint64_t bytes = 0;
  std::uint64_t copies_ns = 0;
  std::uint64_t exposed_copies_ns = 0;  ///< the part while no kernel ran
};

/// Receives that were posted after a kernel although their message had been posted before it. Sums over the
/// counted ranks.
struct LateReceiveFigures {
  std::string at;              ///< the call that posts them, for people
  std::uint64_t messages = 0;  ///< that were ready before the kernel
  std::uint64_t ready_ns = 0;  ///< sum of the times from the send's post to the receive's
  std::uint64_t hides_ns = 0;  ///< exposed moving time that kernels would have hidden, at most
  std::string kernel;          ///< that ran most of that time
};

/// One long wait, and its place in the run.
struct LongWaitFigures {
  std::int32_t rank = -1;
  std::uint64_t begin_ns = 0;   ///< since the first rank returned from MPI_Init
  std::uint64_t length_ns = 0;  ///< including hidden time
  std::uint64_t counted_ns = 0;
  Cause cause = Cause::unattributed;
  std::int32_t counterpart = -1;      ///< -1: no particular rank
  std::string at;                     ///< its call and place, for people
  std::uint64_t other_ranks = 0;      ///< that waited at that moment, too, and no longer
  std::uint64_t within_error_ns = 0;  ///< of counted_ns
};

/// An NVTX range by name. Nested phases each count the time within them.
struct PhaseFigures {
  std::string name;
  std::uint64_t total_ns = 0;  ///< sum over ranks of the time in it
  std::uint64_t counted_ns = 0;
};

/// A class of messages, the transport that they took and why. Each message is counted once, by what the
/// program sent. Or, if `is_part`, movements by Penstock that are no message but part of another call, such
/// as a collective.
struct TransportFigures {
  /// Returns true if lists of integers among the messages travelled as bitmaps: other messages cannot reach
  /// their speed.
  [[nodiscard]] bool went_packed() const noexcept { return wire_bytes != bytes; }

  trace::BufferKind source = trace::BufferKind::unknown;
  trace::BufferKind destination = trace::BufferKind::unknown;
  std::uint64_t size_limit_bytes = 0;  ///< upper limit of the class; 0: above all limits
  trace::TransportKind transport = trace::TransportKind::none;
  std::string reason;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t wire_bytes = 0;       ///< that travelled: fewer if lists of integers went as bitmaps
  std::optional<double> median_gbps;  ///< GB/s from when both sides were ready; none if unknown
  std::uint64_t counted_ns = 0;       ///< waits for such messages; since some waits are for no message,
                                      ///< classes do not sum to all
  TimeByCause by_cause{};
  TimeByCause within_error{};
  std::optional<double> best_gbps;  ///< that the fastest twentieth reached
  std::uint32_t message_class = 0;  ///< its number, valid within one analysis
  bool is_part = false;
};

/// Messages from one rank to another, or from the ranks of one block to those of another.
struct MatrixCell {
  std::int32_t sender = 0;
  std::int32_t receiver = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t moving_ns = 0;  ///< sum over messages, from when both sides were ready; as far as known
  std::optional<double> gbps;   ///< GB/s reached while they moved
  std::optional<double> possible_gbps;  ///< if each message had been as fast as the best of its buffers and
                                        ///< size here
  trace::TransportKind transport = trace::TransportKind::none;  ///< that carried most of the bytes
};

/// The largest number of pairs with rows of their own, and of blocks per side of a picture.
inline constexpr std::size_t most_matrix_pairs = 5000;
inline constexpr std::int32_t most_matrix_blocks = 64;

struct MatrixFigures {
  std::int32_t ranks_per_block = 1;
  std::uint64_t dropped_pairs = 0;  ///< number of pairs that are only part of blocks, approximately
  std::vector<MatrixCell> pairs;    ///< by bytes, largest first
  std::vector<MatrixCell> blocks;   ///< of all pairs, rank / ranks_per_block; empty if that is 1
};

/// The efficiencies of POP (https://pop-coe.eu) for the host and of TALP for the GPUs. Each is a share, and
/// each parent is the product of its children.
struct EfficiencyFigures {
  double parallel = 1;       ///< load_balance × communication
  double load_balance = 1;   ///< mean computing time of the ranks divided by the largest
  double communication = 1;  ///< serialisation × transfer
  double serialisation = 1;  ///< what remains after ranks wait for each other, if messages were free
  double transfer = 1;       ///< what remains after the cost of messages themselves
};
struct GpuEfficiencyFigures {
  double parallel = 1;       ///< load_balance × communication × orchestration
  double load_balance = 1;   ///< mean kernel time divided by that of the busiest GPU
  double communication = 1;  ///< most kernel time divided by most time in kernels and copies
  double orchestration = 1;  ///< most time in kernels and copies divided by the time: the rest is idle
};

/// The counted time under changed conditions, from a run of the job's graph.
struct WhatIfFigures {
  std::string what;   ///< for machines
  std::string words;  ///< for people
  std::uint64_t total_ns = 0;
  std::optional<double> known_share =
      {};  ///< share of the bytes with a changed speed for which the new speed is known
};

/// The longest chain of dependencies: shortening anything else shortens nothing.
struct PathFigures {
  std::uint64_t kernels_ns = 0;
  std::uint64_t host_code_ns = 0;
  std::uint64_t communication_ns = 0;
  std::vector<std::pair<std::string, std::uint64_t>> calls;   ///< of communication, by call site, largest
                                                              ///< first
  std::vector<std::pair<std::int32_t, std::uint64_t>> ranks;  ///< all of it, by rank, largest first
};

struct ReplayFigures {
  std::uint64_t observed_ns = 0;  ///< from the first rank's first step to the last rank's last one
  std::uint64_t replayed_ns = 0;  ///< the same from the unchanged graph
  std::uint64_t edges_left_out = 0;
  EfficiencyFigures efficiency;
  std::optional<GpuEfficiencyFigures> gpu_efficiency;
  PathFigures path;
  std::vector<WhatIfFigures> what_if;
};

/// Possible ways to reduce exposed time. Sums over the counted ranks, as far as they were recorded.
enum class AdviceKind : std::uint8_t {
  better_transport,
  post_receives_early,
  waits_for_kernel,
  pass_device_pointers,
  balance_ranks,
  progress_thread,
  overlap,
  join_messages,
};
struct Advice {
  AdviceKind kind;
  std::uint64_t saves_ns;  ///< an upper bound
  std::string text;        ///< one or two sentences with the evidence
  std::string list = {};   ///< the list of the JSON that shows it; empty: no single row does
  std::size_t row = 0;     ///< the row in that list
};

/// The reasons for unattributed time.
struct GapFigures {
  Gap gap = Gap::none;
  std::string mpi_function;
  std::uint64_t counted_ns = 0;
};

struct NoticeFigures {
  std::string text;
  std::uint64_t ranks = 0;
  std::int32_t first_rank = 0;

  template <typename Archive>
  void exchange(Archive& archive) {
    archive(text, ranks, first_rank);
  }
};

/// How much of a job is known where records were dropped for want of space.
struct RecordedPart {
  std::uint64_t recorded_ns = 0;  ///< since the job's begin
  std::uint64_t run_ns = 0;       ///< of the rank that ran longest
  bool finished = true;           ///< false: the end of the run is not known either
  std::int32_t first_rank = -1;   ///< whose records end first; -1: it is not in the report
};

struct Report {
  std::string program;
  std::string mpi_version;
  std::vector<std::string> hosts;
  std::vector<std::string> devices;
  std::int32_t world_size = 0;
  std::uint64_t began_realtime_ns = 0;
  bool simulated_gpu = false;

  Measure measure = Measure::exposed_communication;
  std::string why_not_exposed;  ///< empty for exposed_communication
  /// None: nothing is missing. Else all figures are of the part in which no rank lacks records.
  std::optional<RecordedPart> recorded_part;
  std::uint64_t counted_ranks = 0;
  std::optional<StepsFigures> steps;  ///< none: no steps were found, and the whole run is counted
  std::uint64_t total_ns = 0;         ///< of the counted ranks: their steps, or their runs
  std::uint64_t counted_ns = 0;       ///< likewise; every breakdown except by phase sums to it
  TimeByCause by_cause{};
  TimeByCause within_error{};
  bool one_clock = true;                  ///< all ranks ran on one host
  std::size_t aligned_hosts = 0;          ///< if false: the number of hosts whose clocks could be aligned
  std::uint64_t host_clock_error_ns = 0;  ///< the largest error of these clocks
  std::uint64_t unmatched_halves = 0;

  std::vector<Advice> advice;  ///< by saves_ns
  std::optional<ReplayFigures> replay;
  std::string why_no_replay;  ///< empty if there is one

  // Each list is sorted by counted_ns, largest first, unless its comment differs.
  std::vector<CallSiteFigures> call_sites;
  std::vector<PeerFigures> peers;
  std::vector<CommunicatorFigures> communicators;
  std::vector<FunctionFigures> functions;
  std::vector<KernelFigures> kernels;             ///< by exposed_after_ns, then hides_ns
  std::vector<CollectiveFigures> collectives;     ///< by waiting and moving
  std::vector<LateRankFigures> late_ranks;        ///< by late_ns
  std::vector<HandStagingFigures> hand_staging;   ///< by copies_ns
  std::vector<LateReceiveFigures> late_receives;  ///< by hides_ns
  std::vector<LongWaitFigures> longest_waits;     ///< by counted_ns
  std::vector<GapFigures> gaps;                   ///< sums to the unattributed time
  std::vector<PhaseFigures> phases;
  std::vector<TransportFigures> transports;  ///< by bytes
  std::optional<MatrixFigures> matrix;       ///< none: no messages
  std::vector<RankFigures> ranks;            ///< by rank
  std::vector<NoticeFigures> notices;
  std::vector<Flaw> flaws;
};

[[nodiscard]] const char* name_of(trace::BufferKind kind) noexcept;
[[nodiscard]] const char* name_of(trace::TransportKind transport) noexcept;

}  // namespace penstock::analysis
