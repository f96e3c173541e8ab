#include "interpose/progress/host_receives.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <utility>

#include "interpose/node/envelope.hpp"
#include "interpose/node/node_directory.hpp"
#include "interpose/progress/request_table.hpp"
#include "transports/host/callers_mutex.hpp"

namespace penstock::interpose {

/// All host receives of the process. Never destroyed: static destructors of the application may complete
/// requests.
class HostReceiveRegistry {
 public:
  static HostReceiveRegistry& of_process() noexcept {
    static HostReceiveRegistry& instance = *new HostReceiveRegistry;
    return instance;
  }

  HostReceive::Target enter(HostReceive& receive, HostReceive::Target wanted) {
    const std::lock_guard lock(mutex_);
    if (!is_tracking_.load(std::memory_order_relaxed)) {
      if (wanted == HostReceive::Target::staging_buffer) return wanted;
      link(receive, untracked_);
      receive.state_ = HostReceive::State::untracked;
      return wanted;
    }
    return track(receive, wanted);
  }

  void note_arrival(HostReceive& receive, const MPI_Status& status) noexcept {
    const std::lock_guard lock(mutex_);
    receive.read_message(&status);
    take_out_of_place(receive);
  }

  bool may_write(const HostReceive& receive) noexcept {
    const std::lock_guard lock(mutex_);
    if (receive.state_ != HostReceive::State::tracked) return true;
    Group& group = group_of(receive)->second;
    bool all_have_come = true;
    for (HostReceive* other = group.in_place; other != nullptr;) {
      HostReceive* const next = other->next_;
      if (other != &receive && overlap(*other, receive)) {
        if (other->read_message(nullptr))
          take_out_of_place(*other);
        else
          all_have_come = false;
      }
      other = next;
    }
    return all_have_come;
  }

  void leave(HostReceive& receive) noexcept {
    const std::lock_guard lock(mutex_);
    if (receive.state_ == HostReceive::State::untracked) unlink(receive, untracked_);
    if (receive.state_ == HostReceive::State::tracked) {
      take_out_of_place(receive);
      const auto group = group_of(receive);
      if (--group->second.receives == 0) spare_ = groups_.extract(group);
    }
    receive.state_ = HostReceive::State::outside;
  }

  [[nodiscard]] bool is_tracking() const noexcept { return is_tracking_.load(std::memory_order_relaxed); }

  void begin_tracking() noexcept {
    const std::lock_guard lock(mutex_);
    if (is_tracking()) return;
    while (untracked_ != nullptr) {
      HostReceive& receive = *untracked_;
      unlink(receive, untracked_);
      try {
        const HostReceive::Target target = track(receive, HostReceive::Target::user_buffer);
        // Only payloads could arrive until now. The first bytes are therefore saved in time: if a payload is
        // being written at this moment, they are not needed.
        receive.keep_first_bytes();
        // it is too late for a staging buffer
        receive.holds_up_small_ = !receive.has_room_;
        if (receive.holds_up_small_) ++without_room_;
        if (target == HostReceive::Target::user_buffer) continue;
      } catch (const std::bad_alloc&) {
        // retry at the next call; until then this process gets no envelopes
        link(receive, untracked_);
        return;
      }
      // too late: the MPI library already has the user's buffer
      receive.shares_ = true;
      ++sharing_;
    }
    is_tracking_.store(true, std::memory_order_relaxed);
    accept_envelopes();
  }

 private:
  /// Receives that overlap, directly or through each other. They use the memory from the key up to `end`.
  struct Group {
    std::uintptr_t end = 0;
    std::size_t receives = 0;
    HostReceive* in_place = nullptr;
  };
  using Groups = std::map<std::uintptr_t, Group>;

  static bool overlap(const HostReceive& one, const HostReceive& other) noexcept {
    return one.begin_ < other.end_ && other.begin_ < one.end_;
  }

  HostReceive::Target track(HostReceive& receive, HostReceive::Target wanted) {
    auto first = groups_.upper_bound(receive.begin_);
    if (first != groups_.begin() && std::prev(first)->second.end > receive.begin_) --first;
    auto behind = first;
    while (behind != groups_.end() && behind->first < receive.end_) ++behind;
    if (first == behind) {
      add(receive, new_group(receive), wanted);
      return wanted;
    }
    // join all groups that it touches into one
    auto joined = groups_.extract(first++);
    joined.key() = std::min(joined.key(), receive.begin_);
    Group& group = joined.mapped();
    group.end = std::max(group.end, receive.end_);
    for (; first != behind; first = groups_.erase(first)) {
      Group& other = first->second;
      group.end = std::max(group.end, other.end);
      group.receives += other.receives;
      while (HostReceive* const moved = other.in_place) {
        unlink(*moved, other.in_place);
        link(*moved, group.in_place);
      }
    }
    add(receive, group, HostReceive::Target::staging_buffer);
    groups_.insert(std::move(joined));
    return HostReceive::Target::staging_buffer;
  }

  Group& new_group(const HostReceive& receive) {
    if (spare_.empty()) return groups_[receive.begin_] = {receive.end_, 0, nullptr};
    spare_.key() = receive.begin_;
    spare_.mapped() = {receive.end_, 0, nullptr};
    return groups_.insert(std::move(spare_)).position->second;
  }

  void add(HostReceive& receive, Group& group, HostReceive::Target target) noexcept {
    ++group.receives;
    receive.state_ = HostReceive::State::tracked;
    receive.is_in_place_ = target == HostReceive::Target::user_buffer;
    if (receive.is_in_place_) link(receive, group.in_place);
  }

  void take_out_of_place(HostReceive& receive) noexcept {
    if (receive.is_in_place_) {
      unlink(receive, group_of(receive)->second.in_place);
      receive.is_in_place_ = false;
    }
    if (std::exchange(receive.shares_, false)) --sharing_;
    if (std::exchange(receive.holds_up_small_, false)) --without_room_;
    accept_envelopes();
  }

  [[nodiscard]] Groups::iterator group_of(const HostReceive& receive) noexcept {
    return std::prev(groups_.upper_bound(receive.begin_));
  }

  /// Announces what this process accepts, as far as no earlier receive prevents it.
  void accept_envelopes() noexcept {
    if (accepts_small_ || !is_tracking() || sharing_ != 0) return;
    DirectoryRow* const own = node_directory().own_row();
    if (!std::exchange(accepts_, true) && own != nullptr)
      own->accepts_envelopes.store(true, std::memory_order_release);
    if (without_room_ != 0) return;
    accepts_small_ = true;
    if (own != nullptr && !request_table().is_threaded())
      own->accepts_small.store(true, std::memory_order_release);
  }

  static void link(HostReceive& receive, HostReceive*& first) noexcept {
    receive.previous_ = nullptr;
    receive.next_ = first;
    if (first != nullptr) first->previous_ = &receive;
    first = &receive;
  }
  static void unlink(HostReceive& receive, HostReceive*& first) noexcept {
    (receive.previous_ == nullptr ? first : receive.previous_->next_) = receive.next_;
    if (receive.next_ != nullptr) receive.next_->previous_ = receive.previous_;
    receive.previous_ = receive.next_ = nullptr;
  }

  transports::CallersMutex mutex_;
  std::atomic<bool> is_tracking_{false};
  HostReceive* untracked_ = nullptr;
  Groups groups_;
  Groups::node_type spare_;  ///< the last emptied node: saves the next group an allocation
  /// Receives with `shares_`: until they are over no envelope may arrive.
  std::size_t sharing_ = 0;
  /// Receives with `holds_up_small_`: until they are over no envelope of a small payload may arrive.
  std::size_t without_room_ = 0;
  bool accepts_ = false;
  bool accepts_small_ = false;
};

HostReceive::Target HostReceive::enter(const void* begin, std::size_t bytes, std::size_t capacity_bytes,
                                       Target wanted) {
  if (bytes == 0) return wanted;
  begin_ = reinterpret_cast<std::uintptr_t>(begin);
  end_ = begin_ + bytes;
  has_room_ = capacity_bytes >= envelope_bytes;
  return HostReceiveRegistry::of_process().enter(*this, wanted);
}

void HostReceive::note_arrival(const MPI_Status& status) noexcept {
  if (end_ == 0)
    read_message(&status);
  else
    HostReceiveRegistry::of_process().note_arrival(*this, status);
}

bool HostReceive::may_write() noexcept {
  HostReceiveRegistry& registry = HostReceiveRegistry::of_process();
  return end_ == 0 || !registry.is_tracking() || registry.may_write(*this);
}

void HostReceive::leave() noexcept {
  if (std::exchange(end_, 0) != 0) HostReceiveRegistry::of_process().leave(*this);
}

bool envelopes_may_come() noexcept {
  return HostReceiveRegistry::of_process().is_tracking();
}

bool small_payloads_may_come() noexcept {
  return envelopes_may_come() && !request_table().is_threaded();
}

void expect_envelopes_if(bool gpu_is_used) noexcept {
  HostReceiveRegistry& registry = HostReceiveRegistry::of_process();
  if (gpu_is_used && !registry.is_tracking()) [[unlikely]]
    registry.begin_tracking();
}

}  // namespace penstock::interpose
