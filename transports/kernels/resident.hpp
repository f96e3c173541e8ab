// The data that the host and the resident kernel (kernels.cu) exchange: its parameters, and the mailbox in
// host memory. For host code, nvcc and the simulated GPU alike. This header knows no stream.
#pragma once

#include <cstdint>

namespace penstock::transports::kernels {

#ifdef PENSTOCK_SIMULATED_GPU
inline constexpr std::uint32_t resident_threads = 32;  // a barrier costs a fiber for each there
inline constexpr std::uint32_t resident_blocks = 3;    // and each block a thread
#else
inline constexpr std::uint32_t resident_threads = 512;  // 32 KiB in one round of loads
/// The blocks of a launch for shared orders. Copies of 1 MiB took 24 µs by one block, 6.1 by 8, 4.9 by 16,
/// 4.6 by 32 (H200, local); of the device's 132 multiprocessors they should leave most to the application.
inline constexpr std::uint32_t resident_blocks = 16;
#endif

/// An order for one copy: two words that a GPU reads at once. A poll of host memory takes 2.1 µs, and polls
/// of one line do not overlap (H200, PCIe 5). Addresses are of user space, so they leave bits for other
/// fields.
struct alignas(16) ResidentOrder {
  std::uint64_t from;  ///< address << address_shift | caller_bits | shared_bit | number
  std::uint64_t to;    ///< address (0: leave) << address_shift | parity of the number << 16 | bytes - 1
};
inline constexpr unsigned address_shift = 17;
inline constexpr std::uint64_t addresses_end = std::uint64_t{1} << (64 - address_shift);
inline constexpr std::uint64_t number_mask = 0x3fff;
/// A launch leaves after that many orders, before a number repeats that some of its blocks have not yet seen
/// replaced.
inline constexpr std::uint64_t most_orders = number_mask / 2;
inline constexpr std::uint64_t shared_bit = 0x4000;       ///< all blocks of the launch copy a part each
inline constexpr std::uint64_t caller_inside = 0x8000;    ///< the program's thread is in an MPI call
inline constexpr std::uint64_t caller_changed = 0x10000;  ///< flips when it begins another one
inline constexpr std::uint64_t caller_bits = caller_inside | caller_changed;

/// Above, one block needs several rounds of loads: no faster than the copy engine.
inline constexpr std::uint32_t largest_order = 65536;
/// From this size on, sharing is faster, although notifying the other blocks takes 0.7 µs.
inline constexpr std::uint32_t least_shared_order = 32768 + 1;
/// Above, the copy engine is as fast.
inline constexpr std::uint32_t largest_shared_order = 8u << 20;
/// The same for strided orders. One multiprocessor takes 8 µs longer for 32 KiB in words of 8 bytes than for
/// 4, several 2. Above, a launch on the whole device is faster, which takes 5 µs more to begin (H200, NVLink:
/// halves of round trips of 32 KiB 18.6 → 12.5 µs, 128 KiB 20.6 → 14.9, 1 MiB 22.4 → 18.5 to 21, 1.1 MiB 38.5
/// → 40.4).
inline constexpr std::uint32_t least_shared_strided_order = 12288 + 1;
inline constexpr std::uint32_t largest_shared_strided_order = 1u << 20;
/// Both addresses of a shared order are 16-byte aligned. Their low four bits carry bits 16–19 (`from`) and
/// 20–23 (`to`) of `bytes - 1`.
inline constexpr std::uint64_t shared_alignment = 16;

/// These values replace an address if one side is host memory: ResidentKernel::bounce; the words beside the
/// order; the mailbox's words for downloads.
inline constexpr std::uint64_t bounce_address = 1;
inline constexpr std::uint64_t beside_address = 2;
inline constexpr std::uint64_t down_address = 3;
/// Replaces `to`: the words beside the order describe the layouts of both sides. Bits from strided_size_shift
/// on carry the bits of `bytes - 1` above 16; the value stays below any address.
inline constexpr std::uint64_t strided_address = 4;
inline constexpr unsigned strided_size_shift = 4;
inline constexpr std::uint64_t least_address = 4096;
static_assert((largest_shared_strided_order - 1) >> 16 << strided_size_shift < least_address);
/// Replaces `to`, too: the words beside the order describe the collective, and a OneShotRoute its partners.
inline constexpr std::uint64_t one_shot_address = 5;
/// The same for an update in place (element_update.hpp), whose `from` stands for nothing.
inline constexpr std::uint64_t update_address = 6;
inline constexpr std::uint32_t bounce_bytes = 65536;

/// A small payload to or from host memory travels in stamped words: four bytes each, and above them the count
/// of their order, by which the reader recognises new words. So no fence is needed behind them, which takes
/// 1.5 µs, and no second poll to fetch them. (As in NCCL's protocol LL.)
inline constexpr std::uint32_t stamped_bytes = 4;
inline constexpr unsigned stamp_shift = 32;
/// A cache line of the GPU's is read together, by a thread for each two words. With two lines any order takes
/// 0.3 µs more.
inline constexpr std::uint32_t line_threads = 8;
inline constexpr std::uint32_t words_beside = 2 * (line_threads - 1);
inline constexpr std::uint32_t largest_beside = words_beside * stamped_bytes;
/// Downloads of 8 bytes take 2.8 µs instead of 4.2, 4 KiB 3.7 instead of 4.5; 8 KiB would take 4.6 instead of
/// 5.1, 16 KiB would take longer.
inline constexpr std::uint32_t largest_down = 4096;

/// The words beside a strided order: the destination, and for each side the row's bytes, the count of the
/// inner loop, and the strides of both loops (0: no loop). Words of 32 bits; wider numbers have their lower
/// half first.
struct StridedWords {
  static constexpr std::uint32_t to = 0;
  static constexpr std::uint32_t from_side = 2;
  static constexpr std::uint32_t to_side = 8;
  // within a side:
  static constexpr std::uint32_t row_bytes = 0;  ///< and above them, of the from side, unit_shift
  static constexpr std::uint32_t count = 1;
  static constexpr std::uint32_t stride = 2;
  static constexpr std::uint32_t outer_stride = 4;
  static constexpr std::uint32_t words_of_side = 6;
  static constexpr std::uint32_t unit_position = 24;
  static constexpr std::uint32_t most_loops = 2;
};
static_assert(StridedWords::to_side + StridedWords::words_of_side == words_beside);

/// The words beside an order for a one-shot collective, whose `from` is this rank's vector or blocks.
struct OneShotWords {
  static constexpr std::uint32_t to = 0;
  static constexpr std::uint32_t route = 2;
  static constexpr std::uint32_t stamp = 4;
  static constexpr std::uint32_t what = 5;   ///< the fields below
  static constexpr std::uint32_t parts = 6;  ///< of each rank: units sent, and in the upper half received
  static constexpr std::uint32_t most_units = 0xffff;
  // first bit of each field:
  static constexpr std::uint32_t type = 0;         ///< a ResidentType
  static constexpr std::uint32_t operation = 4;    ///< a ReductionOperation
  static constexpr std::uint32_t combined = 12;    ///< as OneShotCollective's
  static constexpr std::uint32_t unit_shift = 16;  ///< binary logarithm of the bytes of a unit
  static constexpr std::uint32_t is_for_each = 20;
  static constexpr std::uint32_t is_checked = 21;
  static constexpr std::uint32_t is_shared = 22;  ///< by all blocks of the launch
};
/// The words beside an order for an update. An operand of at most 8 bytes may be in place of its address.
struct UpdateWords {
  static constexpr std::uint32_t target = 0;
  static constexpr std::uint32_t result = 2;  ///< 0: none
  static constexpr std::uint32_t operand = 4;
  static constexpr std::uint32_t compared = 6;
  static constexpr std::uint32_t what = 8;  ///< the fields below
  // first bit of each field:
  static constexpr std::uint32_t type = 0;       ///< a ResidentType
  static constexpr std::uint32_t operation = 4;  ///< a ReductionOperation
  static constexpr std::uint32_t kind = 12;      ///< an UpdateKind
  static constexpr std::uint32_t element_shift = 14;
  static constexpr std::uint32_t has_operand = 16;  ///< its value, not its address
  static constexpr std::uint32_t has_compared = 17;
};
/// The kernel waits no longer than this for late partners of a collective, as other orders wait for it.
#ifdef PENSTOCK_SIMULATED_GPU
inline constexpr std::uint64_t one_shot_order_limit_ns = 20'000'000;
#else
inline constexpr std::uint64_t one_shot_order_limit_ns = 50'000;
#endif

/// Each side writes cache lines of its own while orders are in flight. Launches are numbered from 1 on; so
/// are orders, by a count whose lower bits are their number.
struct ResidentMailbox {
  struct alignas(16 * line_threads) Line {
    ResidentOrder order;  ///< the host's latest
    std::uint64_t beside[words_beside];
  } line;
  alignas(64) std::uint32_t running;  ///< launch that takes orders
  std::uint32_t sharing;              ///< launch that takes shared orders, too
  std::uint32_t leaving;              ///< launch that leaves after one more poll
  std::uint32_t ended;                ///< launch that touches nothing any more
  std::uint32_t incomplete;           ///< count of the last one-shot collective that did not complete
  /// Count of the last order that each block has executed. The first block counts all orders except downloads
  /// in stamped words, whose stamps signal completion; the others count shared ones.
  alignas(64) std::uint32_t done[resident_blocks];
  alignas(64) std::uint64_t down[largest_down / stamped_bytes];
};

/// How long the kernel stays, in ns.
struct ResidentLimits {
  std::uint64_t idle;     ///< without an order, while the program's thread is in MPI calls
  std::uint64_t outside;  ///< the same, while it is not
  std::uint64_t life;     ///< in any case
};

/// Parameters of `penstock_resident`: one block of resident_threads, or resident_blocks of them, which must
/// all be able to run at a time.
struct ResidentKernel {
  ResidentMailbox* mailbox;  ///< as the device sees it
  std::uint32_t slot;        ///< whose counters to use (copy_batch.hpp)
  std::uint32_t launch;
  std::uint32_t done;  ///< count of orders so far: they are not for this launch
  ResidentLimits stay;
  /// Host memory, bounce_bytes of it, for larger payloads from there or to there; as the device sees it.
  char* bounce;
  // The simulated GPU translates addresses in parameters, but not those in orders. Its kernels see memory at
  // a fixed distance from where the host knows it:
  const void* known;             ///< any memory of the device
  std::uint64_t known_inverted;  ///< ~ its address, as the host knows it
};

}  // namespace penstock::transports::kernels
