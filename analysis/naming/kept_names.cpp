#include "analysis/naming/kept_names.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>

namespace penstock::analysis {
namespace {

using Json = nlohmann::json;

constexpr const char* schema = "penstock-names-1";
/// A recording has thousands of call sites at most; more is not ours.
constexpr std::uintmax_t most_bytes = std::uintmax_t{64} << 20;

std::string text_of(const trace::ModuleBuild& build) {
  std::string text = fmt::format("{:02x}{:02x}", static_cast<unsigned>(build.by), build.bytes);
  for (const std::uint8_t byte : build.id) {
    text += fmt::format("{:02x}", byte);
  }
  return text;
}

/// Returns false for anything but what text_of() returns.
bool read_build(std::string_view text, trace::ModuleBuild& build) {
  constexpr std::size_t bytes = 2 + sizeof build.id;
  std::uint8_t values[bytes] = {};
  if (text.size() != 2 * bytes) {
    return false;
  }
  for (std::size_t i = 0; i < bytes; ++i) {
    const char* const digits = text.data() + 2 * i;
    if (std::from_chars(digits, digits + 2, values[i], 16).ptr != digits + 2) {
      return false;
    }
  }
  if (values[0] != static_cast<std::uint8_t>(trace::BuildBy::build_id) &&
      values[0] != static_cast<std::uint8_t>(trace::BuildBy::layout)) {
    return false;
  }
  build.by = static_cast<trace::BuildBy>(values[0]);
  build.bytes = values[1];
  std::copy(values + 2, values + bytes, build.id);
  return true;
}

Json to_json(const std::vector<SourcePlace>& places) {
  Json json = Json::array();
  for (const SourcePlace& each : places) {
    json.push_back({each.function, each.qualified, each.file, each.line});
  }
  return json;
}

std::vector<SourcePlace> places_in(const Json& json) {
  std::vector<SourcePlace> places;
  for (const Json& each : json) {
    places.push_back({each.at(0).get<std::string>(), each.at(1).get<std::string>(),
                      each.at(2).get<std::string>(), each.at(3).get<int>()});
  }
  return places;
}

/// Returns who may read and write the recordings of a folder: their names of functions and files are no less
/// private than they are.
std::filesystem::perms mode_of_recordings(const std::filesystem::path& folder) {
  using std::filesystem::perms;
  constexpr perms own = perms::owner_read | perms::owner_write;
  std::error_code error;
  for (std::filesystem::directory_iterator each(folder, error), end; each != end; each.increment(error)) {
    if (each->path().extension() != ".penstock") continue;
    const perms mode = each->status(error).permissions();
    constexpr perms readers =
        perms::group_read | perms::group_write | perms::others_read | perms::others_write;
    return error ? own : (mode & readers) | own;
  }
  return own;
}

}  // namespace

KeptNames::KeptNames(const std::filesystem::path& recording) {
  std::error_code error;
  if (std::filesystem::is_directory(recording, error)) {
    file_ = recording / "names.json";
    read();
  }
}

void KeptNames::read() {
  std::error_code error;
  // a pipe or a device would block
  if (!std::filesystem::is_regular_file(file_, error) ||
      std::filesystem::file_size(file_, error) > most_bytes) {
    return;
  }
  try {
    std::ifstream in(file_);
    const Json json = Json::parse(in);
    if (json.at("schema") != schema) {
      return;
    }
    for (const Json& module : json.at("modules")) {
      CodeAddress code{module.at("path").get<std::string>(), {}, 0};
      if (!read_build(module.at("build").get<std::string>(), code.build)) {
        continue;
      }
      for (const Json& each : module.at("code")) {
        code.address = each.at("address").get<std::uint64_t>();
        std::vector<SourcePlace> places = places_in(each.at("places"));
        if (!places.empty()) {
          names_[code] = std::move(places);
        }
      }
    }
  } catch (const Json::exception&) {
    names_.clear();
  }
}

const std::vector<SourcePlace>* KeptNames::find(const CodeAddress& code) const {
  const auto found = names_.find(code);
  return found == names_.end() ? nullptr : &found->second;
}

void KeptNames::keep(const CodeAddress& code, const std::vector<SourcePlace>& places) {
  if (!file_.empty() && !places.empty() && code.build.by != trace::BuildBy::unknown) {
    const auto [known, is_new] = names_.try_emplace(code, places);
    const bool has_line_now = known->second.front().line == 0 && places.front().line != 0;
    if (has_line_now) {
      known->second = places;
    }
    has_new_ = is_new || has_line_now || has_new_;
  }
}

void KeptNames::save() {
  if (!has_new_) {
    return;
  }
  has_new_ = false;
  Json modules = Json::array();
  const CodeAddress* last = nullptr;
  for (const auto& [code, places] : names_) {
    if (last == nullptr || last->module != code.module || last->build != code.build) {
      modules.push_back({{"path", code.module}, {"build", text_of(code.build)}, {"code", Json::array()}});
    }
    modules.back().at("code").push_back({{"address", code.address}, {"places", to_json(places)}});
    last = &code;
  }
  const Json json = {{"schema", schema}, {"modules", std::move(modules)}};
  // Two commands may write at a time, and others read meanwhile.
  const std::filesystem::path written = fmt::format("{}.{}", file_.string(), ::getpid());
  std::ofstream out(written);
  std::error_code error;
  std::filesystem::permissions(written, mode_of_recordings(file_.parent_path()), error);
  out << json.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
  out.close();
  if (out && !error) {
    std::filesystem::rename(written, file_, error);
  }
  if (!out || error) {
    std::filesystem::remove(written, error);
  }
}

}  // namespace penstock::analysis
