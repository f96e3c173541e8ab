#include "interpose/protocol/destination_forecast.hpp"

namespace penstock::interpose {
namespace {

/// Consecutive tags of one sender have separate entries.
std::size_t index_of(int sender, int tag) noexcept {
  constexpr std::uint32_t spread = 61;
  return (static_cast<std::uint32_t>(sender) * spread + static_cast<std::uint32_t>(tag)) % forecast_places;
}

std::uint8_t bit_of(HostDeviceCopy copy) noexcept {
  return static_cast<std::uint8_t>(1u << static_cast<unsigned>(copy));
}

}  // namespace

bool expects(HostDeviceCopy copy, const DirectoryRow& receiver, int tag) noexcept {
  const int own_rank = node_directory().own_row()->world_rank.load(std::memory_order_relaxed);
  return (receiver.crossed[index_of(own_rank, tag)].load(std::memory_order_relaxed) & bit_of(copy)) != 0;
}

void note_destination(HostDeviceCopy copy, bool crossed, int sender, int tag) noexcept {
  DirectoryRow* own = node_directory().own_row();
  if (own == nullptr || sender < 0) return;
  std::atomic<std::uint8_t>& place = own->crossed[index_of(sender, tag)];
  const bool says_so = (place.load(std::memory_order_relaxed) & bit_of(copy)) != 0;
  // usually nothing changes: then senders keep their cached copies of the line
  if (says_so == crossed) return;
  if (crossed) {
    place.fetch_or(bit_of(copy), std::memory_order_relaxed);
  } else {
    place.fetch_and(static_cast<std::uint8_t>(~bit_of(copy)), std::memory_order_relaxed);
  }
}

}  // namespace penstock::interpose
