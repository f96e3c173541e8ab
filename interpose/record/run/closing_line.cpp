#include "interpose/record/run/closing_line.hpp"

#include <string_view>

namespace penstock::record {
namespace {

std::string quoted(std::string_view path) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./=:,@%";
  if (!path.empty() && path.find_first_not_of(plain) == std::string_view::npos) return std::string(path);
  std::string text = "'";
  for (const char each : path) {
    if (each == '\'')
      text += "'\\''";
    else
      text += each;
  }
  return text + "'";
}

std::string ranks_of(const Identity& identity) {
  const int size = identity.world_size;
  const std::string all = std::to_string(size) + (size == 1 ? " rank" : " ranks");
  return identity.recorded_by_all() ? all : std::to_string(identity.recorded_ranks) + " of " + all;
}

}  // namespace

std::string closing_line(const Identity& identity) {
  const std::string directory = quoted(identity.directory);
  const bool is_a_part = identity.keeps_last || identity.window.by != WindowRequest::By::nothing;
  return "recorded " + std::string(is_a_part ? "a part of the run of " : "") + ranks_of(identity) + " in " +
         directory + "; next: penstock report " + directory;
}

}  // namespace penstock::record
