// Defines the file `rank-<world rank>.penstock`, the recording of one rank: plain records that the recorder
// writes through a memory mapping and the trace reader reads. Knows nothing of MPI, CUDA or either side's
// code; includes <cstdint>, <compare> and the table of transports only, so that any program can read a
// recording.
//
// File:   FileHeader (4096 bytes, the calls in progress at its end), then blocks of `block_bytes`. Blocks are
//         claimed by threads as they need them; a file may end in blocks that were never claimed (all zero)
//         or be cut off anywhere. A block in the middle may be all zero too (its thread was killed): continue
//         behind it. If only the newest records are kept (FileHeader::losses_generation is not zero), the
//         first block is the table of what was lost (Losses), others are overwritten, and only `sequence`
//         tells their order.
// Block:  one BlockHeader (64 bytes, in the first record's place), then records of 64 bytes in the order in
//         which one lane (a thread of the job, or a collector of the recorder) committed them, as they are or
//         delta-coded, as the block's header says.
//         A Text may lie behind the records that name it: resolve ids after reading the whole file.
// Record: 64 bytes. The byte `kind` is written last (release order); zero means "not committed" and ends the
//         block's readable part. A killed job therefore leaves a readable recording.
// Delta:  A delta-coded record (BlockCoding::delta) is a word of four bytes, DeltaHead, and then those of the
//         record's 16 words that differ from the words of its base, in their order. A block has `delta_bases`
//         bases, which are all zero at its begin; each record becomes the new value of its base. The head is
//         written last, zero ends the block, and up to a record's bytes behind it may be left of one that was
//         not committed. The writer is free in its choice of a base; delta_coding.hpp has that of the
//         recorder.
// Times:  nanoseconds of CLOCK_MONOTONIC on the rank's host. Byte order: the host's (little endian).
#pragma once

#include <compare>
#include <cstdint>

namespace penstock::trace {

inline constexpr std::uint64_t file_magic = 0x314b434f54534e50;  // "PNSTOCK1" read as little endian
inline constexpr std::uint32_t format_version = 3;
/// Version 2 has the same records in blocks that are all plain, version 1 has no call paths either.
inline constexpr std::uint32_t oldest_readable_version = 1;
inline constexpr std::uint32_t record_bytes = 64;
inline constexpr std::uint32_t block_bytes = 256 * 1024;
inline constexpr std::uint32_t file_header_bytes = 4096;
inline constexpr std::uint32_t no_string = 0;  ///< string ids start at 1
inline constexpr std::uint64_t clock_error_unknown =
    ~std::uint64_t{0};  ///< GPU activity was recorded, but nothing to compare it with
inline constexpr std::uint64_t nothing_missing = ~std::uint64_t{0};

enum class RecordKind : std::uint8_t {
  none = 0,  ///< not committed
  block = 1,
  text = 2,
  module = 3,
  communicator = 4,
  mpi_call = 5,
  message_half = 6,
  transfer = 7,
  kernel = 8,
  device_copy = 9,
  device_memset = 10,
  range = 11,
  cuda_synchronisation = 12,
  notice = 13,
  collective_operation = 14,
  thread = 15,
  call_path = 16,
  fact = 17,
  gpu_sample = 18,
  nccl_call = 19,
};

/// The kind of a buffer's memory. The numbers are part of the format.
enum class BufferKind : std::uint8_t {
  unknown,
  pageable,
  pinned,
  device,
  async_pool,
  virtual_memory,
  managed
};

/// The transport of a payload (transports/kinds/transports.def). The numbers are part of the format.
enum class TransportKind : std::uint8_t {
#define PENSTOCK_NO_TRANSPORT(name, number) name = number,
#define PENSTOCK_TRANSPORT(name, number, path, span) name = number,
#define PENSTOCK_TRACED_TRANSPORT(name, number, path) name = number,
#include "transports/kinds/transports.def"
};

/// The features of the recording. A bit that is absent means "not measured", never "zero".
namespace feature {
inline constexpr std::uint32_t kernels = 1u << 0;    ///< GPU activity was collected (CUPTI or simulated)
inline constexpr std::uint32_t ranges = 1u << 1;     ///< Penstock was the NVTX injection library
inline constexpr std::uint32_t simulated = 1u << 2;  ///< the GPU was the simulated one
inline constexpr std::uint32_t gpu_used = 1u << 3;   ///< CUDA was initialised in the process
// What was asked to be left out.
inline constexpr std::uint32_t keeps_last = 1u
                                            << 4;  ///< where space ends, the oldest records are overwritten
inline constexpr std::uint32_t window = 1u << 5;   ///< FileHeader::window_begin_ns and window_end_ns hold
inline constexpr std::uint32_t some_ranks = 1u << 6;     ///< other ranks of the job do not record
inline constexpr std::uint32_t nccl = 1u << 7;           ///< there are records of NCCL's calls
inline constexpr std::uint32_t python_frames = 1u << 8;  ///< call paths have functions of Python
}  // namespace feature

/// How a rank ended. The numbers are part of the format.
enum class Ending : std::uint8_t {
  none,      ///< it has not ended, or was killed, or called _exit(); or the recording is older
  finalize,  ///< MPI_Finalize
  abort,     ///< MPI_Abort
  exit,  ///< exit(), or the end of main(), without MPI_Finalize; MPI libraries exit so after a fatal error
};

struct FileHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t header_bytes;
  std::uint32_t record_bytes;
  std::uint32_t block_bytes;
  std::int32_t world_rank;
  std::int32_t world_size;
  std::int64_t process_id;
  std::uint64_t job_id_low;  ///< the same on all ranks of a job on one node
  std::uint64_t job_id_high;
  std::uint64_t begin_ns;             ///< MPI_Init returned
  std::uint64_t end_ns;               ///< MPI_Finalize entered; 0: the job never called it
  std::uint64_t realtime_offset_ns;   ///< CLOCK_REALTIME - CLOCK_MONOTONIC at begin_ns
  std::uint32_t features;             ///< feature::* bits
  std::uint32_t mpi_family;           ///< 1 MPICH, 2 Open MPI, 3 the standard ABI
  std::uint64_t dropped_records;      ///< lost for lack of space
  std::uint64_t dropped_gpu_records;  ///< lost by CUPTI, as it reports them
  std::uint64_t own_cost_ns;     ///< time spent inside the recorder, estimated (events × calibrated cost)
  std::uint64_t clock_error_ns;  ///< bound of GPU timestamps against the host clock; clock_error_unknown
  std::uint64_t claimed_blocks;
  char host_name[256];
  char program[1024];
  char mpi_version[256];
  char device_name[256];
  char features_note[256];  ///< why a feature is off, one line; empty when all are on
  // Measured wall time of the rank, not in `own_cost_ns`; 0 in recordings that are older or did not end.
  std::uint64_t start_cost_ns;   ///< to open the file and start CUPTI, in MPI_Init and CUDA's first call
  std::uint64_t finish_cost_ns;  ///< to collect CUPTI's last records and close the file, in MPI_Finalize
  /// The earliest time of a record lost for lack of space. All that happened before is in the file, except
  /// what was still in flight or open then. nothing_missing if none was lost; 0 in older recordings.
  std::uint64_t missing_from_ns;
  // Zero in older recordings.
  std::uint64_t alive_ns;   ///< the process was alive then; written about four times a second, until it ends
  std::int32_t abort_code;  ///< of MPI_Abort
  std::uint32_t open_call_slots;    ///< the size of the header's table of open calls
  std::uint32_t threads_unnoticed;  ///< that found no free slot: their calls in progress are not known
  Ending ended_by;
  /// Counts how often the table of losses was written: of its two copies, number losses_generation % 2 holds.
  /// 0: the file has no table, and the first block is one like all others.
  std::uint64_t losses_generation;
  std::uint64_t window_begin_ns;  ///< with feature::window: when it began; 0: it has not, and nothing counts
  std::uint64_t window_end_ns;    ///< as `missing_from_ns` has it, too; 0: it has not ended
};

/// How the records of a block lie in it. The numbers are part of the format.
enum class BlockCoding : std::uint8_t { plain, delta };

struct BlockHeader {
  std::uint64_t lane;  ///< the writer of the block; `ordinal` gives the order of a lane's blocks
  std::uint64_t ordinal;
  std::uint64_t thread_id;  ///< gettid() of the thread that began the block; after its end a later thread may
                            ///< have continued it, see Thread
  char thread_name[16];     ///< that of pthread_setname_np() then, else the program's; all zero: not known
  std::uint64_t sequence;   ///< counts the blocks of the file as they are begun, from 1 on; 0 in older files
  BlockCoding coding;
  std::uint8_t reserved[14];
  RecordKind kind;
};

/// The bases of a delta-coded block, and the words of a record.
inline constexpr std::uint32_t delta_bases = 256;
inline constexpr std::uint32_t record_words = record_bytes / 4;

/// What a delta-coded record begins with.
struct DeltaHead {
  std::uint16_t changed;  ///< bit n: word n of the record differs from its base and follows
  std::uint8_t base;
  RecordKind kind;  ///< as in the record's last byte
};

/// A piece of a string. The pieces of one id lie in order in one block; the last has `more` = 0.
struct Text {
  std::uint32_t id;
  std::uint8_t bytes;  ///< used of `characters`
  std::uint8_t more;
  std::uint8_t reserved[2];
  char characters[55];
  RecordKind kind;
};

/// A thread that continues the lane of one that has ended: what the lane has behind this record is its own.
/// Absent from older recordings.
struct Thread {
  std::uint64_t thread_id;  ///< as in BlockHeader, as is the name
  char name[16];
  std::uint8_t reserved[39];
  RecordKind kind;
};

/// How the build of a program or library is told from others of the same path.
enum class BuildBy : std::uint8_t {
  unknown,   ///< an older recording, or what is loaded could not be read
  build_id,  ///< the GNU build-id, which the linker makes of all that it links
  layout,    ///< it has none: a checksum of where its parts lie, which another build may share
};

/// The build of a program or library. module_build.hpp reads it.
struct ModuleBuild {
  BuildBy by;
  std::uint8_t bytes;   ///< of the whole id, 255 for more
  std::uint8_t id[25];  ///< the whole id, or the first bytes of a longer one; the rest is 0
  auto operator<=>(const ModuleBuild&) const = default;
};

/// An executable mapping, by which call sites (addresses) can be named later.
struct Module {
  std::uint64_t begin;  ///< first address
  std::uint64_t end;
  std::uint64_t file_offset;  ///< of `begin` in the file
  std::uint64_t load_bias;    ///< address minus the file's own virtual address
  std::uint32_t path;         ///< string id
  ModuleBuild build;
  RecordKind kind;
};

/// A call site is where MPI was called: with this bit the id of a call path, else the return address in the
/// application alone. No address of a program has the bit.
inline constexpr std::uint64_t call_path_bit = std::uint64_t{1} << 63;

/// With this bit a frame of a call path is a function of Python: the id of a string, which has the line as a
/// decimal number (0: not known), a line end, the function, a line end, and the file. No address of a program
/// has the bit, so that a reader that does not know it shows an address outside of all modules.
inline constexpr std::uint64_t python_frame_bit = std::uint64_t{1} << 62;

/// A part of a call path: return addresses from the call of MPI outwards. Paths end where the next frame is
/// not known, or after some frames. Where the interpreter of Python called, its own frames are left out, and
/// functions of Python follow (python_frame_bit). Absent from recordings of version 1.
struct CallPath {
  std::uint32_t id;     ///< of the path, from 1 on
  std::uint8_t first;   ///< number of the part's first frame in the path
  std::uint8_t frames;  ///< of the part
  std::uint8_t reserved_before[2];
  std::uint64_t return_addresses[6];
  std::uint8_t reserved[7];
  RecordKind kind;
};

/// A communicator seen by the rank. `global_id` is the same on all its ranks.
struct Communicator {
  std::uint64_t global_id;
  std::uint32_t local_id;  ///< used by the other records of this file; 1 = MPI_COMM_WORLD, 2 = MPI_COMM_SELF
  std::uint32_t name;      ///< string id
  std::uint32_t
      members;  ///< string id: world ranks as "0,1,2", of an intercommunicator the remote group; -1: unknown
  std::int32_t size;
  std::int32_t rank;
  std::uint8_t is_inter;
  std::uint8_t reserved[34];
  RecordKind kind;
};

/// An outermost MPI call of the application.
struct MpiCall {
  std::uint64_t begin_ns;
  std::uint64_t end_ns;
  std::uint64_t bytes;  ///< this rank's payload of the call (sent + received for both-way calls); 0 if none
  std::uint64_t call_site;           ///< see call_path_bit
  std::uint32_t function;            ///< string id of the MPI function's name
  std::uint32_t communicator;        ///< local id; 0: none
  std::int32_t peer;                 ///< world rank (root for rooted collectives); -1: none, -2: any
  std::int32_t tag;                  ///< -1: none
  std::uint32_t collective_ordinal;  ///< n-th collective call on the communicator (from 1); 0 for others
  std::uint32_t repeats;  ///< calls coalesced into this record (Test, Iprobe, Wtime storms); 1 otherwise
  BufferKind buffer;
  std::uint8_t
      waits;  ///< 1: a call that may wait for others (Recv, Wait, collectives …); 0: local (Comm_rank …)
  std::uint8_t reserved[5];
  RecordKind kind;
};

/// The MPI call that a thread is in, in the header's table: `call.kind` is mpi_call from its begin to its
/// end, and else none. Its arguments follow some nanoseconds after the begin; its end and bytes are not known
/// yet.
struct OpenCall {
  MpiCall call;
  // Of a call that completes requests: when the first and the last of these operations were posted, as in
  // MessageHalf::post_ns, or initialised, if they are persistent: the begin of that call. And how many they
  // are; 0: it completes none, or none that is known.
  std::uint64_t first_post_ns;
  std::uint64_t last_post_ns;
  std::uint32_t operations;
  // Of a call that sends and receives: from whom it receives, as in MpiCall; `call` has to whom it sends.
  std::int32_t source;
  std::int32_t source_tag;
  std::uint8_t receives;  ///< 1: `source` is valid
  std::uint8_t reserved[3];
  std::uint64_t thread_id;  ///< as in BlockHeader, as is the name
  char thread_name[16];
  std::uint8_t reserved_behind[8];
};

inline constexpr std::uint32_t open_calls_offset = 2304;  ///< in the file; those before are FileHeader's
inline constexpr std::uint32_t most_open_calls = (file_header_bytes - open_calls_offset) / sizeof(OpenCall);

enum class Direction : std::uint8_t { send, receive };

/// One side of a point-to-point message. The halves of a message are joined by `key` if it is not zero (then
/// it is unique in the job), else by the order of `post_ns` among equal (communicator, source, destination,
/// tag).
struct MessageHalf {
  std::uint64_t post_ns;      ///< entry of the call that started the send or receive
  std::uint64_t complete_ns;  ///< its completion was seen
  std::uint64_t bytes;        ///< payload
  std::uint64_t key;          ///< (sender's world rank + 1) << 40 | sender's sequence number; 0: unknown
  std::uint64_t call_site;    ///< of the posting call
  std::uint64_t matched_ns;   ///< receiver: when the message was seen to have arrived; sender: when the
                              ///< receiver was seen to have taken it; 0 unknown
  std::int32_t peer;          ///< world rank
  std::int32_t tag;
  std::uint32_t communicator;  ///< local id
  Direction direction;
  BufferKind buffer;
  std::uint8_t blocking;  ///< 1: the posting call was blocking
  RecordKind kind;
};

/// Halves of one envelope that are no longer in the file.
struct LostHalves {
  std::uint64_t halves;        ///< their number
  std::uint64_t last_post_ns;  ///< the latest MessageHalf::post_ns among them
  std::uint32_t communicator;  ///< as in MessageHalf, as are the next ones
  std::int32_t peer;
  std::int32_t tag;
  Direction direction;
  std::uint8_t have_keys;  ///< 1: MessageHalf::key of all of them is not zero; 0: of all it is
  std::uint8_t reserved[2];
};

/// A copy of the table of what was overwritten, or dropped while the newest records are kept. A reader that
/// finds the block `last_lost_block` nevertheless leaves it out: the job was killed before it was wiped out.
struct Losses {
  static constexpr std::uint32_t most_groups =
      (block_bytes / 2 - record_bytes) / static_cast<std::uint32_t>(sizeof(LostHalves));
  /// The latest end of a lost record. All that ended later, and all that is in the file, is complete since.
  /// 0: nothing was lost.
  std::uint64_t known_from_ns;
  std::uint64_t lost_records;
  std::uint64_t last_lost_block;  ///< BlockHeader::sequence
  std::uint32_t groups;           ///< used of `lost_halves`
  std::uint32_t is_full;  ///< 1: of envelopes that are not in `lost_halves` it is not known what was lost
  std::uint8_t reserved[32];
  LostHalves lost_halves[most_groups];
};

/// A non-blocking collective, from its call to its completion, or one start of a persistent one. The call
/// that made or initialised it has a record of its own with the same ordinal.
struct CollectiveOperation {
  std::uint64_t post_ns;             ///< entry of the call that started it
  std::uint64_t complete_ns;         ///< its completion was seen
  std::uint64_t bytes;               ///< as MpiCall::bytes
  std::uint64_t call_site;           ///< of the call that started it
  std::uint32_t function;            ///< string id of that call's name
  std::uint32_t communicator;        ///< local id
  std::uint32_t collective_ordinal;  ///< as MpiCall::collective_ordinal
  std::int32_t root;                 ///< world rank; -1: none
  std::uint32_t start;               ///< of a persistent one, counted from 1 on; 0: not persistent
  std::uint8_t reserved[11];
  RecordKind kind;
};

/// The movement of one device payload by Penstock, written by the side that moved it.
struct Transfer {
  std::uint64_t begin_ns;  ///< this side could start (envelope seen, or staging begun)
  std::uint64_t end_ns;    ///< the payload had arrived
  std::uint64_t bytes;
  std::uint64_t key;      ///< as MessageHalf::key; 0 for collectives and staged calls
  std::uint32_t reason;   ///< string id: why this transport
  std::uint32_t pack_ns;  ///< part spent packing or unpacking datatypes
  std::uint32_t wait_ns;  ///< part spent waiting for the other side or the GPU
  std::int32_t peer;      ///< world rank; -1 none
  BufferKind source;
  BufferKind destination;
  TransportKind transport;
  std::uint8_t reserved_before;
  std::uint32_t packed_words;  ///< size of the bitmap that it travelled as, in words of 4 bytes; 0: as it is
  std::uint8_t reserved[7];
  RecordKind kind;
};

/// Returns the bytes that travelled for it.
[[nodiscard]] constexpr std::uint64_t wire_bytes_of(const Transfer& transfer) noexcept {
  return transfer.packed_words == 0 ? transfer.bytes : std::uint64_t{4} * transfer.packed_words;
}

/// A kernel, copy or memset on a GPU.
struct DeviceActivity {
  std::uint64_t begin_ns;
  std::uint64_t end_ns;
  std::uint64_t bytes;  ///< 0 for kernels
  std::uint32_t name;   ///< string id; kernels only; as the compiler mangled it
  std::uint32_t stream;
  std::uint32_t correlation;
  std::uint8_t device;
  std::uint8_t own;        ///< 1: issued by Penstock, by correlation id
  std::uint8_t copy_kind;  ///< CUpti_ActivityMemcpyKind; 0 otherwise
  std::uint8_t reserved_before;
  std::uint32_t thread_id;  ///< gettid() of the thread that issued it; 0: not known
  std::uint8_t reserved_between[4];
  std::uint64_t
      issued_ns;  ///< begin of the call of CUDA that issued it; 0: not known, as in older recordings
  std::uint8_t reserved[7];
  RecordKind kind;  ///< kernel, device_copy or device_memset
};

/// An NVTX range of the application.
struct Range {
  std::uint64_t begin_ns;
  std::uint64_t end_ns;
  std::uint64_t thread_id;
  std::uint32_t name;    ///< string id
  std::uint32_t domain;  ///< string id; 0: the default domain
  std::uint8_t depth;    ///< nesting of push/pop ranges; 255 for start/end ranges
  std::uint8_t reserved_before[3];
  std::uint32_t
      entry;  ///< how often the process had entered ranges of that name, with this one; 0: not known
  std::uint8_t reserved[23];
  RecordKind kind;
};

/// A call of NCCL, as it tells of it by a range in its NVTX domain. What its payload does not tell is not
/// known: NCCL before 2.19 tells of its calls alone, before 2.25 not of communicators. Absent from older
/// recordings.
struct NcclCall {
  std::uint64_t begin_ns;
  std::uint64_t end_ns;
  std::uint64_t communicator;  ///< NCCL's hash, the same on all its ranks; 0: not known
  std::uint64_t bytes;         ///< count times size of the type; valid if knows_bytes
  std::uint32_t function;      ///< string id: "ncclAllReduce"
  std::uint32_t ordinal;  ///< n-th call of that function on the communicator in this process (from 1); 0: not
                          ///< known
  std::uint32_t thread_id;   ///< gettid()
  std::int32_t peer;         ///< root, or the other rank of a message, in the communicator; -1: none
  std::int32_t ranks;        ///< of the communicator, told by calls that make one; 0: not told
  std::int32_t rank;         ///< this rank in the communicator, likewise; -1: not told
  std::uint8_t knows_bytes;  ///< 1: `bytes` is valid
  std::uint8_t reserved[6];
  RecordKind kind;
};

struct CudaSynchronisation {
  std::uint64_t begin_ns;
  std::uint64_t end_ns;
  std::uint32_t what;  ///< string id: "stream", "context", "event" …
  std::uint32_t stream;
  std::uint32_t correlation;
  std::uint8_t device;
  std::uint8_t own;
  std::uint8_t reserved[33];
  RecordKind kind;
};

/// A line that Penstock printed (a feature that is off, a transport that failed), which the report repeats.
struct Notice {
  std::uint64_t at_ns;
  std::uint32_t text;  ///< string id
  std::uint8_t reserved[51];
  RecordKind kind;
};

/// What the run is a run of: "commit" (of the program), "batch_job" (Slurm's number), "driver" (of the GPU),
/// for those who compare runs: only the file of the first rank that records has these, as far as they are
/// known. Each rank's has "network" (network_bytes.hpp); "cores", "gpu" and "visible_gpus" (placement.hpp),
/// the last two once it has ended; and "no_gpu_power": why it has no GPU samples.
struct Fact {
  std::uint32_t name;   ///< string id
  std::uint32_t value;  ///< string id
  std::uint8_t reserved[55];
  RecordKind kind;
};

/// Why a GPU's clocks were lowered. The bits are NVML's (nvmlClocksEventReasons) and part of the format.
namespace throttle {
inline constexpr std::uint64_t power_cap = 0x4;
inline constexpr std::uint64_t hardware = 0x8;  ///< with one of the two below, or for another reason
inline constexpr std::uint64_t heat = 0x20;
inline constexpr std::uint64_t heat_by_hardware = 0x40;
inline constexpr std::uint64_t power_brake = 0x80;  ///< asked for from outside, as by the power supply
}  // namespace throttle

/// Power and clocks of a GPU that the rank uses, as its driver tells them (NVML), some ten times a second. 0:
/// not known. Absent from older recordings.
struct GpuSample {
  std::uint64_t begin_ns;          ///< the driver was asked
  std::uint64_t end_ns;            ///< it had answered
  std::uint64_t energy_mj;         ///< used since the driver was loaded, mJ
  std::uint64_t throttle_reasons;  ///< throttle::* bits, and others
  std::uint32_t gpu;               ///< string id: its PCI bus id, which is the same on all ranks of a host
  std::uint32_t power_mw;
  std::uint16_t sm_mhz;
  std::uint16_t most_sm_mhz;  ///< that the GPU can have
  std::uint16_t memory_mhz;
  std::uint16_t index;  ///< in nvidia-smi
  std::uint8_t temperature_c;
  std::uint8_t reserved[14];
  RecordKind kind;
};

static_assert(sizeof(FileHeader) <= open_calls_offset && sizeof(OpenCall) == 128);
static_assert(sizeof(LostHalves) == 32 && sizeof(Losses) <= block_bytes / 2);
static_assert(sizeof(DeltaHead) == 4 && delta_bases == 256);  // each base that a head can name is one
static_assert(sizeof(BlockHeader) == record_bytes && sizeof(Text) == record_bytes &&
              sizeof(Module) == record_bytes && sizeof(ModuleBuild) == 27);
static_assert(sizeof(Thread) == record_bytes && sizeof(CallPath) == record_bytes);
static_assert(sizeof(Communicator) == record_bytes && sizeof(MpiCall) == record_bytes);
static_assert(sizeof(MessageHalf) == record_bytes && sizeof(Transfer) == record_bytes);
static_assert(sizeof(CollectiveOperation) == record_bytes);
static_assert(sizeof(DeviceActivity) == record_bytes && sizeof(Range) == record_bytes);
static_assert(sizeof(CudaSynchronisation) == record_bytes && sizeof(Notice) == record_bytes);
static_assert(sizeof(Fact) == record_bytes && sizeof(GpuSample) == record_bytes);
static_assert(sizeof(NcclCall) == record_bytes);

}  // namespace penstock::trace
