#include "analysis/joining/message_class.hpp"

namespace penstock::analysis {

std::uint8_t size_class_of(std::uint64_t bytes) noexcept {
  std::uint8_t size_class = 0;
  for (const std::uint64_t limit : size_limits_bytes) {
    if (bytes > limit) {
      ++size_class;
    }
  }
  return size_class;
}

std::uint64_t size_limit_of(std::uint64_t bytes) noexcept {
  return limit_of_size_class(size_class_of(bytes));
}

std::uint64_t limit_of_size_class(std::size_t size_class) noexcept {
  return size_class < std::size(size_limits_bytes) ? size_limits_bytes[size_class] : 0;
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
