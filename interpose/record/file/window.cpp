#include "interpose/record/file/window.hpp"

#include "interpose/record/file/recording.hpp"

namespace penstock::record {
namespace {

constinit Window the_window;
constinit RangeEntries the_entries;

}  // namespace

Window& window() noexcept {
  return the_window;
}

RangeEntries& range_entries() noexcept {
  return the_entries;
}

void Window::request(const WindowRequest& request, std::uint32_t range) noexcept {
  range_ = range;
  first_ = request.first;
  last_ = request.last;
  by_ = request.by;
}

void Window::begin(std::uint64_t at_ns) noexcept {
  Phase before = Phase::before;
  if (!phase_.compare_exchange_strong(before, Phase::within)) return;
  recording().begin_window(at_ns);
}

void Window::end(std::uint64_t at_ns) noexcept {
  Phase within = Phase::within;
  if (!phase_.compare_exchange_strong(within, Phase::after)) return;
  recording().end_window(at_ns);
}

std::uint32_t RangeEntries::enter(std::uint32_t name) noexcept {
  Place* const place = place_of(name);
  return place == nullptr ? 0 : place->entries.fetch_add(1, std::memory_order_relaxed) + 1;
}

RangeEntries::Place* RangeEntries::place_of(std::uint32_t name) noexcept {
  constexpr std::size_t looked_at = 16;
  if (name == 0) return nullptr;
  const std::size_t first = name * std::size_t{0x9e3779b1};
  for (std::size_t i = 0; i < looked_at; ++i) {
    Place& place = places_[(first + i) % places];
    std::uint32_t found = place.name.load(std::memory_order_relaxed);
    if (found == 0 && place.name.compare_exchange_strong(found, name, std::memory_order_relaxed))
      return &place;
    if (found == name) return &place;
  }
  return nullptr;
}

}  // namespace penstock::record
