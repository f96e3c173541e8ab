#include "interpose/windows/memory/shared_parts.hpp"

#include "transports/host/process.hpp"

namespace penstock::interpose {

using transports::Offer;
using transports::Segment;

Status SharedParts::make(std::size_t bytes) {
  return Segment::make(bytes, own_);
}

Offer SharedParts::offer() const noexcept {
  Offer offer = transports::empty_offer();
  if (own_ == nullptr) return offer;
  offer.region.descriptor = own_->descriptor();
  offer.region.segment_bytes = own_->bytes();
  return offer;
}

Status SharedParts::open(const std::vector<Offer>& offers) {
  for (const Offer& offer : offers) {
    std::shared_ptr<Segment>& part = all_.emplace_back();
    if (sender_of(offer) == transports::this_process()) {
      part = own_;
    } else if (Status opened = Segment::open(offer, part); !opened.ok()) {
      return opened;
    }
  }
  return {};
}

std::vector<std::byte*> SharedParts::addresses() const {
  std::vector<std::byte*> found;
  for (const auto& part : all_) found.push_back(reinterpret_cast<std::byte*>(part->address()));
  return found;
}

}  // namespace penstock::interpose
