#include "interpose/node/settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <new>
#include <string_view>
#include <system_error>

#include "interpose/node/edit_distance.hpp"
#include "interpose/record/recorder.hpp"
#include "transports/host/byte_sizes.hpp"
#include "transports/kinds/transport_kind.hpp"

extern char** environ;

namespace penstock::interpose {
namespace {

using transports::StreamOrder;
using transports::TransportKind;

Settings current;

// One parser for each type of value; returns false if the value cannot be read.
bool parse(std::string_view text, bool& value) {
  if (text == "1" || text == "on" || text == "yes")
    value = true;
  else if (text == "0" || text == "off" || text == "no")
    value = false;
  else
    return false;
  return true;
}

bool parse(std::string_view text, std::string& value) {
  if (text.empty()) return false;
  value = text;
  return true;
}

bool parse(std::string_view text, std::uint64_t& value) {
  return transports::parse_bytes(text, value);
}

bool parse(std::string_view text, TransportKind& value) {
  for (const transports::TransportRow& row : transports::transport_rows) {
    if (text == row.name) {
      value = row.kind;
      return true;
    }
  }
  return false;
}

template <typename Choice>
struct NamedChoice {
  std::string_view name;
  Choice value;
};

template <typename Choice, std::size_t count>
bool choose(std::string_view text, const NamedChoice<Choice> (&choices)[count], Choice& value) {
  const auto* const named = std::find_if(std::begin(choices), std::end(choices),
                                         [&](const auto& choice) { return choice.name == text; });
  if (named == std::end(choices)) return false;
  value = named->value;
  return true;
}

bool parse(std::string_view text, StreamOrder& value) {
  static constexpr NamedChoice<StreamOrder> choices[] = {
      {"legacy", StreamOrder::legacy_stream}, {"none", StreamOrder::none}, {"device", StreamOrder::device}};
  return choose(text, choices, value);
}

bool parse(std::string_view text, ProgressBy& value) {
  static constexpr NamedChoice<ProgressBy> choices[] = {{"calls", ProgressBy::calls},
                                                        {"thread", ProgressBy::thread}};
  return choose(text, choices, value);
}

bool parse(std::string_view text, HeldBack& value) {
  static constexpr NamedChoice<HeldBack> choices[] = {
      {"never", HeldBack::never}, {"forecast", HeldBack::forecast}, {"always", HeldBack::always}};
  return choose(text, choices, value);
}

/// A number without a unit.
bool read_call_path_frames(std::string_view text) {
  std::uint32_t frames = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), frames);
  if (error != std::errc{} || end != text.data() + text.size() || frames > record::most_call_path_frames)
    return false;
  current.call_path_frames = frames;
  return true;
}

bool read_what_is_kept(std::string_view text) {
  if (text != "first" && text != "last") return false;
  current.keeps_last = text == "last";
  return true;
}

bool parse(std::string_view text, record::WindowRequest& value) {
  return record::parse_window(text, value);
}

bool parse(std::string_view text, RankList& value) {
  return value.parse(text);
}

template <auto Member>
bool read_member(std::string_view text) {
  return parse(text, current.*Member);
}

struct Row {
  std::string_view name;
  bool (*read)(std::string_view text);  ///< null: read elsewhere
  const char* values;
};

constexpr std::array table = {
#define PENSTOCK_VARIABLE(name, audience, read, values, ...) Row{"PENSTOCK_" #name, read, values},
#include "interpose/node/variables.def"
};

const Row* row_of(std::string_view name) noexcept {
  for (const Row& row : table) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

/// Returns the table's name that is nearest to an unknown one.
std::string_view nearest_to(std::string_view name) {
  const auto distance = [name](const Row& row) { return edit_distance(name, row.name); };
  return std::ranges::min_element(table, {}, distance)->name;
}

}  // namespace

const Settings& settings() noexcept {
  return current;
}

void read_settings() noexcept try {
  constexpr std::string_view prefix = "PENSTOCK_";
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view line = *entry;
    if (!line.starts_with(prefix)) continue;
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, equals);
    const std::string_view value = line.substr(equals + 1);
    const Row* row = row_of(name);
    if (row == nullptr) {
      record::notice(std::string(name) +
                     " is not a setting of this version and is ignored; the nearest name is " +
                     std::string(nearest_to(name)));
    } else if (row->read != nullptr && !row->read(value)) {
      record::notice(std::string(name) + "=" + std::string(value) + " is not a valid value (" + row->values +
                     "); the default is used");
    }
  }
  // made absolute, as the program may change its working directory; `penstock run` has already done this
  std::error_code unknown;
  const std::filesystem::path output = std::filesystem::absolute(current.output, unknown);
  if (!unknown) current.output = output.string();
} catch (const std::bad_alloc&) {
  record::notice("out of memory while the settings are read: the others keep their defaults");
}

}  // namespace penstock::interpose
