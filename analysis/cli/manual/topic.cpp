#include "analysis/cli/manual/topic.hpp"

#include <array>

namespace penstock::cli {
namespace {

constexpr std::array topic_table = {
    TopicRow{"causes", causes_topic}, TopicRow{"transports", transports_topic},
    TopicRow{"variables", variables_topic}, TopicRow{"figures", figures_topic}};

}  // namespace

std::span<const TopicRow> topics() noexcept {
  return topic_table;
}

std::string topic_names() {
  std::string names;
  for (const TopicRow& each : topic_table) names.append(names.empty() ? "" : ", ").append(each.name);
  return names;
}

std::string sentence(std::string_view words) {
  std::string text(words);
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') {
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  }
  return text + ".";
}

}  // namespace penstock::cli
