#include "interpose/posted/found_receive.hpp"

#include <span>
#include <utility>

namespace penstock::interpose {

FoundReceive::FoundReceive(const MessageName& name, const DirectoryRow& receiver,
                           std::uint64_t payload_bytes) noexcept {
  const std::span<Advert> adverts = node_directory().adverts_of(receiver);
  if (adverts.empty()) return;
  for (std::uint32_t i = 0; i < places_for_an_advert; ++i) {
    const std::uint32_t place = (first_place_of(name) + i) % adverts_per_rank;
    Advert& advert = adverts[place];
    // the use is read before the name: take() then fails if the name is of a later one
    const std::uint32_t use = advert.use();
    if (advert.get(use) != AdvertState::open || advert.name.get() != name) continue;
    const bool has_room = advert.capacity_bytes.load(std::memory_order_relaxed) >= payload_bytes;
    if (!has_room || advert.ready.load(std::memory_order_acquire) == 0) return;
    advert_ = &advert;
    place_ = place;
    use_ = use;
    return;
  }
}

FoundReceive::FoundReceive(FoundReceive&& other) noexcept
    : advert_(std::exchange(other.advert_, nullptr)),
      place_(other.place_),
      use_(other.use_),
      is_taken_(std::exchange(other.is_taken_, false)) {}

FoundReceive& FoundReceive::operator=(FoundReceive&& other) noexcept {
  if (this == &other) return *this;
  end();
  advert_ = std::exchange(other.advert_, nullptr);
  place_ = other.place_;
  use_ = other.use_;
  is_taken_ = std::exchange(other.is_taken_, false);
  return *this;
}

bool FoundReceive::take() noexcept {
  if (advert_ == nullptr) return false;
  is_taken_ = advert_->move<AdvertSide::sender, AdvertState::open, AdvertState::taken>(use_);
  if (!is_taken_) advert_ = nullptr;
  return is_taken_;
}

void FoundReceive::name_in(Envelope& envelope) const noexcept {
  envelope.advert = place_ + 1;
  envelope.advert_use = use_;
}

void FoundReceive::end() noexcept {
  // the receiver may have ended it, as it has the payload
  if (std::exchange(is_taken_, false))
    static_cast<void>(advert_->move<AdvertSide::sender, AdvertState::taken, AdvertState::over>(use_));
  advert_ = nullptr;
}

}  // namespace penstock::interpose
