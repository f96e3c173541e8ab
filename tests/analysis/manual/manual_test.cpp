// The command explains itself: --help, `penstock help`, man pages and completions tell of all options,
// and of every row of the tables that they are made of.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/causes/cause.hpp"
#include "analysis/layout/text_table.hpp"
#include "analysis/report/conclusions/efficiency_names.hpp"
#include "analysis/report/part_figures.hpp"
#include "tests/analysis/recording_builder.hpp"
#include "transports/kinds/transport_kind.hpp"

namespace penstock::analysis {
namespace {

struct Said {
  int exit_code;
  std::string output;
  std::string errors;
};

std::string read_all_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// Runs `penstock <arguments>` by a shell, in front of which stand `settings`.
Said say(const std::string& arguments, const std::string& settings = "COLUMNS=100") {
  const testing::TemporaryDirectory directory;
  const std::string out = (directory.path() / "out").string();
  const std::string err = (directory.path() / "err").string();
  const int status =
      std::system((settings + " " PENSTOCK_COMMAND " " + arguments + " >" + out + " 2>" + err).c_str());
  return {WEXITSTATUS(status), read_all_of(out), read_all_of(err)};
}

/// Returns the text with one blank between words, so that texts can be found that are broken into lines.
/// Marks of code are left out.
std::string in_one_line(std::string_view text) {
  std::string line;
  for (const char each : text) {
    if (each == '`' || each == '\'' || each == '*') continue;
    const bool is_blank = std::isspace(static_cast<unsigned char>(each)) != 0;
    if (!is_blank || (!line.empty() && line.back() != ' ')) line += is_blank ? ' ' : each;
  }
  return line;
}

std::vector<std::string> commands() {
  std::vector<std::string> names;
  const std::string help = say("--help").output;
  std::istringstream lines(help.substr(help.find("Subcommands:")));
  static const std::regex row("  ([a-z]+)  .*");
  std::smatch found;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_match(line, found, row)) names.push_back(found[1]);
  }
  return names;
}

/// Returns those with which a line of --help begins.
std::set<std::string> options_of(const std::string& command) {
  std::set<std::string> options;
  std::istringstream lines(say(command + " --help").output);
  static const std::regex option("(^|[ ,])(--?[a-zA-Z][a-zA-Z-]*)");
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  -")) continue;
    std::string names = line.substr(0, line.find("  ", 2));
    for (std::sregex_iterator each(names.begin(), names.end(), option); each != std::sregex_iterator();
         ++each) {
      options.insert((*each)[2]);
    }
  }
  return options;
}

std::string page_of(const std::string& name) {
  std::string page = say("man " + name).output;
  page = std::regex_replace(page, std::regex(R"(\\-)"), "-");
  return std::regex_replace(page, std::regex(R"(\\f[A-Z])"), "");
}

TEST(Manual, help_lists_the_commands_and_no_others) {
  const std::vector<std::string> names = commands();
  EXPECT_EQ(names, (std::vector<std::string>{"run", "report", "diff", "trend", "scale", "export", "info",
                                             "tune", "completion", "help"}));
}

TEST(Manual, every_option_of_help_is_in_its_page_and_in_each_shells_completion) {
  const std::string bash = say("completion bash").output;
  const std::string zsh = say("completion zsh").output;
  const std::string fish = say("completion fish").output;
  for (const std::string& command : commands()) {
    const std::set<std::string> options = options_of(command);
    EXPECT_TRUE(options.contains("--help")) << command;
    const std::string page = page_of(command);
    EXPECT_TRUE(page.starts_with(".TH PENSTOCK-")) << page.substr(0, 80);
    for (const std::string& option : options) {
      EXPECT_NE(page.find(option), std::string::npos) << command << " " << option;
      EXPECT_NE(bash.find(option + (option == "-h" ? " " : "")), std::string::npos) << option;
      EXPECT_NE(zsh.find(option), std::string::npos) << option;
      const std::string in_fish =
          option.starts_with("--") ? " -l " + option.substr(2) : " -s " + option.substr(1);
      EXPECT_NE(fish.find(in_fish), std::string::npos) << option;
    }
  }
  EXPECT_TRUE(options_of("report").contains("--fail-if"));
}

TEST(Manual, pages_have_the_descriptions_of_help) {
  for (const std::string& command : commands()) {
    std::string page = in_one_line(page_of(command));
    page = std::regex_replace(page, std::regex(R"(\\\(aq)"), "");
    const std::string help = say(command + " --help").output;
    const std::string description = in_one_line(help.substr(0, help.find("Usage:")));
    EXPECT_NE(page.find(description.substr(0, description.size() - 1)), std::string::npos) << description;
  }
}

TEST(Manual, help_of_a_command_is_its_help_option) {
  EXPECT_EQ(say("help report").output, say("report --help").output);
  EXPECT_EQ(say("help").output, say("--help").output);
}

TEST(Manual, causes_are_those_of_the_report) {
  const std::string text = say("help causes").output;
  for (std::size_t i = 0; i < cause_count; ++i) {
    const auto cause = static_cast<Cause>(i);
    EXPECT_NE(text.find("\n  " + std::string(name_of(cause))), std::string::npos) << name_of(cause);
    EXPECT_NE(text.find(identifier_of(cause)), std::string::npos) << identifier_of(cause);
  }
  for (std::size_t i = 1; i < gap_count; ++i) {
    EXPECT_NE(text.find(identifier_of(static_cast<Gap>(i))), std::string::npos) << i;
  }
}

TEST(Manual, transports_are_those_of_the_table) {
  const std::string text = say("help transports").output;
#define PENSTOCK_NO_TRANSPORT(name, ...) EXPECT_NE(text.find("\n  " #name), std::string::npos) << #name;
#define PENSTOCK_TRACED_TRANSPORT(name, ...) PENSTOCK_NO_TRANSPORT(name)
#define PENSTOCK_TRANSPORT(name, ...) PENSTOCK_NO_TRANSPORT(name)
#include "transports/kinds/transports.def"
}

struct VariableRow {
  const char* name;
  bool is_for_users;
  std::string otherwise;
  std::string text;
};

const std::vector<VariableRow>& variables() {
  constexpr std::string_view user = "user";
  static const std::vector<VariableRow> rows = {
#define PENSTOCK_VARIABLE(name, audience, read, values, otherwise, text) \
  {"PENSTOCK_" #name, #audience == user, otherwise, text},
#include "interpose/node/variables.def"
  };
  return rows;
}

TEST(Manual, variables_are_those_that_the_library_reads) {
  const std::string text = in_one_line(say("help variables").output);
  for (const VariableRow& each : variables()) {
    EXPECT_NE(text.find(each.name + std::string(" (")), std::string::npos) << each.name;
    EXPECT_NE(text.find(in_one_line(each.text)), std::string::npos) << each.text;
  }
}

struct DocumentedVariable {
  std::string name;
  std::string otherwise;
  std::string text;
};

/// Returns the rows of the table "| variable | default | |" behind a heading, as they read without Markdown's
/// marks.
std::vector<DocumentedVariable> rows_of(const std::filesystem::path& document) {
  std::vector<DocumentedVariable> rows;
  std::istringstream lines(read_all_of(document));
  static const std::regex link(R"(\[([^\]]*)\]\([^)]*\))");
  static const std::regex row(R"(\| `(PENSTOCK_[A-Z_]+)` \|([^|]*)\|(.*)\|)");
  std::smatch found;
  for (std::string line; std::getline(lines, line);) {
    if (!std::regex_match(line, found, row)) continue;
    const auto plain = [](const std::string& cell) {
      std::string text = in_one_line(std::regex_replace(cell, link, "$1"));
      if (text.ends_with(' ')) text.pop_back();
      return text;
    };
    rows.push_back({found[1], plain(found[2]), plain(found[3])});
  }
  return rows;
}

/// The documents may say more, in parentheses at the end: where in the code it is.
void expect_documented(const std::filesystem::path& document, bool for_users) {
  std::vector<DocumentedVariable> rows = rows_of(document);
  for (const VariableRow& each : variables()) {
    if (each.is_for_users != for_users) continue;
    const auto row =
        std::find_if(rows.begin(), rows.end(), [&](const auto& any) { return any.name == each.name; });
    ASSERT_NE(row, rows.end()) << document << " lacks " << each.name;
    EXPECT_EQ(row->otherwise, in_one_line(each.otherwise)) << each.name;
    const std::string text = in_one_line(each.text);
    EXPECT_EQ(row->text.substr(0, text.size()), text) << each.name;
    const std::string rest = row->text.substr(std::min(text.size(), row->text.size()));
    EXPECT_TRUE(rest.empty() || (!for_users && rest.starts_with(" ("))) << each.name << rest;
    rows.erase(row);
  }
  EXPECT_TRUE(rows.empty()) << document << " has what there is not: " << rows.front().name;
}

TEST(Manual, the_readme_has_the_same_variables) {
  const std::filesystem::path source = PENSTOCK_SOURCE;
  expect_documented(source / "README.md", true);
  expect_documented(source / "interpose/README.md", false);
}

/// All keys of objects, on any level.
void collect_keys(const nlohmann::json& schema, std::set<std::string>& keys) {
  if (schema.is_object() && schema.contains("properties")) {
    for (const auto& [key, ignored] : schema.at("properties").items()) keys.insert(key);
  }
  if (schema.is_structured()) {
    for (const nlohmann::json& each : schema) collect_keys(each, keys);
  }
}

TEST(Manual, figures_are_those_of_text_conditions_and_json) {
  const std::string text = say("help figures").output;
  const std::string line = in_one_line(text);
  for (std::size_t i = 0; i < part_count; ++i) {
    const auto part = static_cast<TimePart>(i);
    EXPECT_NE(text.find(name_of(part)), std::string::npos) << name_of(part);
    EXPECT_NE(text.find(identifier_of(part)), std::string::npos) << identifier_of(part);
  }
  for (const auto& each : efficiencies) EXPECT_NE(text.find(each.name), std::string::npos) << each.name;
  for (const auto& each : gpu_efficiencies) EXPECT_NE(text.find(each.name), std::string::npos) << each.name;
  const std::filesystem::path source = PENSTOCK_SOURCE;
  const nlohmann::json schema = nlohmann::json::parse(read_all_of(source / "analysis/report.schema.json"));
  std::set<std::string> keys;
  collect_keys(schema, keys);
  EXPECT_GT(keys.size(), 150u);
  for (const std::string& key : keys) EXPECT_NE(text.find("\n  " + key), std::string::npos) << key;
  EXPECT_NE(line.find(in_one_line(
                schema.at("definitions").at("longest_path").at("description").get<std::string>())),
            std::string::npos);
}

TEST(Manual, each_part_of_the_time_has_a_meaning) {
  const std::string text = say("help figures").output;
  for (std::size_t i = 0; i < part_count; ++i) {
    const auto part = static_cast<TimePart>(i);
    const std::string term = "\n  " + std::string(name_of(part)) + " ('" + std::string(identifier_of(part));
    const std::size_t begin = text.find(term);
    ASSERT_NE(begin, std::string::npos) << name_of(part);
    EXPECT_EQ(text.substr(text.find('\n', begin + 1) + 1, 6), "      ") << name_of(part);
  }
}

TEST(Manual, texts_are_as_wide_as_the_terminal_and_at_most_100_columns) {
  std::vector<std::string> all = {"--help", "help causes", "help transports", "help variables",
                                  "help figures"};
  for (const std::string& command : commands()) all.push_back(command + " --help");
  for (const std::size_t columns : {60u, 80u, 120u}) {
    for (const std::string& arguments : all) {
      std::istringstream lines(say(arguments, "COLUMNS=" + std::to_string(columns)).output);
      for (std::string line; std::getline(lines, line);) {
        EXPECT_LE(width_of(line), std::min<std::size_t>(columns, screen_columns)) << arguments << "\n"
                                                                                  << line;
      }
    }
  }
}

TEST(Manual, what_is_not_there_is_wrong_use) {
  for (const char* arguments : {"help dance", "help causes wire", "completion tcsh", "completion",
                                "man dance", "help --frobnicate"}) {
    const Said said = say(arguments);
    EXPECT_EQ(said.exit_code, 2) << arguments;
    EXPECT_EQ(said.output, "") << arguments;
    EXPECT_NE(said.errors.find("--help"), std::string::npos) << said.errors;
  }
  EXPECT_NE(say("help dance").errors.find("causes"), std::string::npos);
}

TEST(Manual, pages_that_cannot_be_written_are_an_error) {
  EXPECT_EQ(say("man --write /proc/nowhere").exit_code, 1);
}

}  // namespace
}  // namespace penstock::analysis
