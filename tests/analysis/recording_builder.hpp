// Writes recordings as the recorder would, from plain words, so that tests of the analysis know the truth
// that they ask for. Times in these tests are small numbers of ns from `origin_ns`. Test only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "interpose/record/trace_format.hpp"

namespace penstock::analysis::testing {

/// Times are counted from here, since a recording's clock never starts at zero.
inline constexpr std::uint64_t origin_ns = 1'000'000'000'000;
inline constexpr std::uint64_t ms = 1'000'000;  ///< in ns
// Directions of RecordingBuilder::copy(), as cudaMemcpyKind has them
inline constexpr std::uint8_t to_device = 1;
inline constexpr std::uint8_t to_host = 2;
inline constexpr std::uint64_t world_id = 0xabcdef;

struct CallWords {
  std::string_view function;
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t bytes = 0;
  std::uint64_t call_site = 0;
  std::int32_t peer = -1;
  std::uint32_t collective_ordinal = 0;
  std::uint8_t waits = 1;
  std::int32_t tag = -1;
  std::uint32_t communicator = 1;
};

/// A call that has not ended.
struct OpenCallWords {
  std::string_view function;
  std::uint64_t begin;
  std::int32_t peer = -1;
  std::int32_t tag = -1;
  std::uint32_t collective_ordinal = 0;
  std::uint64_t call_site = 0;
  std::uint64_t first_post = 0;  ///< of the operations that it completes
  std::uint64_t last_post = 0;
  std::uint32_t operations = 0;
  std::int32_t source = -1;  ///< of a call that receives, too; -1: it does not
  std::int32_t source_tag = -1;
};

struct HalfWords {
  trace::Direction direction;
  std::int32_t peer;
  std::uint64_t post;
  std::uint64_t complete;
  std::uint64_t bytes = 8;
  std::uint64_t key = 0;
  bool blocking = true;
  std::int32_t tag = 0;
  std::uint64_t matched = 0;
  trace::BufferKind buffer = trace::BufferKind::pageable;
};

struct OperationWords {
  std::string_view function;
  std::uint64_t post;
  std::uint64_t complete;
  std::uint32_t collective_ordinal;
  std::uint64_t bytes = 8;
  std::uint64_t call_site = 0;
  std::int32_t root = -1;
  std::uint32_t start = 0;
};

struct TransferWords {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t bytes;
  std::uint64_t key = 0;
  trace::TransportKind transport = trace::TransportKind::peer;
  std::string_view reason = "peer access";
  std::uint32_t wait = 0;
  std::uint32_t pack = 0;
  std::uint32_t packed_words = 0;
};

/// An answer of the GPU's driver.
struct GpuSampleWords {
  std::uint64_t at;
  std::string_view gpu = "0000:19:00.0";
  std::uint64_t energy_mj = 0;
  std::uint32_t power_mw = 300'000;
  std::uint64_t throttle_reasons = 0;
  std::uint16_t sm_mhz = 1980;
  std::uint8_t temperature_c = 50;
  std::uint16_t index = 0;
};

/// A call of NCCL, of the thread that launches kernels.
struct NcclCallWords {
  std::string_view function;
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t communicator = 0xc0;
  std::optional<std::uint64_t> bytes = {};
  std::uint32_t ordinal = 0;
  std::int32_t peer = -1;
  std::int32_t ranks = 0;
  std::int32_t rank = -1;
};

/// One rank's file. Records go to lane 0 unless `on_lane` says otherwise.
class RecordingBuilder {
 public:
  RecordingBuilder(std::int32_t rank, std::int32_t size);

  trace::FileHeader& header() { return header_; }
  /// Recordings of one number are of one run; 0 otherwise.
  RecordingBuilder& of_run(std::uint32_t number) {
    header_.process_id += 100'000 * std::int64_t{number};
    return *this;
  }
  RecordingBuilder& runs(std::uint64_t begin, std::uint64_t end);
  RecordingBuilder& never_finishes();
  RecordingBuilder& on_lane(std::uint64_t lane);
  /// The records of all lanes are coded so; plain else.
  RecordingBuilder& coded(trace::BlockCoding coding);
  /// Names the thread of the present lane, whose id is thread_of_lane().
  RecordingBuilder& named(std::string_view name);
  [[nodiscard]] static std::uint64_t thread_of_lane(std::uint64_t lane) { return 100 + lane; }
  /// Later kernels are on this GPU, launched by this thread; 0: nobody knows by which.
  RecordingBuilder& launches(std::uint64_t thread_id, std::uint8_t device);
  RecordingBuilder& call(const CallWords& words);
  RecordingBuilder& in_call(const OpenCallWords& words);
  /// The recorder's last sign of life; and how the process ended, if it told.
  RecordingBuilder& alive_until(std::uint64_t time, trace::Ending ending = trace::Ending::none);
  /// Makes a window of all ranks, whose calls have this number as their communicator.
  RecordingBuilder& window(std::uint32_t local_id);
  RecordingBuilder& half(const HalfWords& words);
  RecordingBuilder& operation(const OperationWords& words);
  RecordingBuilder& transfer(const TransferWords& words);
  RecordingBuilder& kernel(std::uint64_t begin, std::uint64_t end, std::string_view name = "stencil",
                           bool own = false);
  /// The call that launched it began at `issued`.
  RecordingBuilder& launched_kernel(std::uint64_t issued, std::uint64_t begin, std::uint64_t end,
                                    std::string_view name);
  RecordingBuilder& nccl_call(const NcclCallWords& words);
  /// `kind`: 1 host to device, 2 device to host.
  RecordingBuilder& copy(std::uint64_t begin, std::uint64_t end, std::uint64_t bytes, std::uint8_t kind);
  RecordingBuilder& cuda_synchronisation(std::uint64_t begin, std::uint64_t end);
  RecordingBuilder& range(std::string_view name, std::uint64_t begin, std::uint64_t end,
                          std::uint64_t thread = 0);
  RecordingBuilder& gpu_sample(const GpuSampleWords& words);
  /// `entry`: how often such a range had been entered; 0: not known.
  RecordingBuilder& entered(std::string_view name, std::uint32_t entry, std::uint64_t begin,
                            std::uint64_t end, std::uint64_t thread = 0);
  /// Records that ended until then were overwritten; among them, these halves. May be called several times.
  RecordingBuilder& lost_until(std::uint64_t time);
  RecordingBuilder& lost_halves(trace::Direction direction, std::int32_t peer, std::uint64_t halves,
                                std::uint64_t last_post, std::int32_t tag = 0);
  /// There were more envelopes than could be counted.
  RecordingBuilder& counts_no_more();
  /// Only a window of the run was to be recorded; 0: its begin, or end, did not come.
  RecordingBuilder& of_window(std::uint64_t begin, std::uint64_t end);
  RecordingBuilder& notice(std::string_view text);
  RecordingBuilder& fact(std::string_view name, std::string_view value);
  RecordingBuilder& module(std::string_view path, std::uint64_t begin, std::uint64_t end,
                           std::uint64_t file_offset, std::uint64_t load_bias,
                           const trace::ModuleBuild& build = {});
  /// Returns the call site of a call on this path: return addresses, innermost first.
  std::uint64_t path(const std::vector<std::uint64_t>& return_addresses);
  template <typename Record>
  RecordingBuilder& raw(const Record& record) {
    append(&record);
    return *this;
  }

  std::uint32_t text(std::string_view words);
  /// Puts the records of each lane into another order, but for the texts, whose pieces belong together.
  RecordingBuilder& shuffle(std::uint32_t seed);
  [[nodiscard]] std::vector<std::byte> bytes() const;
  /// Writes `rank-<rank>.penstock` into `directory` and returns its path.
  std::filesystem::path write(const std::filesystem::path& directory) const;

 private:
  void append(const void* record);
  [[nodiscard]] std::vector<std::byte> block_of(const trace::BlockHeader& header,
                                                const std::vector<std::byte>& records,
                                                std::size_t& done) const;

  trace::FileHeader header_{};
  trace::BlockCoding coding_ = trace::BlockCoding::plain;
  std::uint64_t lane_ = 0;
  std::uint64_t launching_thread_ = 0;
  std::uint8_t device_ = 0;
  std::vector<trace::OpenCall> open_calls_;
  std::optional<std::uint64_t> lost_until_;
  std::vector<trace::LostHalves> lost_halves_;
  bool counts_no_more_ = false;
  std::map<std::uint64_t, std::vector<std::byte>> records_by_lane_;
  std::map<std::uint64_t, std::string> thread_names_;  ///< by lane
  std::map<std::string, std::uint32_t, std::less<>> texts_;
  std::uint32_t paths_ = 0;
};

/// A directory that is there while the object lives.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

void write_bytes(const std::filesystem::path& file, const std::vector<std::byte>& bytes);

}  // namespace penstock::analysis::testing
