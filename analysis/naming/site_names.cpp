#include "analysis/naming/site_names.hpp"

#include <fmt/format.h>

#include <utility>

#include "analysis/report/text_figures.hpp"
#include "analysis/report/wait_figures.hpp"

namespace penstock::analysis {

std::string SiteNames::place_of(std::uint32_t id) {
  SourcePlace place = source_of(id);
  CallSiteFigures named;
  named.function = std::move(place.function);
  named.file = std::move(place.file);
  named.line = place.line;
  named.module = module_of(id);
  named.module_offset = site(id).offset;
  return place_in_sentence(named);
}

std::string SiteNames::call_of(std::uint32_t id) {
  return fmt::format("{} at {}", function_of(id), place_of(id));
}

}  // namespace penstock::analysis
