// Every number by which the interposer decides how long to wait, how often to look and how much to take on at
// once: what it means and why it is what it is. Correctness rests on none of them. Sizes from which a way of
// moving a payload pays stand in the table of figures (transports/tuning); what is kept for reuse, with its
// pool.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace penstock::interpose::policy {

// -- How long one rank waits for another --

/// A sender of so little that a plain MPI would have buffered it (Tuning::buffered_to), until it buffers the
/// payload. A receiver that is there answers within a few µs; buffering 64 KiB costs about 8. A sender of
/// more waits for Tuning::receiver_timeout_us.
inline constexpr std::uint64_t small_receiver_timeout_ns = 50'000;
/// A receiver that is at work on other messages is given more time, but by such a sender no more than so many
/// times the timeout: it may never come to this one.
inline constexpr std::uint64_t busy_receiver_factor = 40;
/// A collective waits in Penstock, where it can do its part for others, for ranks that have not come: so many
/// times the receiver's timeout (after which a sender is free) for one that may have come without a word of
/// it, and for one that cannot have.
inline constexpr std::uint64_t unknown_arrival_factor = 2;
inline constexpr std::uint64_t late_arrival_factor = 50;
/// MPI_Init says after this that it waits for ranks which do not come.
inline constexpr std::uint64_t say_who_is_missing_ns = 10'000'000'000;
/// MPI_Finalize goes on for so long with what other ranks have begun and do not end.
inline constexpr std::uint64_t farewell_ns = 5'000'000'000;
/// At the end of an MPI call, for small payloads on their way: they take some 10 µs, unless others keep the
/// copy engine busy. Their senders must not have to wait for this rank's next call.
inline constexpr std::uint64_t finish_small_pulls_ns = 200'000;

// -- How long a call waits for the application's own GPU work --

/// Under the engine's lock, until a copy is made that has to wait in the stream. A stream that somebody keeps
/// busy is never seen idle.
inline constexpr std::uint64_t stream_order_limit_ns = 2'000'000'000;

// -- How often to look --

/// Rounds of a call that waits before it shares its core: each is an MPI progress call or more (0.1 µs and
/// up), so these are some tens of µs.
inline constexpr unsigned spinning_rounds = 200;
/// Looks at the progress thread's lock before a call is put to sleep: a step of that thread takes some µs,
/// which is less than to sleep and be woken up.
inline constexpr unsigned progress_lock_polls = 200;
/// Receives of which a step asks the MPI library whether they have come (0.1 µs each), and requests that
/// MPI_Testall looks at beyond the first that is not complete. Windows of messages are hardly larger.
inline constexpr int most_looked_at = 64;

// The progress thread pauses for an eighth of the time since something last changed, within these. A look
// costs 1 to 3 µs of CPU, and some 3 µs to wake up for it.
inline constexpr std::uint64_t shortest_pause_ns = 5'000;
/// While payloads are on their way: the transports with a part for the sender keep 80 µs of work in flight.
inline constexpr std::uint64_t longest_pause_in_flight_ns = 20'000;
/// While envelopes may come.
inline constexpr std::uint64_t longest_pause_ns = 50'000;
/// While the application is in MPI, and drives everything itself.
inline constexpr std::uint64_t longest_pause_during_calls_ns = 200'000;
/// While nobody waits for this rank; the MPI library's own messages may still gain.
inline constexpr std::uint64_t longest_pause_unneeded_ns = 1'000'000;
/// With nothing pending for so long it sleeps until something is posted, which then has to wake it up (1 µs).
inline constexpr std::uint64_t awake_without_work_ns = 1'000'000;

/// So often the rows of a communicator's members are looked for: ranks may still be in MPI_Init when another
/// comes to the first collective; those of other nodes never have one.
inline constexpr unsigned most_looks_for_rows = 100;

// -- What to take on at once --

/// Payloads that go through rings in host memory at a time: the same cores and copy engines move them all, so
/// more only take more memory, which costs milliseconds to make and to pin beyond what is kept for reuse (256
/// MiB), and more of the caches (down and up through 16 MiB 52 GB/s, through 256 MiB 47, two H200).
inline constexpr unsigned most_rings_at_once = 4;
/// Chunks of one payload between nodes that are posted ahead. Into host memory in one piece there is room for
/// all; so many keep the sender's ring busy.
inline constexpr std::size_t most_chunks_posted = 16;

/// So many small payloads are copied between host memory and a device by one launch, which takes 8 to 9 µs
/// with its end, where each would take an order of 3 to 4, or a call of 6 to 8 (H200).
inline constexpr std::size_t least_joint_uploads = 3;

/// Device memory for the parts of other ranks that are being combined: two pieces of each.
inline constexpr std::size_t reduction_memory_bytes = 64u << 20;
/// Collectives with a block for or from each rank are staged if a rank's blocks have less than that in all
/// (two H200: of 8 B in 12 to 14 µs, by messages in 20 to 22; of 1 KiB in 15, by messages too).
inline constexpr std::size_t least_exchanged_bytes = 1u << 10;
/// Blocks of up to so much, and the vectors of non-blocking reductions, are exchanged by one kernel on each
/// rank; larger ones go as fast by messages (two H100: of 64 KiB in 14 µs, of 128 KiB by messages in 14).
inline constexpr std::size_t largest_fused_block = 64u << 10;
/// Vectors from so many bytes on are combined by the GPU (two H200: of 8 B in 22 µs, by the MPI library in
/// 12, of 4 KiB in 21 and 18, of 32 KiB in 22 and 37).
inline constexpr std::size_t least_reduced_bytes = 8u << 10;
/// The same of a vector or a result in host memory, which is copied to the GPU or from it then (some 10 µs).
inline constexpr std::size_t least_reduced_from_host_bytes = 32u << 10;
/// Up to so much in all from the other ranks, each rank combines whole vectors: a second round of messages
/// takes longer than what is saved.
inline constexpr std::size_t most_reduced_in_one_step_bytes = 1u << 20;

/// The first collectives that ranks could fuse go another way: communicators that are used but a few times
/// are not worth the 0.1 ms that it takes to get ready.
inline constexpr unsigned least_collectives_to_fuse = 4;
/// Device memory of each rank and communicator that fuses its blocking collectives. Vectors take twice their
/// bytes of it for each rank, twice: eight ranks fuse up to half a MiB.
inline constexpr std::size_t symmetric_memory_bytes = 16u << 20;
/// Of a process in all, as relayed messages want some of the same memory, too: of four communicators, and for
/// persistent collectives and non-blocking ones.
constexpr std::size_t most_symmetric_bytes(bool of_blocking_ones) noexcept {
  return of_blocking_ones ? 4 * symmetric_memory_bytes : 32u << 20;
}
/// With these of a communicator's non-blocking collectives its ranks get ready to fuse the later ones, if
/// they have not; a rank that has used no GPU yet cannot.
inline constexpr std::array<std::uint64_t, 3> prepare_to_fuse = {4, 16, 64};

/// A scan of so much, from up to eight ranks, goes straight: each rank gets the vectors of all before it.
/// What goes from rank to rank instead waits for a message and a launch at each (together some 15 µs, two
/// H200).
inline constexpr std::size_t most_scanned_in_one_step_bytes = 4u << 20;
/// More goes from rank to rank in so many pieces, within these bounds: the more there are, the sooner the
/// last rank has something to combine, but a piece should take longer on its way than its message to begin
/// (10 µs).
inline constexpr std::size_t pieces_of_a_scan = 8;
inline constexpr std::size_t least_scanned_piece_bytes = 4u << 20;
inline constexpr std::size_t most_scanned_piece_bytes = 8u << 20;
/// Under way at a time: one that is combined, one that is handed on, and two that come.
inline constexpr std::size_t most_scanned_pieces = 4;

/// What is broadcast goes from node to node in pieces of so much: a node hands one on while the next comes.
inline constexpr std::int64_t broadcast_piece_bytes = 4 << 20;
/// In rounds, as a rank has slots for 1,024 payloads; what finds none is copied whole to host memory.
inline constexpr std::size_t pieces_of_a_round = 8;
inline constexpr std::size_t most_messages_of_a_round = 256;

/// Blocks that two ranks swap in place go in pieces of so much at most, on which both must agree, and so many
/// swaps are under way at a time: 64 MiB of memory.
inline constexpr std::size_t most_swapped_bytes = 8u << 20;
inline constexpr std::size_t most_swaps_at_once = 8;

// -- What the next messages will be like --

/// Beside a computation of so long it is worth while to have something move. The last call may take half.
inline constexpr std::uint64_t shortest_computation_ns = 20'000;
/// Device payloads that end in host memory, in a call that waits. The message through the MPI library is the
/// last step then, where an envelope would be the first of several: that saves 1 µs of 7 with 1 KiB (H200),
/// and less the more there is to copy into and out of MPI's own buffers. And no more than that library sends
/// before its receiver comes, as it is set up: Open MPI 4096 bytes with a header on them
/// (btl_vader_eager_limit).
#ifdef OPEN_MPI
inline constexpr std::uint64_t most_downloaded_bytes = 4000;
#else
inline constexpr std::uint64_t most_downloaded_bytes = 4096;
#endif

}  // namespace penstock::interpose::policy
