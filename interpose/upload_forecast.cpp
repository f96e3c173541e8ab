#include "interpose/upload_forecast.hpp"

namespace penstock::interpose {
namespace {

/// Consecutive tags of a sender have places of their own.
std::size_t place_of(int sender, int tag) noexcept {
  constexpr std::uint32_t spread = 61;
  return (static_cast<std::uint32_t>(sender) * spread + static_cast<std::uint32_t>(tag)) % forecast_places;
}

}  // namespace

bool expects_upload(const DirectoryRow& receiver, int tag) noexcept {
  const int own_rank = node_directory().own_row()->world_rank.load(std::memory_order_relaxed);
  return receiver.uploaded[place_of(own_rank, tag)].load(std::memory_order_relaxed) != 0;
}

void note_destination(int sender, int tag, bool on_device) noexcept {
  DirectoryRow* own = node_directory().own_row();
  if (own == nullptr || sender < 0) return;
  std::atomic<std::uint8_t>& place = own->uploaded[place_of(sender, tag)];
  const std::uint8_t word = on_device ? 1 : 0;
  // most often it says so already: senders go on reading their copies of the line
  if (place.load(std::memory_order_relaxed) != word) place.store(word, std::memory_order_relaxed);
}

}  // namespace penstock::interpose
