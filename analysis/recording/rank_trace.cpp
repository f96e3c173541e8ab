#include "analysis/recording/rank_trace.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analysis/recording/trace_reader.hpp"

namespace penstock::analysis {
namespace {

/// Sorts records into the lists of a RankTrace.
struct Collector {
  RankTrace& rank;
  LoadOf what;
  std::unordered_map<std::uint64_t, std::uint32_t> lanes;
  IdTable<std::size_t> communicators;  ///< places in those of `rank`, by local id
  std::uint64_t last_ns = 0;
  std::uint64_t last_block_lane = 0;
  std::uint64_t last_block_thread = 0;
  std::uint32_t last_lane = 0;

  /// Returns the lane of the block's records; all records of a block belong to one lane.
  std::uint32_t lane_of(const trace::BlockHeader& block) {
    if (lanes.empty() || last_block_lane != block.lane || last_block_thread != block.thread_id) {
      begin_block(block);
    }
    return last_lane;
  }
  void begin_block(const trace::BlockHeader& block);
  template <std::size_t size>
  void note_thread(std::uint32_t lane, std::uint64_t thread_id, const char (&name)[size]) {
    rank.threads.push_back({lane, thread_id, std::string(name, strnlen(name, size))});
  }
  /// Counts a record of which only the end time is used.
  void pass_over(std::uint64_t end_ns) {
    ++rank.record_count;
    last_ns = std::max(last_ns, end_ns);
  }
  template <typename Record>
  void timed(std::vector<Laned<Record>>& list, const Record& record, std::uint64_t end_ns,
             const trace::BlockHeader& block) {
    ++rank.record_count;
    last_ns = std::max(last_ns, end_ns);
    const std::uint32_t lane = lane_of(block);
    Laned<Record>& place = list.emplace_back();  // copied once: what was just decoded is slow to be read
    place.record = record;
    place.lane = lane;
  }
  template <typename Record>
  void timed(std::vector<Record>& list, const Record& record) {
    ++rank.record_count;
    last_ns = std::max(last_ns, record.end_ns);
    list.push_back(record);
  }

  void operator()(const trace::Text& record, const trace::BlockHeader&) { rank.strings.append(record); }
  void operator()(const trace::Thread& record, const trace::BlockHeader& block) {
    note_thread(lane_of(block), record.thread_id, record.name);
  }
  void operator()(const trace::Module& record, const trace::BlockHeader&) { rank.modules.push_back(record); }
  void operator()(const trace::CallPath& record, const trace::BlockHeader&) { rank.add_part_of_path(record); }
  /// One that is named later, or known to all its members only later, has another record that says so.
  void operator()(const trace::Communicator& record, const trace::BlockHeader&) {
    if (const std::size_t* const known = communicators.find(record.local_id); known == nullptr) {
      communicators[record.local_id] = rank.communicators.size();
      rank.communicators.push_back(record);
    } else {
      trace::Communicator& kept = rank.communicators[*known];
      const std::uint32_t name = record.name != trace::no_string ? record.name : kept.name;
      if (kept.global_id == 0) kept = record;
      kept.name = name;
    }
  }
  void operator()(const trace::MpiCall& record, const trace::BlockHeader& block) {
    timed(rank.calls, record, record.end_ns, block);
  }
  void operator()(const trace::MessageHalf& record, const trace::BlockHeader& block) {
    timed(rank.halves, record, record.complete_ns, block);
  }
  void operator()(const trace::CollectiveOperation& record, const trace::BlockHeader& block) {
    timed(rank.operations, record, record.complete_ns, block);
  }
  void operator()(const trace::Transfer& record, const trace::BlockHeader& block) {
    timed(rank.transfers, record, record.end_ns, block);
  }
  void operator()(const trace::DeviceActivity& record, const trace::BlockHeader&) {
    rank.has_gpu_records = true;
    const bool is_kernel = record.kind == trace::RecordKind::kernel;
    if (what == LoadOf::what_others_need && !(is_kernel && rank.has(trace::feature::nccl))) {
      return pass_over(record.end_ns);
    }
    timed(is_kernel ? rank.kernels : rank.copies, record);
  }
  void operator()(const trace::Range& record, const trace::BlockHeader& block) {
    timed(rank.ranges, record);
    rank.range_lanes.push_back(lane_of(block));
  }
  void operator()(const trace::CudaSynchronisation& record, const trace::BlockHeader&) {
    if (what == LoadOf::what_others_need) {
      return pass_over(record.end_ns);
    }
    timed(rank.synchronisations, record);
  }
  /// Samples go on while a job hangs, so that they tell nothing of its end.
  void operator()(const trace::GpuSample& record, const trace::BlockHeader&) {
    ++rank.record_count;
    if (what == LoadOf::all) rank.gpu_samples.push_back(record);
  }
  void operator()(const trace::NcclCall& record, const trace::BlockHeader&) {
    timed(rank.nccl_calls, record);
  }
  void operator()(const trace::Notice& record, const trace::BlockHeader&) { rank.notices.push_back(record); }
  void operator()(const trace::Fact& record, const trace::BlockHeader&) { rank.facts.push_back(record); }
};

void Collector::begin_block(const trace::BlockHeader& block) {
  last_block_lane = block.lane;
  last_block_thread = block.thread_id;
  last_lane = lanes.try_emplace(block.lane, static_cast<std::uint32_t>(lanes.size())).first->second;
  note_thread(last_lane, block.thread_id, block.thread_name);
}

bool is_earlier_in_lane(const Call& left, const Call& right) {
  return left.lane != right.lane ? left.lane < right.lane : left.record.begin_ns < right.record.begin_ns;
}

}  // namespace

void Strings::append(const trace::Text& piece) {
  by_id_[piece.id].append(piece.characters, std::min<std::size_t>(piece.bytes, sizeof piece.characters));
}

const std::string& Strings::at(std::uint32_t id) const {
  static const std::string unknown = "?";
  const std::string* const found = by_id_.find(id);
  return found == nullptr ? unknown : *found;
}

const trace::Module* RankTrace::module_at(std::uint64_t address) const noexcept {
  const auto found = std::find_if(modules.begin(), modules.end(), [address](const trace::Module& each) {
    return each.begin <= address && address < each.end;
  });
  return found == modules.end() ? nullptr : &*found;
}

RecordedFrame RankTrace::frame_at(std::uint64_t address) const {
  if ((address & trace::python_frame_bit) != 0) {
    return {strings.at(static_cast<std::uint32_t>(address)), {}, trace::python_frame_bit, 0};
  }
  const trace::Module* const module = module_at(address);
  if (module == nullptr) {
    return {{}, {}, address, address};
  }
  return {strings.at(module->path), module->build, address - module->load_bias,
          address - module->begin + module->file_offset};
}

void RankTrace::add_part_of_path(const trace::CallPath& part) {
  std::vector<std::uint64_t>& path = call_paths[part.id];
  const std::size_t frames = std::min<std::size_t>(part.frames, std::size(part.return_addresses));
  path.resize(std::max(path.size(), part.first + frames));
  std::copy_n(part.return_addresses, frames, path.begin() + part.first);
}

std::vector<std::uint64_t> RankTrace::return_addresses_of(std::uint64_t call_site) const {
  if ((call_site & trace::call_path_bit) == 0) {
    return {call_site};
  }
  const auto id = static_cast<std::uint32_t>(call_site);
  const std::vector<std::uint64_t>* const path =
      call_site == (trace::call_path_bit | id) ? call_paths.find(id) : nullptr;
  if (path == nullptr || path->empty()) {
    return {0};
  }
  // where a part is missing, the path ends
  return {path->begin(), std::find(path->begin() + 1, path->end(), 0u)};
}

std::uint64_t RankTrace::innermost(std::uint64_t call_site) const {
  return (call_site & trace::call_path_bit) == 0 ? call_site : return_addresses_of(call_site).front();
}

std::uint32_t RankTrace::call_at(std::uint32_t lane, std::uint64_t time_ns) const noexcept {
  const auto in_lane = [this, time_ns](std::uint32_t which) {
    const auto [first, last] = calls_of_lane_[which];
    const auto begin = calls.begin() + first;
    const auto end = calls.begin() + last;
    const auto after = std::upper_bound(begin, end, time_ns, [](std::uint64_t time, const Call& call) {
      return time < call.record.begin_ns;
    });
    if (after == begin || (after - 1)->record.end_ns < time_ns) {
      return no_call;
    }
    return static_cast<std::uint32_t>(after - 1 - calls.begin());
  };
  if (lane < calls_of_lane_.size()) {
    if (const std::uint32_t own = in_lane(lane); own != no_call) {
      return own;
    }
  }
  for (std::uint32_t other = 0; other < calls_of_lane_.size(); ++other) {
    if (const std::uint32_t found = other == lane ? no_call : in_lane(other); found != no_call) {
      return found;
    }
  }
  return no_call;
}

/// Forgets the records but keeps their memory.
void RankTrace::clear() {
  record_count = 0;
  has_gpu_records = false;
  strings.clear();
  threads.clear();
  modules.clear();
  call_paths.clear();
  communicators.clear();
  calls.clear();
  halves.clear();
  operations.clear();
  transfers.clear();
  kernels.clear();
  copies.clear();
  ranges.clear();
  range_lanes.clear();
  synchronisations.clear();
  gpu_samples.clear();
  nccl_calls.clear();
  notices.clear();
  facts.clear();
  calls_of_lane_.clear();
  global_ids_.clear();
}

template <typename Keep>
void RankTrace::keep_ranges(Keep keep) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (keep(ranges[i])) {
      ranges[kept] = ranges[i];
      range_lanes[kept++] = range_lanes[i];
    }
  }
  ranges.resize(kept);
  range_lanes.resize(kept);
}

/// Leaves out what begins at that moment or later.
void RankTrace::forget_from(std::uint64_t time_ns) {
  const auto forget = [time_ns](auto& list, auto begin_of) {
    std::erase_if(list, [&](const auto& each) { return begin_of(each) >= time_ns; });
  };
  const auto begin = [](const auto& each) { return each.begin_ns; };
  const auto begin_in_lane = [](const auto& each) { return each.record.begin_ns; };
  const auto post = [](const auto& each) { return each.record.post_ns; };
  forget(calls, begin_in_lane);
  forget(halves, post);
  forget(operations, post);
  forget(transfers, begin_in_lane);
  forget(kernels, begin);
  forget(copies, begin);
  forget(synchronisations, begin);
  forget(gpu_samples, begin);
  forget(nccl_calls, begin);
  keep_ranges([time_ns](const trace::Range& each) { return each.begin_ns < time_ns; });
}

/// Leaves out what ended by that moment, and counts the halves among it as lost, but for those that their
/// keys identify.
void RankTrace::forget_until(std::uint64_t time_ns) {
  using Envelope = std::tuple<std::uint32_t, std::int32_t, std::int32_t, trace::Direction>;
  std::map<Envelope, trace::LostHalves> forgotten;
  for (const Half& each : halves) {
    const trace::MessageHalf& half = each.record;
    if (half.complete_ns <= time_ns && half.key == 0) {
      trace::LostHalves& of = forgotten[{half.communicator, half.peer, half.tag, half.direction}];
      ++of.halves;
      of.last_post_ns = std::max(of.last_post_ns, half.post_ns);
    }
  }
  const auto counts = [this](const Envelope& envelope) {
    return std::any_of(lost.halves.begin(), lost.halves.end(), [&](const trace::LostHalves& each) {
      return each.have_keys == 0 &&
             Envelope{each.communicator, each.peer, each.tag, each.direction} == envelope;
    });
  };
  for (auto& [envelope, of] : forgotten) {
    std::tie(of.communicator, of.peer, of.tag, of.direction) = envelope;
    // of an envelope that the file could not count, earlier halves may be lost, too
    if (lost.knows_all_halves || counts(envelope)) {
      lost.halves.push_back(of);
    }
  }
  const auto forget = [time_ns](auto& list, auto end_of) {
    std::erase_if(list, [&](const auto& each) { return end_of(each) <= time_ns; });
  };
  const auto end = [](const auto& each) { return each.end_ns; };
  const auto end_in_lane = [](const auto& each) { return each.record.end_ns; };
  const auto completion = [](const auto& each) { return each.record.complete_ns; };
  forget(calls, end_in_lane);
  forget(halves, completion);
  forget(operations, completion);
  forget(transfers, end_in_lane);
  forget(kernels, end);
  forget(copies, end);
  forget(synchronisations, end);
  forget(gpu_samples, end);
  std::erase_if(nccl_calls, [time_ns](const trace::NcclCall& each) {
    return each.end_ns <= time_ns && each.ranks == 0;  // later calls refer to those that made a communicator
  });
  keep_ranges([time_ns](const trace::Range& each) { return each.end_ns > time_ns; });
}

RankTrace load_rank(const std::filesystem::path& file) {
  RankTrace rank;
  load_rank(file, rank);
  return rank;
}

void load_rank(const std::filesystem::path& file, RankTrace& rank, LoadOf what, const KnownTime& known) {
  TraceReader reader(file);
  rank.clear();
  rank.file = file;
  rank.header = reader.header();
  Collector collector{.rank = rank, .what = what};
  rank.flaws = reader.for_each(collector);
  rank.lost = reader.lost();

  rank.begin_ns = rank.run_begin_ns = rank.header.begin_ns;
  rank.finished = rank.header.end_ns > rank.header.begin_ns;
  rank.end_ns = rank.finished ? rank.header.end_ns : std::max(rank.begin_ns, collector.last_ns);
  IdTable<bool> ends;
  for (const Call& each : rank.calls) {
    const bool* is_end = ends.find(each.record.function);
    if (is_end == nullptr) {
      is_end = &(ends[each.record.function] = rank.strings.at(each.record.function) == "MPI_Finalize");
    }
    if (*is_end && each.record.begin_ns > rank.begin_ns) {
      rank.end_ns =
          std::min(rank.end_ns, each.record.begin_ns);  // waiting for other ranks to end is not communication
    }
  }
  rank.run_end_ns = rank.end_ns;
  rank.end_ns = std::min(rank.end_ns, std::max(rank.begin_ns, known.until_ns));
  rank.begin_ns =
      std::clamp(std::max(known.from_ns, rank.lost.known_from_ns), rank.run_begin_ns, rank.end_ns);
  if (rank.is_cut()) {
    rank.forget_from(rank.end_ns);
  }
  if (rank.begins_late()) {
    rank.forget_until(rank.begin_ns);
  }
  std::sort(rank.threads.begin(), rank.threads.end());
  rank.threads.erase(std::unique(rank.threads.begin(), rank.threads.end()), rank.threads.end());
  for (const trace::Communicator& each : rank.communicators) {
    rank.global_ids_[each.local_id] = each.global_id;
  }
  if (!std::is_sorted(rank.calls.begin(), rank.calls.end(), is_earlier_in_lane)) {
    std::stable_sort(rank.calls.begin(), rank.calls.end(), is_earlier_in_lane);
  }
  rank.calls_of_lane_.resize(collector.lanes.size());
  for (std::uint32_t i = 0; i < rank.calls.size(); ++i) {
    auto& [first, last] = rank.calls_of_lane_[rank.calls[i].lane];
    if (last == 0) {
      first = i;
    }
    last = i + 1;
  }
}

}  // namespace penstock::analysis
