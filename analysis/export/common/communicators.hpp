// The communicators of a job, combined from all its ranks, and each rank's number in them. Must not know
// timed records or formats.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/recording/rank_trace.hpp"

namespace penstock::analysis::exports {

/// Ranks are those of MPI_COMM_WORLD.
struct JobCommunicator {
  std::string name;
  std::vector<std::int32_t> members;  ///< of an intercommunicator: one group
  std::vector<std::int32_t> others;   ///< of an intercommunicator: the other group
  bool is_inter = false;
};

/// Numbers: 0 is MPI_COMM_WORLD, 1 MPI_COMM_SELF; others follow in order of first use.
class JobCommunicators {
 public:
  static constexpr std::uint32_t world = 0;
  static constexpr std::uint32_t self = 1;

  JobCommunicators();

  /// Starts a rank: later queries concern it. `name_of`: returns the text of a string id of its recording.
  template <typename NameOf>
  void begin_rank(const RankTrace& rank, NameOf&& name_of) {
    begin(rank.header);
    for (const trace::Communicator& each : rank.communicators) {
      learn(each, name_of(each.name), rank.strings.at(each.members));
    }
  }

  /// Returns the current rank's communicator `local_id`; the world if its members are unknown.
  [[nodiscard]] std::uint32_t number_of(std::uint32_t local_id) const;
  /// Returns the same; nullopt if its members are unknown.
  [[nodiscard]] std::optional<std::uint32_t> known_number_of(std::uint32_t local_id) const;
  /// Returns the number by which the current rank addresses world rank `rank` in it; nullopt if that is no
  /// member.
  [[nodiscard]] std::optional<std::uint32_t> rank_in(std::uint32_t number, std::int32_t rank) const;

  [[nodiscard]] const std::vector<JobCommunicator>& all() const noexcept { return all_; }
  [[nodiscard]] std::int32_t world_size() const noexcept { return world_size_; }

 private:
  void begin(const trace::FileHeader& header);
  void learn(const trace::Communicator& record, const std::string& name, const std::string& members);

  using Places = std::unordered_map<std::int32_t, std::uint32_t>;  ///< by world rank

  std::vector<JobCommunicator> all_;
  std::map<std::uint64_t, std::uint32_t> by_global_id_;
  std::int32_t world_size_ = 0;

  // State of the current rank.
  std::int32_t rank_ = 0;
  std::unordered_map<std::uint32_t, std::uint32_t> by_local_id_;
  std::unordered_map<std::uint32_t, Places> places_;  ///< of the groups that it may send to
};

}  // namespace penstock::analysis::exports
