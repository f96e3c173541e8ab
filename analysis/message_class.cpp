#include "analysis/message_class.hpp"

#include <algorithm>
#include <iterator>

namespace penstock::analysis {

std::uint64_t size_limit_of(std::uint64_t bytes) noexcept {
  const auto* const limit =
      std::lower_bound(std::begin(size_limits_bytes), std::end(size_limits_bytes), bytes);
  return limit == std::end(size_limits_bytes) ? 0 : *limit;
}

MessageClasses::MessageClasses() : classes_(1) {
  static_cast<void>(reasons_.id_of(""));
}

std::uint32_t MessageClasses::id_of(const MessageClass& message_class) {
  const auto [known, is_new] = ids_.try_emplace(message_class, static_cast<std::uint32_t>(classes_.size()));
  if (is_new) {
    classes_.push_back(message_class);
  }
  return known->second;
}

}  // namespace penstock::analysis
