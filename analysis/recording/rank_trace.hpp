// One rank's recording in memory, sorted by what the records are: the window that the analysis works on. Must
// not know other ranks, nor draw conclusions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/recording/flaw.hpp"
#include "analysis/tables/id_table.hpp"
#include "interpose/record/trace_format.hpp"

namespace penstock::analysis {

/// A record and the lane (a thread of the job, numbered from 0) that wrote it.
template <typename Record>
struct Laned {
  Record record;
  std::uint32_t lane;
};

using Call = Laned<trace::MpiCall>;
using Half = Laned<trace::MessageHalf>;
using Operation = Laned<trace::CollectiveOperation>;
using Transfer = Laned<trace::Transfer>;

/// Strings of one recording by id. An id that the recording does not hold (it was cut off) reads as "?".
class Strings {
 public:
  void append(const trace::Text& piece);
  [[nodiscard]] const std::string& at(std::uint32_t id) const;
  void clear() { by_id_.clear(); }

 private:
  IdTable<std::string> by_id_;
};

/// Which records are kept.
enum class LoadOf : std::uint8_t {
  all,
  what_others_need,  ///< without those of the GPU and of CUDA
};

/// Owns copies of all records but those that no figure needs. Unit: ns of the rank's host clock.
struct RankTrace {
  trace::FileHeader header{};
  std::filesystem::path file;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;  ///< MPI_Finalize, or the last record where the job never came there
  bool finished = false;
  std::uint64_t record_count = 0;
  bool has_gpu_records = false;  ///< kernels, copies or memsets
  Strings strings;
  std::vector<trace::Module> modules;
  std::vector<trace::Communicator> communicators;
  std::vector<Call> calls;  ///< by lane, then by time; calls of a lane do not overlap
  std::vector<Half> halves;
  std::vector<Operation> operations;  ///< non-blocking collectives
  std::vector<Transfer> transfers;
  std::vector<trace::DeviceActivity> kernels;
  std::vector<trace::DeviceActivity> copies;  ///< and memsets
  std::vector<trace::Range> ranges;
  std::vector<std::uint32_t> range_lanes;  ///< of each of `ranges`: the lane that wrote it
  std::vector<trace::CudaSynchronisation> synchronisations;
  std::vector<trace::Notice> notices;
  std::vector<Flaw> flaws;

  [[nodiscard]] bool has(std::uint32_t feature) const noexcept { return (header.features & feature) != 0; }
  [[nodiscard]] bool used_gpu() const noexcept { return has(trace::feature::gpu_used) || has_gpu_records; }
  /// Id of a communicator that is the same on all its ranks; 0 when the recording does not tell.
  [[nodiscard]] std::uint64_t global_communicator(std::uint32_t local_id) const noexcept;
  /// Index of the call of `lane` that covers `time_ns`, else of any lane's; no_call if none does. Many
  /// moments that follow each other are asked for through a CallCursor.
  [[nodiscard]] std::uint32_t call_at(std::uint32_t lane, std::uint64_t time_ns) const noexcept;
  /// Where the calls of each lane begin and end in `calls`.
  [[nodiscard]] const std::vector<std::pair<std::uint32_t, std::uint32_t>>& calls_of_lanes() const noexcept {
    return calls_of_lane_;
  }

  static constexpr std::uint32_t no_call = ~std::uint32_t{0};

 private:
  friend void load_rank(const std::filesystem::path& file, RankTrace& rank, LoadOf what);
  void clear();
  std::vector<std::pair<std::uint32_t, std::uint32_t>> calls_of_lane_;  ///< begin and end in `calls`
  IdTable<std::uint64_t> global_ids_;
};

/// Errors: TraceError when nothing of it can be used; RankTrace::flaws for parts.
[[nodiscard]] RankTrace load_rank(const std::filesystem::path& file);
/// The same into the memory of a rank that is no longer needed: mapping fresh pages costs more than reading.
void load_rank(const std::filesystem::path& file, RankTrace& rank, LoadOf what = LoadOf::all);

}  // namespace penstock::analysis
