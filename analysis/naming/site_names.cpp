#include "analysis/naming/site_names.hpp"

#include <fmt/format.h>

#include "analysis/report/text_figures.hpp"

namespace penstock::analysis {
namespace {

std::string in_sentence(const NamedFrame& frame) {
  return place_in_sentence({.function = frame.place.function,
                            .file = frame.place.file,
                            .line = frame.place.line,
                            .module = frame.module,
                            .module_offset = frame.offset});
}

}  // namespace

const NamedPath& SiteNames::path_of(std::uint32_t id) {
  const auto [known, is_new] = paths_.try_emplace(id);
  if (is_new) {
    std::vector<FrameAddress> addresses;
    for (const SiteFrame& each : sites_.sites()[id].frames) {
      addresses.push_back({strings_.at(each.text), each.build, each.address, each.offset});
    }
    known->second = frame_names_.name(addresses);
  }
  return known->second;
}

SiteProperties SiteNames::properties_of(std::uint32_t id) {
  const NamedFrame& shown = path_of(id).call_site();
  return {function_of(id),  shown.module,     shown.place.function,
          shown.place.file, shown.place.line, shown.place.line == 0 ? shown.offset : 0};
}

std::uint32_t SiteNames::first_alike(std::uint32_t id) {
  return first_alike_.try_emplace(properties_of(id), id).first->second;
}

std::string SiteNames::place_of(std::uint32_t id) {
  return in_sentence(path_of(id).call_site());
}

std::vector<std::string> SiteNames::places_on_path(std::uint32_t id) {
  std::vector<std::string> places;
  for (const NamedFrame& each : path_of(id).frames) {
    places.push_back(in_sentence(each));
  }
  return places;
}

std::string SiteNames::call_of(std::uint32_t id) {
  return fmt::format("{} at {}", function_of(id), place_of(id));
}

}  // namespace penstock::analysis
