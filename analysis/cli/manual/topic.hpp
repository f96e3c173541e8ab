// Topics are what `penstock help TOPIC` explains, and man pages of section 7. Must not know how it is shown.
// A topic is made of the tables that the code goes by wherever there is one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::cli {

/// Texts have code between `backticks`.
struct TopicEntry {
  std::string term;
  std::string note;  ///< behind the term: its name in JSON, its default; may be empty
  std::vector<std::string> texts;
};

struct TopicSection {
  std::string title;  ///< may be empty
  std::vector<std::string> texts;
  std::vector<TopicEntry> entries;
};

struct Topic {
  std::string name;   ///< "causes"
  std::string title;  ///< one line, without a full stop
  std::vector<TopicSection> sections;
};

struct TopicRow {
  std::string_view name;
  Topic (*make)();
};

/// All topics, in the order in which they are listed.
[[nodiscard]] std::span<const TopicRow> topics() noexcept;
/// "causes, transports, variables, figures"
[[nodiscard]] std::string topic_names();

/// Returns "The host waits." for "the host waits".
[[nodiscard]] std::string sentence(std::string_view words);

[[nodiscard]] Topic causes_topic();
[[nodiscard]] Topic transports_topic();
[[nodiscard]] Topic variables_topic();
[[nodiscard]] Topic figures_topic();

}  // namespace penstock::cli
