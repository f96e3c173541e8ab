#include "analysis/export/common/names.hpp"

#include <fmt/format.h>
#include <utf8.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <vector>

#include "analysis/recording/symbol_names.hpp"

namespace penstock::analysis::exports {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";  // U+FFFD

/// Returns the name for a number of CUpti_ActivityMemcpyKind.
const std::string& name_of_copy(std::uint8_t kind) {
  static const std::array<std::string, 11> names{"copy",
                                                 "copy host to device",
                                                 "copy device to host",
                                                 "copy host to array",
                                                 "copy array to host",
                                                 "copy array to array",
                                                 "copy array to device",
                                                 "copy device to array",
                                                 "copy device to device",
                                                 "copy host to host",
                                                 "copy peer to peer"};
  return names[kind < names.size() ? kind : 0];
}

std::string kernel_name(const std::string& symbol) {
  return clean_text(readable_symbol(symbol));
}

}  // namespace

std::string clean_text(std::string_view text) {
  std::string valid;
  utf8::replace_invalid(text.begin(), text.end(), std::back_inserter(valid));
  const auto is_control = [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f;
  };
  if (std::none_of(valid.begin(), valid.end(), is_control)) return valid;
  std::string clean;
  for (const char c : valid) {
    is_control(c) ? clean += replacement : clean += c;
  }
  return clean;
}

const std::string& RankNames::text(std::uint32_t id) {
  const auto [found, is_new] = texts_.try_emplace(id);
  if (is_new && id != trace::no_string) found->second = clean_text(rank_.strings.at(id));
  return found->second;
}

const std::string& RankNames::activity(const trace::DeviceActivity& activity) {
  static const std::string memset = "memset";
  if (activity.kind == trace::RecordKind::device_memset) return memset;
  if (activity.kind == trace::RecordKind::device_copy) return name_of_copy(activity.copy_kind);
  const auto [found, is_new] = kernels_.try_emplace(activity.name);
  if (is_new) found->second = kernel_name(rank_.strings.at(activity.name));
  return found->second;
}

const std::string& RankNames::communicator(std::uint32_t local_id) {
  const auto [found, is_new] = communicators_.try_emplace(local_id);
  if (!is_new || local_id == 0) return found->second;
  const auto known =
      std::find_if(rank_.communicators.begin(), rank_.communicators.end(),
                   [local_id](const trace::Communicator& each) { return each.local_id == local_id; });
  if (known != rank_.communicators.end()) found->second = text(known->name);
  if (found->second.empty()) found->second = fmt::format("communicator {}", local_id);
  return found->second;
}

const NamedSite& RankNames::site(std::uint64_t call_site) {
  const auto [found, is_new] = sites_.try_emplace(call_site);
  NamedSite& site = found->second;
  if (!is_new || call_site == 0) return site;
  std::vector<FrameAddress> addresses;
  for (const std::uint64_t address : rank_.return_addresses_of(call_site)) {
    const RecordedFrame frame = rank_.frame_at(address);
    addresses.push_back({std::string(frame.text), frame.build, frame.address, frame.offset});
  }
  const NamedPath path = frame_names_.name(addresses);
  const NamedFrame& shown = path.call_site();
  const SourcePlace& place = shown.place;
  std::string where = fmt::format("{:#x}", shown.offset);
  if (!place.file.empty()) {
    where = fmt::format("{}:{}", std::filesystem::path(place.file).filename().string(), place.line);
  } else if (!shown.module.empty()) {
    where = fmt::format("{}+{}", std::filesystem::path(shown.module).filename().string(), where);
  }
  site.text = clean_text(place.function.empty() ? where : fmt::format("{} ({})", place.function, where));
  site.file = clean_text(place.file);
  site.line = place.line;
  return site;
}

}  // namespace penstock::analysis::exports
