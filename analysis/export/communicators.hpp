// The communicators of a job as all its ranks know them together, and which number a rank bears in one. Knows
// no records of time and no format.
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
  std::vector<std::int32_t> members;  ///< of an intercommunicator: of the one group …
  std::vector<std::int32_t> others;   ///< … and of the other
  bool is_inter = false;
};

/// Numbers: 0 is MPI_COMM_WORLD, 1 MPI_COMM_SELF, further ones as they are met.
class JobCommunicators {
 public:
  static constexpr std::uint32_t world = 0;
  static constexpr std::uint32_t self = 1;

  JobCommunicators();

  /// What follows is asked of this rank. `name_of`: text of a string id of its recording.
  template <typename NameOf>
  void begin_rank(const RankTrace& rank, NameOf&& name_of) {
    begin(rank.header);
    for (const trace::Communicator& each : rank.communicators) {
      learn(each, name_of(each.name), rank.strings.at(each.members));
    }
  }

  /// The communicator that the present rank calls `local_id`; the world where its members are not known.
  [[nodiscard]] std::uint32_t number_of(std::uint32_t local_id) const;
  /// What number world rank `rank` bears in it, as the present rank addresses it. None: it is no member.
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

  // of the present rank
  std::int32_t rank_ = 0;
  std::unordered_map<std::uint32_t, std::uint32_t> by_local_id_;
  std::unordered_map<std::uint32_t, Places> places_;  ///< of those that it may send to
};

}  // namespace penstock::analysis::exports
