#include "tests/analysis/known_job_check.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>

namespace penstock::analysis::testing {
namespace {

class Differences {
 public:
  explicit Differences(std::size_t most) : most_(most) {}
  void compare(std::string_view what, std::uint64_t reported, std::uint64_t known) {
    if (reported != known && lines_.size() < most_) {
      lines_.push_back(fmt::format("{}: reported {}, known {}", what, reported, known));
    }
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(lines_); }

 private:
  std::size_t most_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> differences(const Report& report, const KnownJob& job, std::size_t most) {
  Differences found(most);
  TimeByCause by_cause{};
  std::uint64_t messages = 0;
  std::uint64_t total_ns = 0;
  found.compare("ranks", report.ranks.size(), static_cast<std::uint64_t>(job.ranks()));
  for (const RankFigures& rank : report.ranks) {
    const KnownRank known = job.answer(rank.rank);
    const auto compare = [&](std::string_view what, std::uint64_t reported, std::uint64_t expected) {
      found.compare(fmt::format("rank {}, {}", rank.rank, what), reported, expected);
    };
    std::uint64_t exposed_ns = 0;
    for (std::size_t i = 0; i < cause_count; ++i) {
      compare(name_of(static_cast<Cause>(i)), rank.by_cause[i], known.by_cause[i]);
      by_cause[i] += known.by_cause[i];
      exposed_ns += known.by_cause[i];
    }
    compare("total", rank.total_ns, known.total_ns);
    compare("exposed", rank.exposed_ns, exposed_ns);
    compare("counted", rank.counted_ns, exposed_ns);
    compare("K", rank.kernels_ns, known.kernels_ns);
    compare("H", rank.host_ns, known.host_ns);
    compare("C", rank.communication_ns, known.communication_ns);
    compare("hidden", rank.hidden_ns, known.hidden_ns);
    messages += known.messages;
    total_ns += known.total_ns;
  }
  for (std::size_t i = 0; i < cause_count; ++i) {
    found.compare(name_of(static_cast<Cause>(i)), report.by_cause[i], by_cause[i]);
  }
  found.compare("total", report.total_ns, total_ns);
  found.compare("steps", report.steps ? report.steps->each.size() : 0, job.steps());
  found.compare("unmatched halves", report.unmatched_halves, 0);
  found.compare(
      "messages",
      std::accumulate(report.transports.begin(), report.transports.end(), std::uint64_t{0},
                      [](std::uint64_t sum, const TransportFigures& each) { return sum + each.messages; }),
      messages);
  return found.take();
}

}  // namespace penstock::analysis::testing
