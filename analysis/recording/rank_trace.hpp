// One rank's recording in memory, sorted by record type: the window that the analysis works on. Must not know
// other ranks, nor draw conclusions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/recording/flaw.hpp"
#include "analysis/recording/recorded_part.hpp"
#include "analysis/recording/trace_reader.hpp"
#include "analysis/tables/id_table.hpp"
#include "interpose/record/trace_format.hpp"

namespace penstock::analysis {

/// The ids that a rank gives to its predefined communicators.
inline constexpr std::uint32_t world_local_id = 1;
inline constexpr std::uint32_t self_local_id = 2;

/// A record and the lane (a thread of the process, numbered from 0) that wrote it.
template <typename Record>
struct Laned {
  Record record;
  std::uint32_t lane;
};

using Call = Laned<trace::MpiCall>;
using Half = Laned<trace::MessageHalf>;
using Operation = Laned<trace::CollectiveOperation>;
using Transfer = Laned<trace::Transfer>;

/// A thread that wrote into a lane. A lane has several if they ran one after the other, and a thread several
/// lanes if it wrote rare records, too.
struct LaneThread {
  std::uint32_t lane;
  std::uint64_t thread_id;  ///< of the operating system
  std::string name;         ///< the program's own if it has none; empty: not known
  auto operator<=>(const LaneThread&) const = default;
};

/// Strings of one recording by id. An id that is missing (the recording was cut off) reads as "?".
class Strings {
 public:
  void append(const trace::Text& piece);
  [[nodiscard]] const std::string& at(std::uint32_t id) const;
  void clear() { by_id_.clear(); }

 private:
  IdTable<std::string> by_id_;
};

/// A frame of a call path, regardless of where its module was loaded.
struct RecordedFrame {
  std::string_view text;      ///< the module's path, empty if no mapping holds the address; or …
  trace::ModuleBuild build;   ///< of the module
  std::uint64_t address = 0;  ///< relative to the module; or python_frame_bit: `text` is a function of Python
  std::uint64_t offset = 0;   ///< in the module's file
};

/// Selects which records are kept.
enum class LoadOf : std::uint8_t {
  all,
  what_others_need,  ///< all but the records of CUDA and of the GPU; its kernels if the rank called NCCL
};

/// Owns copies of all records except those that no figure needs. Unit: ns of the rank's host clock.
struct RankTrace {
  trace::FileHeader header{};
  std::filesystem::path file;
  std::uint64_t begin_ns = 0;  ///< MPI_Init; or later, where knowledge of the job begins
  std::uint64_t end_ns = 0;    ///< MPI_Finalize, or the last record if the job never reached it; or earlier,
                               ///< where knowledge of the job ends
  std::uint64_t run_begin_ns = 0;  ///< the same without regard to knowledge
  std::uint64_t run_end_ns = 0;
  /// What the file lacks at its begin, and the halves without a key that ended before begin_ns.
  LostRecords lost;
  bool finished = false;
  std::uint64_t record_count = 0;
  bool has_gpu_records = false;  ///< kernels, copies or memsets
  Strings strings;
  std::vector<LaneThread> threads;  ///< by lane
  std::vector<trace::Module> modules;
  IdTable<std::vector<std::uint64_t>> call_paths;  ///< return addresses by id
  std::vector<trace::Communicator> communicators;  ///< each once, with its latest name
  std::vector<Call> calls;                         ///< by lane, then by time; calls of a lane do not overlap
  std::vector<Half> halves;
  std::vector<Operation> operations;  ///< non-blocking collectives
  std::vector<Transfer> transfers;
  std::vector<trace::DeviceActivity> kernels;
  std::vector<trace::DeviceActivity> copies;  ///< and memsets
  std::vector<trace::Range> ranges;
  std::vector<std::uint32_t> range_lanes;  ///< of each of `ranges`: the lane that wrote it
  std::vector<trace::CudaSynchronisation> synchronisations;
  std::vector<trace::GpuSample> gpu_samples;
  std::vector<trace::NcclCall> nccl_calls;  ///< of each thread in the order in which they ended
  std::vector<trace::Notice> notices;
  std::vector<trace::Fact> facts;
  std::vector<Flaw> flaws;

  [[nodiscard]] bool has(std::uint32_t feature) const noexcept { return (header.features & feature) != 0; }
  /// Returns true if the run went on when the recording, of this rank or another, did not.
  [[nodiscard]] bool is_cut() const noexcept { return end_ns < run_end_ns; }
  /// Returns true if the run had begun before that.
  [[nodiscard]] bool begins_late() const noexcept { return begin_ns > run_begin_ns; }
  [[nodiscard]] bool used_gpu() const noexcept { return has(trace::feature::gpu_used) || has_gpu_records; }
  /// Returns true for cudaStreamWaitEvent, in which a stream waits and not the host.
  [[nodiscard]] bool is_stream_wait(const trace::CudaSynchronisation& call) const {
    return strings.at(call.what) == "stream wait event";
  }
  /// Returns a communicator id that is the same on all its ranks; 0 if the recording does not contain it.
  [[nodiscard]] std::uint64_t global_communicator(std::uint32_t local_id) const noexcept {
    const std::uint64_t* const found = global_ids_.find(local_id);
    return found == nullptr ? 0 : *found;
  }
  /// Returns the mapping that holds an address of the process; null: none. A program has a few dozen.
  [[nodiscard]] const trace::Module* module_at(std::uint64_t address) const noexcept;
  /// Returns what a frame of return_addresses_of() is. Its text stays valid as long as `strings`.
  [[nodiscard]] RecordedFrame frame_at(std::uint64_t address) const;
  /// Adds a part of a path to `call_paths`; parts may come in any order.
  void add_part_of_path(const trace::CallPath& part);
  /// Returns the return addresses of a call site (MpiCall::call_site), innermost first: one or more. An
  /// unknown path has the address 0.
  [[nodiscard]] std::vector<std::uint64_t> return_addresses_of(std::uint64_t call_site) const;
  /// Returns the first of these as a call site of its own.
  [[nodiscard]] std::uint64_t innermost(std::uint64_t call_site) const;
  /// Returns the index of the call of `lane` that covers `time_ns`, else of any lane's; no_call if there is
  /// none. For many moments in sequence, use a CallCursor.
  [[nodiscard]] std::uint32_t call_at(std::uint32_t lane, std::uint64_t time_ns) const noexcept;
  /// Returns where the calls of each lane begin and end in `calls`.
  [[nodiscard]] const std::vector<std::pair<std::uint32_t, std::uint32_t>>& calls_of_lanes() const noexcept {
    return calls_of_lane_;
  }

  static constexpr std::uint32_t no_call = ~std::uint32_t{0};

 private:
  friend void load_rank(const std::filesystem::path& file, RankTrace& rank, LoadOf what,
                        const KnownTime& known);
  void clear();
  void forget_from(std::uint64_t time_ns);
  void forget_until(std::uint64_t time_ns);
  template <typename Keep>
  void keep_ranges(Keep keep);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> calls_of_lane_;  ///< begin and end in `calls`
  IdTable<std::uint64_t> global_ids_;
};

/// Loads a recording. Errors: TraceError if nothing is usable; RankTrace::flaws for damaged parts.
[[nodiscard]] RankTrace load_rank(const std::filesystem::path& file);
/// Loads into the memory of a rank that is no longer needed: mapping fresh pages costs more than reading.
/// `known`: what ends before it, or begins after it, is left out. Of a job that runs, the file may have lost
/// records since it was found: then the rank begins where it is complete.
void load_rank(const std::filesystem::path& file, RankTrace& rank, LoadOf what = LoadOf::all,
               const KnownTime& known = {});

}  // namespace penstock::analysis
