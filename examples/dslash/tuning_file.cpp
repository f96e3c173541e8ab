#include "examples/dslash/tuning_file.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

namespace dslash {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Machine& machine) {
  return {{"gpu", machine.gpu}, {"driver", machine.driver}, {"mpi", machine.mpi}};
}

Json json_of(const TuningKey& key) {
  const Lattice& lattice = key.of_rank;
  return {{"lattice_of_rank", {lattice.x, lattice.y, lattice.z, lattice.t}},
          {"precision", name_of(key.numbers)},
          {"rows", key.rows},
          {"right_hand_sides", key.sides},
          {"clover", key.has_clover},
          {"exchange", example::name_of(key.exchange)},
          {"ranks", key.ranks},
          {"ranks_along_z", key.ranks_along_z}};
}

Json json_of(const Measured& measured) {
  return {{"policy", name_of(measured.policy)},
          {"requests", name_of(measured.requests)},
          {"application_s", measured.application_s}};
}

/// Throws what the JSON library throws where something is missing, or is no policy.
Measured measured_from(const Json& json) {
  const auto policy = policy_named(json.at("policy").get<std::string>());
  const auto requests = requests_named(json.at("requests").get<std::string>());
  if (!policy || !requests) {
    throw Json::other_error::create(501, "no policy", &json);
  }
  return {*policy, *requests, json.at("application_s").get<double>()};
}

Machine machine_from(const Json& json) {
  return {json.at("gpu").get<std::string>(), json.at("driver").get<std::string>(),
          json.at("mpi").get<std::string>()};
}

std::string text_of(const Machine& machine) {
  return machine.gpu + ", driver " + machine.driver + ", " + machine.mpi;
}

}  // namespace

TuningFile::TuningFile(std::string path, Machine machine)
    : path_(std::move(path)), machine_(std::move(machine)) {
  try {
    read();
  } catch (const Json::exception&) {
    complaint_ = path_ + " is no tuning file and not used; another can be named with --tuning";
    entries_.clear();
  }
}

void TuningFile::read() {
  std::ifstream file(path_);
  if (!file) {
    return;
  }
  const Json json = Json::parse(file);
  const Machine other = machine_from(json.at("machine"));
  if (other != machine_) {
    complaint_ = path_ + " is of another machine (" + text_of(other) +
                 ") and not used; another can be named with --tuning";
    return;
  }
  for (const Json& entry : json.at("tuned")) {
    entries_.push_back({entry.at("of").dump(), measured_from(entry.at("fastest")), entry.dump()});
  }
}

std::optional<Measured> TuningFile::fastest(const TuningKey& key) const {
  const auto found = std::ranges::find(entries_, json_of(key).dump(), &Entry::key);
  return found == entries_.end() ? std::nullopt : std::optional(found->fastest);
}

std::string TuningFile::keep(const TuningKey& key, const std::vector<Measured>& all) {
  Json entry{{"of", json_of(key)}, {"fastest", json_of(fastest_of(all))}};
  entry["all"] = Json::array();
  for (const Measured& measured : all) {
    entry["all"].push_back(json_of(measured));
  }
  entries_.push_back({entry.at("of").dump(), fastest_of(all), entry.dump()});

  Json json{{"machine", json_of(machine_)}};
  json["tuned"] = Json::array();
  for (const Entry& each : entries_) {
    json["tuned"].push_back(Json::parse(each.json));
  }
  // Whole or not at all: another job may read it.
  const std::string unfinished = path_ + ".new";
  std::ofstream file(unfinished);
  file << json.dump(1) << '\n';
  file.close();
  if (!file || std::rename(unfinished.c_str(), path_.c_str()) != 0) {
    std::remove(unfinished.c_str());
    return path_ + " cannot be written: what was measured is not kept";
  }
  return {};
}

Measured fastest_of(const std::vector<Measured>& all) {
  return *std::ranges::min_element(all, {}, &Measured::application_s);
}

std::string table_of_tuning_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    return {};
  }
  try {
    const Json json = Json::parse(file);
    std::string table =
        "\nfastest, by " + path + ", measured on " + text_of(machine_from(json.at("machine"))) + ":\n";
    for (const Json& entry : json.at("tuned")) {
      const Measured fastest = measured_from(entry.at("fastest"));
      char line[128];
      std::snprintf(line, sizeof line, "%-11s %-10s %10.1f us  ", name_of(fastest.policy).c_str(),
                    name_of(fastest.requests).c_str(), fastest.application_s * 1e6);
      table += line + entry.at("of").dump() + '\n';
    }
    return table;
  } catch (const Json::exception&) {
    return "\n" + path + " is no tuning file\n";
  }
}

}  // namespace dslash
