#include "analysis/sharing/teamwork.hpp"

#include <algorithm>

namespace penstock::analysis {

Share share_of(std::size_t items, const Team* team, std::size_t member) {
  const std::size_t members = team == nullptr ? 1 : team->size();
  const std::size_t each = items / members;
  const std::size_t with_one_more = items % members;
  const std::size_t begin = member * each + std::min(member, with_one_more);
  return {begin, begin + each + (member < with_one_more ? 1 : 0)};
}

}  // namespace penstock::analysis
