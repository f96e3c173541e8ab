#include "analysis/causes/cause.hpp"

#include <algorithm>
#include <iterator>

namespace penstock::analysis {

std::string_view name_of(Cause cause) noexcept {
  switch (cause) {
    case Cause::late_sender:
      return "late sender";
    case Cause::late_receiver:
      return "late receiver";
    case Cause::collective_wait:
      return "wait at collective";
    case Cause::wire:
      return "wire";
    case Cause::staging:
      return "packing, staging";
    case Cause::gpu_not_ready:
      return "GPU not ready";
    case Cause::missing_progress:
      return "missing progress";
    case Cause::unattributed:
      break;
  }
  return "unattributed";
}

std::string_view meaning_of(Cause cause) noexcept {
  switch (cause) {
    case Cause::late_sender:
      return "the partner came to its send later";
    case Cause::late_receiver:
      return "the partner came to its receive later";
    case Cause::collective_wait:
      return "another rank came later";
    case Cause::wire:
      return "both sides were there, data was moving";
    case Cause::staging:
      return "data was packed, or copied through host memory";
    case Cause::gpu_not_ready:
      return "earlier work of the GPU had to end first";
    case Cause::missing_progress:
      return "the partner had posted its side but was outside MPI";
    case Cause::unattributed:
      break;
  }
  return "";
}

Cause main_cause(const TimeByCause& times) noexcept {
  return static_cast<Cause>(std::distance(times.begin(), std::max_element(times.begin(), times.end())));
}

std::string_view identifier_of(Cause cause) noexcept {
  switch (cause) {
    case Cause::late_sender:
      return "late_sender";
    case Cause::late_receiver:
      return "late_receiver";
    case Cause::collective_wait:
      return "wait_at_collective";
    case Cause::wire:
      return "wire";
    case Cause::staging:
      return "packing_or_staging";
    case Cause::gpu_not_ready:
      return "gpu_not_ready";
    case Cause::missing_progress:
      return "missing_progress";
    case Cause::unattributed:
      break;
  }
  return "unattributed";
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
