// Programs of equal ranks, run by rules simple enough that a fault that is planted in one, and its mending,
// cost what they cost to the nanosecond. Writes the recording of what it runs. Test only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis::testing {

/// A time that may differ by rank. Unit: ns.
class ByRank {
 public:
  // both implicit, so that a program reads as one
  ByRank(std::uint64_t time_ns) : of_rank_([time_ns](std::size_t) { return time_ns; }) {}
  ByRank(std::function<std::uint64_t(std::size_t)> of_rank) : of_rank_(std::move(of_rank)) {}
  [[nodiscard]] std::uint64_t of(std::size_t rank) const { return of_rank_(rank); }

 private:
  std::function<std::uint64_t(std::size_t)> of_rank_;
};

/// A message of each rank to the next one, in a ring. `name` joins its calls.
struct PlantedMessage {
  std::string_view name;
  std::uint64_t wire_ns;  ///< once both sides are posted
  std::uint64_t bytes = 1 << 20;
  std::uint64_t more_from_rank_0_ns = 0;  ///< on the wire
  [[nodiscard]] std::uint64_t wire_ns_from(std::size_t rank) const {
    return wire_ns + (rank == 0 ? more_from_rank_0_ns : 0);
  }
};

/// Runs what each rank does, call by call: all ranks do the first, then all the second. Each MPI call of a
/// message or a collective has a call site of its own. Unit: ns.
class PlantedJob {
 public:
  static constexpr std::uint32_t main_stream = 7;

  explicit PlantedJob(std::size_t ranks);
  void host_code(const ByRank& time_ns);
  void launch(std::string_view kernel, const ByRank& time_ns, std::uint32_t stream = main_stream);
  void synchronise(std::uint32_t stream = main_stream);
  /// Copies host → device (1) or device → host (2), and waits for it.
  void copy(std::uint8_t kind, std::uint64_t bytes, std::uint64_t time_ns);
  void isend(const PlantedMessage& message);
  void irecv(const PlantedMessage& message);
  /// Completes what else is posted to be received, but no send.
  void recv(const PlantedMessage& message);
  void sendrecv(const PlantedMessage& message);
  /// Waits for everything that is posted.
  void waitall(std::string_view name);
  void allreduce(std::string_view name, std::uint64_t bytes, std::uint64_t time_ns);
  /// Opens its memory to the previous rank, puts into that of the next one, and waits for what it gets.
  void put_to_next(const PlantedMessage& message);
  void push(std::string_view range);
  void pop();

  /// Returns how long the job takes, and its recordings.
  [[nodiscard]] std::uint64_t finish();
  [[nodiscard]] const std::vector<RecordingBuilder>& ranks() const noexcept { return builders_; }

 private:
  struct Posted {
    std::size_t message;
    trace::Direction direction;
    std::uint64_t post_ns;
    std::uint64_t call_site;
  };
  struct Sent {
    std::vector<std::uint64_t> sends_ns;     ///< when each rank posted its send; 0: not yet
    std::vector<std::uint64_t> receives_ns;  ///< likewise its receive
    PlantedMessage what;
  };
  struct Rank {
    std::uint64_t now_ns = 0;
    std::map<std::uint32_t, std::uint64_t> stream_ends_ns;
    std::vector<Posted> posted;
    std::vector<std::pair<std::string, std::uint64_t>> ranges;
    std::uint32_t correlation = 0;
  };
  [[nodiscard]] std::size_t size() const noexcept { return ranks_.size(); }
  [[nodiscard]] std::uint64_t site_of(std::string_view function, std::string_view name);
  [[nodiscard]] std::size_t next_message(const PlantedMessage& message, trace::Direction direction);
  void post(const PlantedMessage& message, trace::Direction direction, std::uint64_t call_site);
  /// A call on a window that begins now and waits until a rank lets it go on, at `until_ns`.
  void wait_at_window(std::string_view function, std::string_view name, std::size_t rank, std::size_t awaited,
                      std::uint64_t until_ns);
  /// Completes what is posted of all ranks, in a call that begins now; but for sends, if it is no `of_sends`.
  void complete(std::string_view function, std::uint64_t call_site, std::uint64_t bytes, bool is_blocking,
                bool of_sends = true);

  std::vector<Rank> ranks_;
  std::vector<RecordingBuilder> builders_;
  std::map<std::string, std::uint64_t> sites_;
  std::vector<Sent> messages_;
  std::map<std::string, std::size_t> open_sends_;  ///< by name: messages that lack their other side
  std::map<std::string, std::size_t> open_receives_;
  std::uint32_t collectives_ = 0;
  bool has_window_ = false;
};

}  // namespace penstock::analysis::testing
