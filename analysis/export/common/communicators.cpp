#include "analysis/export/common/communicators.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/recording/member_list.hpp"

namespace penstock::analysis::exports {
namespace {

/// Limits the number of ranks, because a damaged header must not cost a file for each of two billion ranks.
/// Hardly any job is larger.
constexpr std::int32_t largest_world = 1 << 17;

}  // namespace

JobCommunicators::JobCommunicators() : all_(2) {
  all_[world].name = "MPI_COMM_WORLD";
  all_[self].name = "MPI_COMM_SELF";
}

void JobCommunicators::begin(const trace::FileHeader& header) {
  rank_ = header.world_rank;
  world_size_ = std::min(largest_world, std::max({world_size_, header.world_size, header.world_rank + 1}));
  by_local_id_ = {{world_local_id, world}, {self_local_id, self}};
  places_.clear();
}

void JobCommunicators::learn(const trace::Communicator& record, const std::string& name,
                             const std::string& members) {
  const bool is_predefined = record.local_id == world_local_id || record.local_id == self_local_id;
  if (is_predefined || record.global_id == 0) return;
  std::vector<std::int32_t> ranks = ranks_in(members, world_size_);
  if (ranks.empty()) return;
  const auto [known, is_new] =
      by_global_id_.try_emplace(record.global_id, static_cast<std::uint32_t>(all_.size()));
  const std::string made_up = fmt::format("communicator {}", known->second);
  if (is_new) all_.push_back({made_up, ranks, {}, record.is_inter != 0});
  JobCommunicator& communicator = all_[known->second];
  // not each rank need have named it
  if (!name.empty() && communicator.name == made_up) communicator.name = name;
  // each group of an intercommunicator recorded the other group
  if (communicator.is_inter && communicator.others.empty() && ranks != communicator.members)
    communicator.others = ranks;
  by_local_id_[record.local_id] = known->second;
  Places& places = places_[known->second];
  for (std::uint32_t i = 0; i < ranks.size(); ++i) places.try_emplace(ranks[i], i);
}

std::uint32_t JobCommunicators::number_of(std::uint32_t local_id) const {
  return known_number_of(local_id).value_or(world);
}

std::optional<std::uint32_t> JobCommunicators::known_number_of(std::uint32_t local_id) const {
  const auto found = by_local_id_.find(local_id);
  return found == by_local_id_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::uint32_t> JobCommunicators::rank_in(std::uint32_t number, std::int32_t rank) const {
  if (number == world) {
    return rank >= 0 && rank < world_size_ ? std::optional(static_cast<std::uint32_t>(rank)) : std::nullopt;
  }
  if (number == self) return rank == rank_ ? std::optional(0u) : std::nullopt;
  const auto places = places_.find(number);
  if (places == places_.end()) return std::nullopt;
  const auto found = places->second.find(rank);
  return found == places->second.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace penstock::analysis::exports
