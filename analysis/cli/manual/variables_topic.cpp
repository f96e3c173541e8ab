// penstock help variables. The table is interpose/node/variables.def, by which the library reads them.
#include <string>
#include <string_view>

#include "analysis/cli/manual/topic.hpp"
#include "transports/kinds/transport_kind.hpp"

namespace penstock::cli {
namespace {

enum class Audience { user, tester };

struct Variable {
  const char* name;
  Audience audience;
  const char* values;
  std::string_view otherwise;
  const char* text;
};

constexpr Variable variables[] = {
#define PENSTOCK_VARIABLE(name, audience, read, values, otherwise, text) \
  {"PENSTOCK_" #name, Audience::audience, values, otherwise, text},
#include "interpose/node/variables.def"
};

TopicSection section_for(Audience audience, const char* title, std::string text) {
  TopicSection section{title, {std::move(text)}, {}};
  for (const Variable& each : variables) {
    if (each.audience != audience) continue;
    const std::string otherwise = each.otherwise.empty() ? "" : "; default: " + std::string(each.otherwise);
    section.entries.push_back({each.name, each.values + otherwise, {each.text}});
  }
  return section;
}

}  // namespace

Topic variables_topic() {
  Topic topic{"variables", "environment variables that a job's ranks and the command read", {}};
  topic.sections.push_back(section_for(
      Audience::user, "",
      "The library reads them in `MPI_Init`, on each rank; a name that it does not know, and a value that it "
      "cannot read, is told on a line. `penstock run` sets those that it has an option for."));
  topic.sections.push_back(section_for(Audience::tester, "For tests, and for finding out what is wrong",
                                       "Not meant for daily use."));
  topic.sections.push_back(
      {"Variables of other programs",
       {},
       {{"NO_COLOR", "", {"set to anything: no colours in a terminal (https://no-color.org)"}},
        {"COLUMNS", "", {"width of reports, `--help` and `penstock help`, instead of the terminal's"}},
        {"XDG_CONFIG_HOME",
         "default: ~/.config",
         {"the folder in which `penstock tune` keeps what it measured"}},
        {"GIT_COMMIT",
         "",
         {"the program's commit, for `penstock trend`, where it cannot be told from the work tree"}}}});
  return topic;
}

}  // namespace penstock::cli
