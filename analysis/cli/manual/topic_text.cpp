#include "analysis/cli/manual/topic_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace penstock::cli {
namespace {

/// Entries stand in two columns if none has several paragraphs, and if they are short or some say nothing.
bool is_short(const TopicSection& section) {
  const auto& all = section.entries;
  const auto is_small = [](const TopicEntry& each) { return each.term.size() + each.note.size() < 24; };
  return std::all_of(all.begin(), all.end(), [](const TopicEntry& each) { return each.texts.size() <= 1; }) &&
         (std::all_of(all.begin(), all.end(), is_small) ||
          std::any_of(all.begin(), all.end(), [](const TopicEntry& each) { return each.texts.empty(); }));
}

std::string entry_text(const TopicEntry& each, bool is_short, const Screen& screen) {
  const std::string note = each.note.empty() ? "" : fmt::format(" ({})", each.note);
  if (is_short) return entry(each.term + note, each.texts.empty() ? "" : each.texts.front(), screen);
  std::string text = paragraphs(
      screen.has_colours ? fmt::format("\033[1m{}\033[0m{}", each.term, note) : each.term + note, screen, 2);
  for (const std::string& line : each.texts) text += paragraphs(line, screen, 6);
  return text;
}

}  // namespace

std::string text_of(const Topic& topic, const Screen& screen) {
  std::string text = heading(fmt::format("penstock: {}", topic.title), screen);
  for (const TopicSection& section : topic.sections) {
    text += "\n";
    if (!section.title.empty()) text += heading(section.title, screen);
    bool is_first = true;
    for (const std::string& each : section.texts) {
      text += (is_first ? "" : "\n") + paragraphs(each, screen);
      is_first = false;
    }
    const bool in_columns = is_short(section);
    if (!section.texts.empty() && !section.entries.empty()) text += "\n";
    is_first = true;
    for (const TopicEntry& each : section.entries) {
      // entries of several lines are set apart
      text += (is_first || in_columns ? "" : "\n") + entry_text(each, in_columns, screen);
      is_first = false;
    }
  }
  return text;
}

}  // namespace penstock::cli
