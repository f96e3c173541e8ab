#include "analysis/causes/cause.hpp"

#include <algorithm>
#include <iterator>

namespace penstock::analysis {

std::string_view name_of(Cause cause) noexcept {
  switch (cause) {
#define PENSTOCK_CAUSE(cause, identifier, name, meaning) \
  case Cause::cause:                                     \
    return name;
#include "analysis/causes/causes.def"
  }
  return "";
}

std::string_view meaning_of(Cause cause) noexcept {
  switch (cause) {
#define PENSTOCK_CAUSE(cause, identifier, name, meaning) \
  case Cause::cause:                                     \
    return meaning;
#include "analysis/causes/causes.def"
  }
  return "";
}

Cause main_cause(const TimeByCause& times) noexcept {
  return static_cast<Cause>(std::distance(times.begin(), std::max_element(times.begin(), times.end())));
}

std::string_view identifier_of(Cause cause) noexcept {
  switch (cause) {
#define PENSTOCK_CAUSE(cause, identifier, name, meaning) \
  case Cause::cause:                                     \
    return identifier;
#include "analysis/causes/causes.def"
  }
  return "";
}

std::string_view name_of(Gap gap) noexcept {
  switch (gap) {
    case Gap::no_partner:
      return "the other side was not recorded";
    case Gap::no_common_clock:
      return "the other side is on a host whose clock could not be synchronised";
    case Gap::nothing_recorded:
      return "the awaited operation was not recorded";
    case Gap::none:
      break;
  }
  return "";
}

std::string_view identifier_of(Gap gap) noexcept {
  switch (gap) {
    case Gap::no_partner:
      return "no_partner";
    case Gap::no_common_clock:
      return "no_common_clock";
    case Gap::nothing_recorded:
      return "nothing_recorded";
    case Gap::none:
      break;
  }
  return "none";
}

}  // namespace penstock::analysis
