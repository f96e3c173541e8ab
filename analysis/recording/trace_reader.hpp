// Reads the recording of one rank, record by record. Trusts no byte: sizes, kinds and times are checked, and
// unusable parts are left out and reported with file and byte. Must not know what the records mean.
//
// Blocks are read with pread() instead of mmap(): the job may still be running and trims its file at the end,
// which would kill a reader that has the file mapped. Memory is one block, whatever the file's size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analysis/recording/flaw.hpp"
#include "interpose/record/delta_coding.hpp"
#include "interpose/record/trace_format.hpp"

namespace penstock::analysis {

/// What a recording that keeps its newest records says of those that are gone.
struct LostRecords {
  std::uint64_t known_from_ns =
      0;  ///< all that ended later is there; trace::nothing_missing: it is not known
  std::uint64_t records = 0;
  std::uint64_t last_block = 0;           ///< trace::Losses::last_lost_block
  bool knows_all_halves = true;           ///< false: `halves` lacks some envelopes
  std::vector<trace::LostHalves> halves;  ///< an envelope may occur twice: they add up
};

/// Owns: a file descriptor and a block. Unit: ns, bytes. Thread: one at a time. Errors: TraceError if the
/// header is not a recording's; for_each() returns the other flaws.
class TraceReader {
 public:
  explicit TraceReader(std::filesystem::path file);
  ~TraceReader();
  TraceReader(TraceReader&& other) noexcept;
  TraceReader(const TraceReader&) = delete;
  TraceReader& operator=(const TraceReader&) = delete;
  TraceReader& operator=(TraceReader&&) = delete;

  [[nodiscard]] const trace::FileHeader& header() const noexcept { return header_; }
  [[nodiscard]] const std::filesystem::path& file() const noexcept { return file_; }
  /// Returns true if the job reached MPI_Finalize, so that the recording is complete.
  [[nodiscard]] bool is_finished() const noexcept { return header_.end_ns != 0; }
  /// Returns true if the file has fewer bytes than its writer gave it.
  [[nodiscard]] bool is_cut_off() const noexcept;
  /// For a handler of for_each(). Returns true if its writer may have gone on in another block after the
  /// record.
  [[nodiscard]] bool is_block_full() const noexcept {
    return block_end_ < trace::block_bytes ||
           block_end_ - next_offset_ < trace::most_delta_bytes + sizeof(std::uint32_t);
  }

  /// Returns the MPI calls that the rank's threads are in, as the file has them now. A call that changes
  /// while it is read is left out. The rank's last complete calls may be among them if it was killed in
  /// between.
  [[nodiscard]] std::vector<trace::OpenCall> open_calls() const;
  /// Returns what the file lacks now; nothing, unless it keeps its newest records. A job that runs may lose
  /// more at any moment: what was read before this call is complete since `known_from_ns`.
  [[nodiscard]] LostRecords lost() const;
  /// Has for_each() leave out what lies between the first and the last blocks of a file with more bytes than
  /// that. Returns true if anything is left out.
  bool read_at_most(std::uint64_t bytes) noexcept;

  /// Calls `handle(record, block_header)` for every usable record, in file order. `Handler` accepts each
  /// record type of the trace format. Returns the flaws of what could not be used. Blocks that are
  /// overwritten come in the order in which they were begun, and one that changes while it is read is left
  /// out.
  template <typename Handler>
  [[nodiscard]] std::vector<Flaw> for_each(Handler&& handle);

 private:
  bool next_block();
  [[nodiscard]] bool is_still_there() const;
  [[nodiscard]] bool keeps_newest() const noexcept { return header_.losses_generation != 0; }
  void begin_pass();
  [[nodiscard]] std::uint64_t block_count() const noexcept;
  /// Returns the next record of the block, 64 bytes. Null: it has no more.
  const std::byte* next_record();
  const std::byte* next_plain();
  const std::byte* next_delta();
  void skip(const char* what);
  void note_end_of_block(std::size_t behind_bytes);
  [[nodiscard]] std::vector<Flaw> take_flaws();

  template <typename Record, typename Handler>
  void pass_on(const std::byte* bytes, Handler& handle);
  template <typename Record, typename Handler>
  void pass_on_timed(const std::byte* bytes, Handler& handle);

  std::filesystem::path file_;
  int descriptor_ = -1;
  std::uint64_t size_bytes_ = 0;
  trace::FileHeader header_{};

  std::uint64_t most_blocks_ = ~std::uint64_t{0};  ///< of more, those in the middle are left out

  // State of the pass in progress.
  std::vector<std::uint64_t> offsets_;  ///< of the blocks
  std::size_t next_ = 0;                ///< in offsets_
  std::uint64_t earliest_ns_ = 0;       ///< no record can have begun before it
  std::uint64_t block_offset_ = 0;
  std::size_t block_end_ = 0;      ///< the bytes of it that there are
  std::size_t record_offset_ = 0;  ///< in the block, as is the next one
  std::size_t next_offset_ = 0;
  trace::DeltaReader deltas_;
  std::uint64_t skipped_records_ = 0;
  Flaw first_skipped_;
  std::vector<Flaw> flaws_;
  trace::BlockHeader block_header_{};
  std::unique_ptr<std::byte[]> block_;
};

/// The offset of the byte that holds a record's kind; 0 means that the record was never committed.
inline constexpr std::size_t kind_offset_bytes = trace::record_bytes - 1;

inline constexpr std::uint64_t year_ns = 365ull * 24 * 3600 * 1'000'000'000;

inline const std::byte* TraceReader::next_plain() {
  if (next_offset_ + trace::record_bytes > block_end_) {
    return nullptr;
  }
  record_offset_ = next_offset_;
  const std::byte* const record = block_.get() + record_offset_;
  if (record[kind_offset_bytes] == std::byte{0}) {
    note_end_of_block(trace::record_bytes);
    return nullptr;
  }
  next_offset_ += trace::record_bytes;
  return record;
}

inline const std::byte* TraceReader::next_delta() {
  record_offset_ = next_offset_;
  const std::byte* at = block_.get() + record_offset_;
  switch (deltas_.read(at, block_.get() + block_end_)) {
    case trace::DeltaReader::Found::record:
      next_offset_ = static_cast<std::size_t>(at - block_.get());
      return deltas_.record();
    case trace::DeltaReader::Found::end:
      note_end_of_block(trace::most_delta_bytes + sizeof(std::uint32_t));
      return nullptr;
    case trace::DeltaReader::Found::cut_off:
      if (block_end_ < trace::block_bytes) {
        return nullptr;  // with the file, which take_flaws() reports
      }
      [[fallthrough]];  // writers leave room for the end of a block
    case trace::DeltaReader::Found::damage:
    default:
      skip("damaged record; the rest of its block was left out");
      return nullptr;
  }
}

inline const std::byte* TraceReader::next_record() {
  return block_header_.coding == trace::BlockCoding::delta ? next_delta() : next_plain();
}

template <typename Record, typename Handler>
void TraceReader::pass_on(const std::byte* bytes, Handler& handle) {
  static_assert(sizeof(Record) == trace::record_bytes && alignof(Record) <= trace::record_alignment);
  handle(*reinterpret_cast<const Record*>(bytes), block_header_);
}

template <typename Record, typename Handler>
void TraceReader::pass_on_timed(const std::byte* bytes, Handler& handle) {
  std::uint64_t times_ns[2];  // begin (or post) and end (or completion) are the first fields of every timed
                              // record
  std::memcpy(times_ns, bytes, sizeof times_ns);
  // damage shows as impossible times: end before begin, or more than a year from the beginning
  if (times_ns[0] > times_ns[1] || times_ns[0] < earliest_ns_ || times_ns[1] - earliest_ns_ > 2 * year_ns) {
    return skip("impossible times");
  }
  pass_on<Record>(bytes, handle);
}

template <typename Handler>
std::vector<Flaw> TraceReader::for_each(Handler&& handle) {
  begin_pass();
  while (next_block()) {
    while (const std::byte* const bytes = next_record()) {
      switch (static_cast<trace::RecordKind>(bytes[kind_offset_bytes])) {
        case trace::RecordKind::text:
          pass_on<trace::Text>(bytes, handle);
          break;
        case trace::RecordKind::module:
          pass_on<trace::Module>(bytes, handle);
          break;
        case trace::RecordKind::call_path:
          pass_on<trace::CallPath>(bytes, handle);
          break;
        case trace::RecordKind::communicator:
          pass_on<trace::Communicator>(bytes, handle);
          break;
        case trace::RecordKind::mpi_call:
          pass_on_timed<trace::MpiCall>(bytes, handle);
          break;
        case trace::RecordKind::message_half:
          pass_on_timed<trace::MessageHalf>(bytes, handle);
          break;
        case trace::RecordKind::collective_operation:
          pass_on_timed<trace::CollectiveOperation>(bytes, handle);
          break;
        case trace::RecordKind::transfer:
          pass_on_timed<trace::Transfer>(bytes, handle);
          break;
        case trace::RecordKind::kernel:
        case trace::RecordKind::device_copy:
        case trace::RecordKind::device_memset:
          pass_on_timed<trace::DeviceActivity>(bytes, handle);
          break;
        case trace::RecordKind::range:
          pass_on_timed<trace::Range>(bytes, handle);
          break;
        case trace::RecordKind::cuda_synchronisation:
          pass_on_timed<trace::CudaSynchronisation>(bytes, handle);
          break;
        case trace::RecordKind::notice:
          pass_on<trace::Notice>(bytes, handle);
          break;
        case trace::RecordKind::thread:
          pass_on<trace::Thread>(bytes, handle);
          break;
        case trace::RecordKind::fact:
          pass_on<trace::Fact>(bytes, handle);
          break;
        case trace::RecordKind::gpu_sample:
          pass_on_timed<trace::GpuSample>(bytes, handle);
          break;
        case trace::RecordKind::nccl_call:
          pass_on_timed<trace::NcclCall>(bytes, handle);
          break;
        case trace::RecordKind::none:
        case trace::RecordKind::block:
        default:
          skip("unknown record kind");
          break;
      }
    }
  }
  return take_flaws();
}

}  // namespace penstock::analysis
