// Whatever bytes lie in a directory, `penstock report` ends with a report whose sums agree or with a
// TraceError. The input is one or more recordings, one behind the other, told apart by the magic that each
// begins with. Built with libFuzzer (README.md) it searches for inputs that break this; built without, it
// goes through the files that it is given.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "analysis/comparison/diff.hpp"
#include "analysis/comparison/diff_text.hpp"
#include "analysis/job_timeline/job_timeline.hpp"
#include "analysis/pipeline/analyse.hpp"
#include "analysis/report/json/report_json.hpp"
#include "analysis/report/text/report_text.hpp"
#include "interpose/record/trace_format.hpp"

namespace {

using namespace penstock;

void require(bool holds, const char* what) {
  if (!holds) {
    std::fprintf(stderr, "broken: %s\n", what);
    std::abort();
  }
}

/// A directory of this process. Its name is not one of the library's: tests look for what that leaves behind.
const std::filesystem::path& directory() {
  static const std::filesystem::path path = [] {
    std::string pattern = (std::filesystem::temp_directory_path() / "report-fuzz-XXXXXX").string();
    require(::mkdtemp(pattern.data()) != nullptr, "no directory could be made");
    static const struct Remover {
      std::filesystem::path path;
      ~Remover() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
      }
    } remover{pattern};
    return remover.path;
  }();
  return path;
}

/// Where recordings begin.
std::vector<std::size_t> beginnings(const std::uint8_t* data, std::size_t size) {
  std::vector<std::size_t> found{0};
  std::uint8_t magic[sizeof trace::file_magic];
  std::memcpy(magic, &trace::file_magic, sizeof magic);
  constexpr std::size_t most_files = 4;
  for (const std::uint8_t* at = data + std::min<std::size_t>(size, 1); found.size() < most_files;) {
    at = std::search(at, data + size, std::begin(magic), std::end(magic));
    if (at == data + size) {
      break;
    }
    found.push_back(static_cast<std::size_t>(at - data));
    ++at;
  }
  return found;
}

void write_recordings(const std::uint8_t* data, std::size_t size) {
  for (const auto& old : std::filesystem::directory_iterator(directory())) {
    std::filesystem::remove(old.path());
  }
  const std::vector<std::size_t> begins = beginnings(data, size);
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const std::size_t end = i + 1 < begins.size() ? begins[i + 1] : size;
    std::ofstream file(directory() / ("rank-" + std::to_string(i) + ".penstock"), std::ios::binary);
    file.write(reinterpret_cast<const char*>(data) + begins[i],
               static_cast<std::streamsize>(end - begins[i]));
  }
}

std::uint64_t sum_of(const analysis::TimeByCause& times) {
  return std::accumulate(times.begin(), times.end(), std::uint64_t{0});
}

void check(const analysis::Report& report) {
  require(sum_of(report.by_cause) == report.counted_ns, "the causes sum to what is counted");
  require(report.counted_ns <= report.total_ns, "no more is counted than there is");
  std::uint64_t of_ranks_ns = 0;
  for (const analysis::RankFigures& rank : report.ranks) {
    of_ranks_ns += rank.counted_ns;
    require(rank.hidden_ns + rank.upper_bound_ns == rank.communication_ns,
            "communication is hidden or exposed");
    require(rank.exposed_ns <= rank.upper_bound_ns, "the lower figure is no larger than the upper bound");
  }
  require(of_ranks_ns == report.counted_ns, "the ranks sum to what is counted");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  write_recordings(data, size);
  for (const bool whole_run : {false, true}) {
    try {
      constexpr std::size_t too_little = 2000;  // so that pieces must be left out
      analysis::job_timeline::JobTimeline timeline(
          whole_run ? analysis::job_timeline::Budget{}
                    : analysis::job_timeline::Budget{.pieces = too_little, .texts = 50, .messages = 2});
      const analysis::Report report = analysis::analyse(directory(), {.whole_run = whole_run}, &timeline);
      check(report);
      require(!timeline.json().empty(), "a report has a timeline");
      require(!analysis::to_text(report, {.colours = true, .top = 50, .all = true}).empty(),
              "a report has a text");
      require(!analysis::to_json(report).empty(), "a report has JSON");
      const analysis::Diff diff = analysis::compare({report}, {report});
      require(!analysis::to_text(diff, false, 8).empty() && !analysis::to_json(diff).empty(),
              "a comparison has a text");
    } catch (const analysis::TraceError& error) {
      require(!error.flaw().file.empty(), "an error names its file");
    }
  }
  return 0;
}

#ifdef PENSTOCK_LIBFUZZER

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

/// Half of the time as any fuzzer does; else by records, which random bytes hardly ever get whole: one is
/// copied over or behind another, or a field of eight or four bytes is taken from another place.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned int seed) {
  std::minstd_rand random(seed);
  const std::size_t records = size / trace::record_bytes;
  if (random() % 2 == 0 || records < 2) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  const auto record = [&] { return data + random() % records * trace::record_bytes; };
  switch (random() % 4) {
    case 0:
      std::memmove(record(), record(), trace::record_bytes);
      return size;
    case 1:
      if (size + trace::record_bytes <= max_size) {
        std::memmove(data + size, record(), trace::record_bytes);
        return size + trace::record_bytes;
      }
      return size;
    default: {
      const std::size_t bytes = random() % 2 == 0 ? 8 : 4;
      const std::size_t field = random() % (trace::record_bytes / bytes) * bytes;
      std::memmove(record() + field, record() + field, bytes);
      return size;
    }
  }
}

#else

int main(int argc, char** argv) {
  int files = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      std::ifstream file(entry.path(), std::ios::binary);
      const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
      std::printf("%s\n", entry.path().filename().c_str());
      std::fflush(stdout);  // the last one is the culprit
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
      ++files;
    }
  }
  std::printf("%d files\n", files);
  return files == 0 ? 1 : 0;
}

#endif
