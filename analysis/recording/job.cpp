#include "analysis/recording/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/recording/trace_reader.hpp"

namespace penstock::analysis {
namespace {

struct Candidate {
  std::filesystem::path file;
  trace::FileHeader header;
  KnownTime known;

  [[nodiscard]] std::uint64_t began_realtime_ns() const {
    return header.begin_ns + header.realtime_offset_ns;
  }
  [[nodiscard]] bool is_named_after_its_rank() const {
    return file.filename() == fmt::format("rank-{}.penstock", header.world_rank);
  }
};

/// Returns true if both files belong to one job: on one node, if their job ids are equal; on different nodes,
/// if nothing contradicts it: same size, begun within a minute, and the same command line or another rank
/// (several programs may be one job, and ranks may have arguments of their own).
bool are_of_one_job(const Candidate& left, const Candidate& right) {
  const trace::FileHeader& a = left.header;
  const trace::FileHeader& b = right.header;
  if (a.world_size != b.world_size) {
    return false;
  }
  if (std::string_view(a.host_name) == b.host_name) {
    return a.job_id_low == b.job_id_low && a.job_id_high == b.job_id_high;
  }
  constexpr std::uint64_t minute_ns = 60'000'000'000;
  const auto [early, late] = std::minmax({left.began_realtime_ns(), right.began_realtime_ns()});
  const bool may_be_others = std::string_view(a.program) == b.program || a.world_rank != b.world_rank;
  return may_be_others && late - early < minute_ns;
}

std::vector<std::filesystem::path> recordings_in(const std::filesystem::path& directory) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == ".penstock") {
      files.push_back(entry->path());
    }
  }
  if (error) {
    throw TraceError({directory, std::nullopt, error.message()});
  }
  if (files.empty()) {
    throw TraceError({directory, std::nullopt, "no recording in it (rank-*.penstock)"});
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Formats a list that may be very long, as "1, 2, 3 and 4 more".
class ShortList {
 public:
  void add(std::string item) {
    if (++count_ <= shown) {
      text_ += (text_.empty() ? "" : ", ") + std::move(item);
    }
  }
  /// Adds a range; items beyond the limit are only counted, not named one by one.
  void add_range(std::int64_t first, std::int64_t end) {
    for (std::int64_t item = first; item < end; ++item) {
      if (count_ >= shown) {
        count_ += end - item;
        return;
      }
      add(std::to_string(item));
    }
  }
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::string text() const {
    return count_ > shown ? fmt::format("{} and {} more", text_, count_ - shown) : text_;
  }

 private:
  static constexpr std::int64_t shown = 8;
  std::int64_t count_ = 0;
  std::string text_;
};

}  // namespace

Job find_job(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    throw TraceError({path, std::nullopt, "no such file or directory"});
  }
  const std::vector<std::filesystem::path> files =
      std::filesystem::is_directory(status) ? recordings_in(path) : std::vector{path};

  Job job;
  std::vector<Candidate> usable;
  for (const std::filesystem::path& file : files) {
    try {
      TraceReader reader(file);
      usable.push_back({file, reader.header(), known_time(reader)});
    } catch (const TraceError& unusable) {
      job.flaws.push_back(unusable.flaw());
    }
  }
  if (usable.empty()) {
    throw TraceError(job.flaws.front());
  }

  const Candidate newest =
      *std::max_element(usable.begin(), usable.end(), [](const auto& left, const auto& right) {
        return left.began_realtime_ns() < right.began_realtime_ns();
      });
  job.world_size = newest.header.world_size;
  const auto stale = std::stable_partition(usable.begin(), usable.end(), [&newest](const Candidate& each) {
    return are_of_one_job(newest, each);
  });
  if (stale != usable.end()) {
    ShortList names;
    std::for_each(stale, usable.end(),
                  [&names](const Candidate& each) { names.add(each.file.filename().string()); });
    job.flaws.push_back({path, std::nullopt,
                         fmt::format("holds several jobs; the newest is shown, left out: {}", names.text())});
    usable.erase(stale, usable.end());
  }

  std::stable_sort(usable.begin(), usable.end(), [](const Candidate& left, const Candidate& right) {
    return std::pair(left.header.world_rank, !left.is_named_after_its_rank()) <
           std::pair(right.header.world_rank, !right.is_named_after_its_rank());
  });
  ShortList missing;
  std::int32_t expected = 0;
  std::vector<RecordedRank> recorded;
  for (const Candidate& each : usable) {
    if (each.header.world_rank < expected) {
      job.flaws.push_back({each.file, std::nullopt,
                           fmt::format("a second recording of rank {}, left out", each.header.world_rank)});
      continue;
    }
    missing.add_range(expected, each.header.world_rank);
    expected = each.header.world_rank + 1;
    job.files.push_back(each.file);
    job.own_known.push_back(each.known);
    recorded.push_back({each.header.host_name, each.header.begin_ns, each.known});
  }
  // Of windows that were asked for each rank has its own: they begin with the same step, not at the same
  // time.
  const bool are_windows = std::all_of(usable.begin(), usable.end(), [](const Candidate& each) {
    return is_of_window(each.header, each.known);
  });
  job.known = are_windows ? job.own_known : known_times(recorded);
  missing.add_range(expected, job.world_size);
  const bool is_wanted = (newest.header.features & trace::feature::some_ranks) != 0;
  if (missing.count() != 0 && is_wanted) {
    job.flaws.push_back(
        {path, std::nullopt,
         fmt::format("only some ranks were to be recorded, and not rank {} (of {} ranks); waits "
                     "for {} cannot be explained",
                     missing.text(), job.world_size, missing.count() == 1 ? "it" : "them")});
  } else if (missing.count() != 0) {
    job.flaws.push_back(
        {path, std::nullopt,
         fmt::format("no recording of rank {} (of {} ranks); waits for {} cannot be explained",
                     missing.text(), job.world_size, missing.count() == 1 ? "it" : "them"),
         std::filesystem::is_directory(status)});  // else one rank was asked for
  }
  return job;
}

}  // namespace penstock::analysis
