#include "interpose/posted/shown_receive.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <span>
#include <thread>

#include "interpose/node/policy.hpp"
#include "interpose/node/settings.hpp"
#include "interpose/posted/posted_counts.hpp"
#include "transports/host/in_call.hpp"
#include "transports/host/process.hpp"
#include "transports/host/watch.hpp"
#include "transports/stream_order/ready_flags.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::interpose {
namespace {

/// Around the search for a free advert and its use.
constinit std::mutex free_adverts;

/// Receives that were shown and are not complete.
constinit std::atomic<std::ptrdiff_t> receives_pending{0};

std::span<Advert> own_adverts() noexcept {
  const DirectoryRow* const own = node_directory().own_row();
  return own == nullptr ? std::span<Advert>() : node_directory().adverts_of(*own);
}

/// Returns adverts_per_rank if all places of the name are in use.
std::uint32_t find_free_place(std::span<Advert> adverts, const MessageName& name) noexcept {
  for (std::uint32_t i = 0; i < places_for_an_advert; ++i) {
    const std::uint32_t place = (first_place_of(name) + i) % adverts_per_rank;
    if (adverts[place].is_free()) return place;
  }
  return adverts_per_rank;
}

/// Takes an advert back, in whatever use it is. Returns false if its sender has taken it.
bool take_back(Advert& advert) noexcept {
  const std::uint32_t use = advert.use();
  return advert.move<AdvertSide::receiver, AdvertState::open, AdvertState::free>(use) ||
         advert.get(use) == AdvertState::free;
}

}  // namespace

ShownReceive::~ShownReceive() {
  if (is_counted_) receives_pending.fetch_sub(1, std::memory_order_relaxed);
  transports::Watch watch;
  while (!withdraw()) {
    if (watch.is_due() && !transports::is_alive(sender_)) break;
    std::this_thread::yield();
  }
}

void ShownReceive::show(const MessageName& name, const transports::BufferView& buffer,
                        const DirectoryRow& sender) noexcept {
  const bool suits = buffer.buffer.kind == transports::BufferKind::device && !buffer.is_scattered() &&
                     buffer.layout.is_contiguous() && buffer.layout.bytes() >= envelope_bytes &&
                     buffer.layout.bytes() >= transports::tuning().posted_from;
  const std::span<Advert> adverts = own_adverts();
  if (!suits || adverts.empty() || settings().transport != transports::TransportKind::none ||
      &sender == node_directory().own_row() || !sender.has_adverts.load(std::memory_order_acquire)) {
    return;
  }
  const char* why_not = "";
  const transports::Offer target = transports::make_offer(buffer, &why_not);
  if (target.ipc_exported == 0) return;
  const std::lock_guard lock(free_adverts);
  place_ = find_free_place(adverts, name);
  if (place_ == adverts_per_rank) return;
  advert_ = &adverts[place_];
  advert_->name.set(name);
  advert_->capacity_bytes.store(target.payload_bytes, std::memory_order_relaxed);
  advert_->target = target;
  advert_->ready.store(0, std::memory_order_relaxed);
  transports::signal_when_ready(buffer, &advert_->ready);
  sender_ = sender.process;
  use_ = advert_->show();
  is_counted_ = true;
  receives_pending.fetch_add(1, std::memory_order_relaxed);
  posted_counts.receives_shown.fetch_add(1, std::memory_order_relaxed);
}

bool ShownReceive::is_named_by(const Envelope& envelope) const noexcept {
  return advert_ != nullptr && envelope.advert == place_ + 1 && envelope.advert_use == use_;
}

bool ShownReceive::withdraw() noexcept {
  if (advert_ == nullptr) return true;
  const bool is_back = advert_->move<AdvertSide::receiver, AdvertState::open, AdvertState::free>(use_) ||
                       advert_->move<AdvertSide::receiver, AdvertState::over, AdvertState::free>(use_) ||
                       advert_->get(use_) == AdvertState::free;
  if (is_back) advert_ = nullptr;
  return is_back;
}

void ShownReceive::end() noexcept {
  if (advert_ == nullptr) return;
  const bool was_written = advert_->move<AdvertSide::receiver, AdvertState::taken, AdvertState::free>(use_) ||
                           advert_->move<AdvertSide::receiver, AdvertState::over, AdvertState::free>(use_);
  if (was_written) posted_counts.receives_written.fetch_add(1, std::memory_order_relaxed);
  advert_ = nullptr;
}

bool has_to_read() noexcept {
  const auto shown = receives_pending.load(std::memory_order_relaxed);
  if (shown == 0) return false;
  const auto is_written = [](const Advert& advert) {
    const AdvertState state = advert.get();
    return state == AdvertState::taken || state == AdvertState::over;
  };
  return shown > std::ranges::count_if(own_adverts(), is_written);
}

bool withdraw_receives_from(const MessageName& name) noexcept {
  bool are_back = true;
  for (Advert& advert : own_adverts()) {
    const MessageName shown_name = advert.name.get();
    const bool follows = shown_name.communicator == name.communicator && shown_name.tag == name.tag &&
                         shown_name.sender == name.sender && shown_name.ordinal >= name.ordinal;
    if (follows && !take_back(advert)) are_back = false;
  }
  return are_back;
}

void withdraw_receives_on(std::uint64_t communicator) noexcept {
  for (Advert& advert : own_adverts()) {
    if (advert.name.get().communicator == communicator) static_cast<void>(take_back(advert));
  }
}

bool withdraw_open_receives() noexcept {
  bool are_back = true;
  for (Advert& advert : own_adverts()) {
    if (!take_back(advert)) are_back = false;
  }
  return are_back;
}

void withdraw_all_receives() noexcept {
  const std::uint64_t begin_ns = transports::steady_now_ns();
  for (Advert& advert : own_adverts()) {
    while (!take_back(advert) && advert.get() == AdvertState::taken &&
           transports::steady_now_ns() - begin_ns < policy::finalize_drain_ns) {
      std::this_thread::yield();
    }
  }
}

}  // namespace penstock::interpose
