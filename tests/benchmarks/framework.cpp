#include "tests/benchmarks/framework.hpp"

#include <benchmark/benchmark.h>
#include <errno.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

namespace penstock::benchmarks {
namespace {

void add_settings() {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view setting = *entry;
    const std::size_t equals = setting.find('=');
    if (setting.starts_with("PENSTOCK_") && equals != setting.npos) {
      benchmark::AddCustomContext(std::string(setting.substr(0, equals)),
                                  std::string(setting.substr(equals + 1)));
    }
  }
}

bool add_facts(const std::string& path) {
  std::ifstream file(path);
  const nlohmann::json facts = nlohmann::json::parse(file, nullptr, false);
  if (!facts.is_object()) {
    std::fprintf(stderr, "%s: not a JSON object\n", path.c_str());
    return false;
  }
  for (const auto& [name, value] : facts.items()) {
    if (name == "date") continue;  // the framework's own is more exact
    benchmark::AddCustomContext(name, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return true;
}

}  // namespace

bool start_framework(std::vector<std::string> options, const std::string& facts_path) {
  std::vector<char*> arguments{program_invocation_name};  // the framework keeps the pointer
  for (std::string& option : options) arguments.push_back(option.data());
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return false;
  add_settings();
  return facts_path.empty() || add_facts(facts_path);
}

}  // namespace penstock::benchmarks
