#include "interpose/protocol/lingering_sends.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <new>
#include <span>
#include <utility>

#include "interpose/node/node_directory.hpp"
#include "interpose/progress/request_table.hpp"

namespace penstock::interpose {
namespace {

/// A slot and the region that its receiver still has to drain. Thread: under RequestTable::Lock.
struct Lingering {
  Slot* slot = nullptr;
  std::unique_ptr<transports::StagedSend> staged;
};
/// All lingering sends of this rank. The array has an entry for each slot, as destructors add to it and must
/// not allocate. Never destroyed.
class LingeringSends {
 public:
  void add(Lingering item) noexcept { items_[count_++] = std::move(item); }
  /// Moves the last entry into the removed one's place.
  void remove(Lingering& item) noexcept {
    std::swap(item, items_[--count_]);
    items_[count_] = {};
  }
  [[nodiscard]] std::span<Lingering> all() noexcept { return {items_.data(), count_}; }

 private:
  std::array<Lingering, slots_per_rank> items_{};
  std::size_t count_ = 0;
};
LingeringSends& lingering() noexcept {
  alignas(LingeringSends) static std::array<std::byte, sizeof(LingeringSends)> memory;
  static auto& sends = *new (memory.data()) LingeringSends;
  return sends;
}

}  // namespace

bool is_over(const Slot& slot) noexcept {
  return slot.is_over() && slot.ready.load(std::memory_order_acquire) != 0;
}

void drop_staged(std::unique_ptr<transports::StagedSend>& staged) noexcept {
  if (staged != nullptr && !staged->drained()) staged->abandon();
  staged.reset();
}

void let_linger(Slot* slot, std::unique_ptr<transports::StagedSend> staged) noexcept {
  lingering().add({slot, std::move(staged)});
}

void reap_lingering_sends() noexcept {
  const RequestTable::Lock lock(request_table());
  LingeringSends& sends = lingering();
  for (std::size_t i = 0; i < sends.all().size();) {
    Lingering& item = sends.all()[i];
    if (!is_over(*item.slot)) {
      ++i;
      continue;
    }
    drop_staged(item.staged);
    node_directory().free_slot(item.slot);
    sends.remove(item);
  }
}

void abandon_lingering_sends() noexcept {
  const RequestTable::Lock lock(request_table());
  LingeringSends& sends = lingering();
  while (!sends.all().empty()) {
    Lingering& item = sends.all().back();
    if (item.staged != nullptr) item.staged->abandon();
    sends.remove(item);
  }
}

}  // namespace penstock::interpose
