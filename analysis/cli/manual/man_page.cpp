#include "analysis/cli/manual/man_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include "analysis/cli/manual/version.hpp"

namespace penstock::cli {
namespace {

/// Makes a text safe for troff: hyphens stay hyphens, so that options can be copied; no line begins a macro.
std::string escaped(std::string_view text) {
  std::string out;
  bool is_code = false;
  bool begins_line = true;
  for (const char each : text) {
    if (begins_line && (each == '.' || each == '\'')) out += "\\&";
    begins_line = each == '\n';
    switch (each) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '~':
        out += "\\(ti";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '`':
        is_code = !is_code;
        out += is_code ? "\\fB" : "\\fR";
        break;
      default:
        out += each;
    }
  }
  return out;
}

std::string bold(std::string_view text) {
  return "\\fB" + escaped(text) + "\\fR";
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char each) { return static_cast<char>(std::toupper(each)); });
  return text;
}

std::string page_name(const CommandText& whole, const CommandText& command) {
  return &whole == &command ? whole.name : whole.name + "-" + command.name;
}

std::string head(const std::string& name, int section, const char* manual) {
  return fmt::format(".TH {} {} \"\" \"penstock {}\" \"{}\"\n", escaped(upper(name)), section,
                     escaped(version_number()), manual);
}

/// Lines that begin with blanks are examples or tables, and stay as they are.
std::string body(std::string_view text) {
  std::string out;
  bool is_example = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool is_now = line.starts_with(' ');
    if (is_now != is_example) out += is_now ? ".PP\n.nf\n" : ".fi\n";
    is_example = is_now;
    if (!line.empty()) {
      out += escaped(line) + "\n";
    } else if (!text.empty() && !text.starts_with(' ')) {
      out += ".PP\n";
    }
  }
  return out + (is_example ? ".fi\n" : "");
}

std::string item(const OptionText& option, bool is_positional) {
  std::string names;
  for (const std::string& each : option.names)
    names +=
        (names.empty() ? "" : ", ") + (is_positional ? fmt::format("\\fI{}\\fR", escaped(each)) : bold(each));
  const std::string argument = argument_with_default(option);
  return fmt::format(".TP\n{}{}{}\n{}\n", names, argument.empty() ? "" : " ",
                     argument.empty() ? "" : "\\fI" + escaped(argument) + "\\fR",
                     escaped(option.description));
}

std::string synopsis(const CommandText& whole, const CommandText& command) {
  std::string line = bold(&whole == &command ? whole.name : whole.name + " " + command.name);
  if (!command.groups.empty()) line += " [\\fIoptions\\fR]";
  if (!command.commands.empty()) line += " \\fIcommand\\fR";
  for (const OptionText& each : command.positionals) {
    const std::string name = "\\fI" + escaped(each.names.front()) + "\\fR" + (each.is_list ? " …" : "");
    line += each.is_required ? " " + name : " [" + name + "]";
  }
  if (command.takes_program) line += " \\fIprogram\\fR [\\fIarguments\\fR …]";
  return line + "\n";
}

std::string options(const CommandText& command) {
  std::string out;
  for (const OptionText& each : command.positionals) out += item(each, true);
  for (const OptionGroup& group : command.groups) {
    if (!group.title.empty()) out += fmt::format(".PP\n{}:\n", escaped(group.title));
    for (const OptionText& each : group.options) out += item(each, false);
  }
  return out.empty() ? out : ".SH OPTIONS\n" + out;
}

std::string see_also(const CommandText& whole, std::string_view without) {
  std::vector<std::string> pages;
  const auto add = [&](const std::string& name, int section) {
    if (name != without) pages.push_back(fmt::format("{}({})", bold(name), section));
  };
  add(whole.name, 1);
  for (const CommandText& each : whole.commands) add(page_name(whole, each), 1);
  for (const TopicRow& each : topics()) add(fmt::format("{}-{}", whole.name, each.name), 7);
  return fmt::format(".SH SEE ALSO\n{}\n", fmt::join(pages, ",\n"));
}

/// Returns the first line of a description, without a full stop.
std::string summary(const CommandText& command) {
  std::string line = command.description.substr(0, command.description.find('\n'));
  if (line.ends_with('.')) line.pop_back();
  if (!line.empty()) line.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(line.front())));
  return line;
}

}  // namespace

std::string man_page(const CommandText& whole, const CommandText& command) {
  const std::string name = page_name(whole, command);
  std::string page = head(name, 1, "Penstock");
  page += fmt::format(".SH NAME\n{} \\- {}\n", escaped(name), escaped(summary(command)));
  page += ".SH SYNOPSIS\n" + synopsis(whole, command);
  page += ".SH DESCRIPTION\n" + body(command.description);
  if (!command.commands.empty()) page += ".SH COMMANDS\n";
  for (const CommandText& each : command.commands) {
    page += fmt::format(".TP\n{}\n{}\n", bold(each.name), escaped(each.description));
  }
  page += options(command);
  if (!command.footer.empty()) page += ".SH NOTES\n" + body(command.footer);
  return page + see_also(whole, name);
}

std::string man_page(const Topic& topic, const CommandText& whole) {
  const std::string name = whole.name + "-" + topic.name;
  std::string page = head(name, 7, "Penstock");
  page += fmt::format(".SH NAME\n{} \\- {}\n.SH DESCRIPTION\n", escaped(name), escaped(topic.title));
  for (const TopicSection& section : topic.sections) {
    if (!section.title.empty()) page += fmt::format(".SS {}\n", escaped(section.title));
    bool is_first = true;
    for (const std::string& each : section.texts) {
      page += (is_first ? "" : ".PP\n") + escaped(each) + "\n";
      is_first = false;
    }
    for (const TopicEntry& each : section.entries) {
      page += fmt::format(".TP\n{}{}\n", bold(each.term),
                          each.note.empty() ? "" : " (" + escaped(each.note) + ")");
      is_first = true;
      for (const std::string& text : each.texts) {
        page += (is_first ? "" : ".IP\n") + escaped(text) + "\n";
        is_first = false;
      }
    }
  }
  return page + see_also(whole, name);
}

}  // namespace penstock::cli
