#include "analysis/report/message_figures.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "analysis/joining/message_class.hpp"

namespace penstock::analysis {

const char* name_of(trace::BufferKind kind) noexcept {
  switch (kind) {
    case trace::BufferKind::pageable:
      return "pageable";
    case trace::BufferKind::pinned:
      return "pinned";
    case trace::BufferKind::device:
      return "device";
    case trace::BufferKind::async_pool:
      return "async pool";
    case trace::BufferKind::virtual_memory:
      return "virtual memory";
    case trace::BufferKind::managed:
      return "managed";
    case trace::BufferKind::unknown:
      break;
  }
  return "unknown";
}

const char* name_of(trace::TransportKind transport) noexcept {
  switch (transport) {
#define PENSTOCK_NO_TRANSPORT(name, ...) \
  case trace::TransportKind::name:       \
    return #name;
#define PENSTOCK_TRANSPORT(name, ...) PENSTOCK_NO_TRANSPORT(name)
#define PENSTOCK_TRACED_TRANSPORT(name, ...) PENSTOCK_NO_TRANSPORT(name)
#include "transports/kinds/transports.def"
  }
  return "none";  // a recording may hold any number
}

bool is_chosen_for_speed(const TransportFigures& messages) noexcept {
  constexpr std::array<std::string_view, 3> reasons{
      "eager: smaller than 64 bytes", "small: faster through the MPI library",
      "this size is faster through host memory than by peer access here"};
  return messages.reason.empty() ? messages.transport == trace::TransportKind::mpi
                                 : std::ranges::find(reasons, messages.reason) != reasons.end();
}

bool pay_a_latency_each(const TransportFigures& messages) noexcept {
  return is_small(messages.size_limit_bytes) && !(messages.is_part && !is_direct(messages.transport));
}

double mean_bytes(const TransportFigures& messages) noexcept {
  return messages.messages == 0
             ? 0
             : static_cast<double>(messages.bytes) / static_cast<double>(messages.messages);
}

std::optional<double> time_by(const TransportFigures& others, const TransportFigures& one) noexcept {
  if (!one.median_gbps || !others.median_gbps || *others.median_gbps <= 0) {
    return std::nullopt;
  }
  const double by_speed = *one.median_gbps / *others.median_gbps;
  const double bytes = mean_bytes(one);
  const double by_time = bytes == 0 ? by_speed : by_speed * mean_bytes(others) / bytes;
  return is_small(one.size_limit_bytes) ? by_time : std::max(by_speed, by_time);
}

const TransportFigures* fastest_alike(const std::vector<TransportFigures>& transports,
                                      const TransportFigures& slow) {
  const TransportFigures* best = nullptr;
  double best_time = 1;
  for (const TransportFigures& each : transports) {
    if (is_direct(each.transport) && may_go_by(slow.transport, each.transport) &&
        each.source == slow.source && each.destination == slow.destination &&
        each.size_limit_bytes == slow.size_limit_bytes) {
      const std::optional<double> time = time_by(each, slow);
      if (time && *time < best_time) {
        best = &each;
        best_time = *time;
      }
    }
  }
  return best;
}

}  // namespace penstock::analysis
