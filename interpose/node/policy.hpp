// How long the interposer waits, how often it polls and how much it takes on at once: each number with its
// meaning and its reason. Correctness depends on no value. Sizes from which a transport pays are in the table
// of figures (transports/tuning); limits of what is kept for reuse are beside its pool, and some thresholds
// beside their only user.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace penstock::interpose::policy {

// -- How long one rank waits for another --

/// The time after which a sender buffers a payload so small that the MPI library would have buffered it
/// (Tuning::buffered_to). A receiver that is there answers within a few µs; buffering 64 KiB costs about 8. A
/// sender of a larger payload waits for Tuning::receiver_timeout_us.
inline constexpr std::uint64_t small_receiver_timeout_ns = 50'000;
/// A receiver that works on other messages gets more time. A sender of such a small payload gives at most
/// this many times the timeout, as the receiver may never reach its message.
inline constexpr std::uint64_t busy_receiver_factor = 40;
/// A collective waits in Penstock, where it can do its part for others, for ranks that have not arrived. It
/// waits this many times the receiver's timeout (after which a sender is free): the first for a rank that may
/// have arrived unseen, the second for one that cannot have.
inline constexpr std::uint64_t unknown_arrival_factor = 2;
inline constexpr std::uint64_t late_arrival_factor = 50;
/// After this time MPI_Init prints that it waits for missing ranks.
inline constexpr std::uint64_t say_who_is_missing_ns = 10'000'000'000;
/// MPI_Finalize continues for this long with work that other ranks have begun and do not end.
inline constexpr std::uint64_t finalize_drain_ns = 5'000'000'000;
/// At the end of an MPI call, for small payloads in flight: they take some 10 µs, unless others keep the copy
/// engine busy. Their senders must not have to wait for this rank's next call.
inline constexpr std::uint64_t finish_small_pulls_ns = 200'000;

// -- How long a call waits for the application's own GPU work --

/// Before a collective's kernel is given up. A stream that is kept busy is never seen idle.
inline constexpr std::uint64_t stream_order_limit_ns = 2'000'000'000;
/// Before an access to a region of a dynamic window fails, which the driver may not map while a GPU works.
inline constexpr std::uint64_t quiet_gpu_limit_ns = 2'000'000'000;

// -- How often to poll --

/// Rounds of a waiting call before it yields its core. Each is an MPI progress call or more (0.1 µs and up),
/// so these take some tens of µs.
inline constexpr unsigned spinning_rounds = 200;
/// Attempts to take the lock of the progress thread, or of the requests, before a call sleeps. A step under
/// it takes some µs, which is less than to sleep and be woken up.
inline constexpr unsigned lock_polls = 200;
/// Receives that one step tests in the MPI library (0.1 µs each), and requests that MPI_Testall tests beyond
/// the first incomplete one. Windows of messages are hardly larger.
inline constexpr int most_looked_at = 64;

// The progress thread pauses for an eighth of the time since something last changed, within these bounds. A
// step costs 1 to 3 µs of CPU, and some 3 µs to wake up for it.
inline constexpr std::uint64_t shortest_pause_ns = 5'000;
/// While payloads are in flight: transports with a sender's part keep 80 µs of work in flight.
inline constexpr std::uint64_t longest_pause_in_flight_ns = 20'000;
/// While envelopes may arrive.
inline constexpr std::uint64_t longest_pause_ns = 50'000;
/// While the application is in MPI and steps everything itself.
inline constexpr std::uint64_t longest_pause_during_calls_ns = 200'000;
/// While no rank waits for this one; the MPI library's own messages may still gain.
inline constexpr std::uint64_t longest_pause_unneeded_ns = 1'000'000;
/// With nothing pending for this long, the thread sleeps until something is posted, which then has to wake it
/// (1 µs).
inline constexpr std::uint64_t awake_without_work_ns = 1'000'000;

/// How often the rows of a communicator's members are looked up. Ranks may still be in MPI_Init when another
/// arrives at the first collective; ranks of other nodes never have a row.
inline constexpr unsigned most_looks_for_rows = 100;

// -- What to take on at once --

/// Payloads that go through rings in host memory at a time. The same cores and copy engines move them all.
/// More payloads only take more memory, which costs milliseconds to make and to pin beyond what is kept for
/// reuse (256 MiB), and more of the caches (down and up through 16 MiB 52 GB/s, through 256 MiB 47, two
/// H200).
inline constexpr unsigned most_rings_at_once = 4;
/// Chunks of one payload between nodes that are posted ahead. Contiguous host memory would have room for all;
/// this many keep the sender's ring busy.
inline constexpr std::size_t most_chunks_posted = 16;

/// From this many small payloads on, one launch copies them between host memory and a device. It takes 8 to 9
/// µs with its end; a resident kernel would take 3 to 4 for each, a copy call 6 to 8 (H200).
inline constexpr std::size_t least_joint_uploads = 3;

/// Device memory for the parts of other ranks that are being combined: two pieces of each.
inline constexpr std::size_t reduction_memory_bytes = 64u << 20;
/// Collectives with a block for or from each rank are staged if a rank's blocks have fewer bytes in all (two
/// H200: 8 B in 12 to 14 µs, by messages in 20 to 22; 1 KiB in 15, by messages too).
inline constexpr std::size_t least_exchanged_bytes = 1u << 10;
/// Blocks of up to this size, and the vectors of non-blocking reductions, are exchanged by one kernel on each
/// rank. Larger ones are as fast by messages (two H100: 64 KiB in 14 µs, 128 KiB by messages in 14).
inline constexpr std::size_t largest_one_shot_block = 64u << 10;
/// The GPU combines vectors from this size on (two H200: 8 B in 22 µs, by the MPI library in 12; 4 KiB in 21
/// and 18; 32 KiB in 22 and 37).
inline constexpr std::size_t least_reduced_bytes = 8u << 10;
/// The same for a vector or a result in host memory, which is copied to the GPU or from it (some 10 µs).
inline constexpr std::size_t least_reduced_from_host_bytes = 32u << 10;
/// If the vectors of the other ranks have at most this many bytes in all, each rank combines whole vectors: a
/// second round of messages takes longer than it saves.
inline constexpr std::size_t most_reduced_in_one_step_bytes = 1u << 20;

/// The first collectives that ranks could carry out by kernels go another way. Getting ready takes 0.1 ms,
/// which does not pay on communicators that are used only a few times.
inline constexpr unsigned least_one_shot_collectives = 4;
/// Device memory of each rank for each communicator whose blocking collectives go by kernels. For each rank,
/// vectors take twice their bytes of it, twice: eight ranks reduce up to half a MiB by kernels.
inline constexpr std::size_t symmetric_memory_bytes = 16u << 20;
/// The limit for a process, as relayed messages need some of the same memory: four communicators' blocking
/// collectives, or all persistent and non-blocking ones.
constexpr std::size_t most_symmetric_bytes(bool of_blocking_ones) noexcept {
  return of_blocking_ones ? 4 * symmetric_memory_bytes : 32u << 20;
}
/// At these ordinals of a communicator's non-blocking collectives its ranks get ready to carry out later ones
/// by kernels, unless they are ready. A rank that has used no GPU yet cannot.
inline constexpr std::array<std::uint64_t, 3> one_shot_preparations = {4, 16, 64};

/// A scan of up to this size, over up to eight ranks, takes one step: each rank gets the vectors of all ranks
/// before it. A chain from rank to rank waits for a message and a launch at each (together some 15 µs, two
/// H200).
inline constexpr std::size_t most_scanned_in_one_step_bytes = 4u << 20;
/// A larger scan goes from rank to rank in this many pieces, within these bounds. With more pieces the last
/// rank can start to combine earlier, but the transfer of a piece should take longer than its message takes
/// to start (10 µs).
inline constexpr std::size_t pieces_of_a_scan = 8;
inline constexpr std::size_t least_scanned_piece_bytes = 4u << 20;
inline constexpr std::size_t most_scanned_piece_bytes = 8u << 20;
/// Pieces in flight at a time: one is combined, one is sent on, and two arrive.
inline constexpr std::size_t most_scanned_pieces = 4;

/// A broadcast goes from node to node in pieces of this size: a node sends one on while the next arrives.
inline constexpr std::int64_t broadcast_piece_bytes = 4 << 20;
/// Pieces go in rounds, as a rank has slots for 1,024 payloads; a payload without a slot is staged whole.
inline constexpr std::size_t pieces_of_a_round = 8;
inline constexpr std::size_t most_messages_of_a_round = 256;

/// Blocks that two ranks swap in place go in pieces of at most this size, which must be equal on both. This
/// many swaps are in flight at a time: 64 MiB of memory.
inline constexpr std::size_t most_swapped_bytes = 8u << 20;
inline constexpr std::size_t most_swaps_at_once = 8;

/// So many communicators at most have one for their messages made ahead. MPICH has 2,048, and not all calls
/// that make one can give spares back (MPI_Comm_create_group). A code has some for rows, columns and halos.
inline constexpr std::size_t most_spare_communicators = 256;

// -- What the next messages will be like --

/// It pays to have payloads move during a computation of this length. Half of it may be taken by the last
/// call.
inline constexpr std::uint64_t shortest_computation_ns = 20'000;
/// The largest device payload that goes through the MPI library when it ends in host memory, in a blocking
/// call. The message is the last step then; an envelope would be the first of several. That saves 1 µs of 7
/// with 1 KiB (H200), and less the more is copied into and out of MPI's own buffers. The limit is also what
/// the library sends before its receiver arrives, by default: Open MPI 4096 bytes with a header
/// (btl_vader_eager_limit).
#ifdef MPICH_VERSION
inline constexpr std::uint64_t most_downloaded_bytes = 4096;
#else
inline constexpr std::uint64_t most_downloaded_bytes = 4000;
#endif

}  // namespace penstock::interpose::policy
