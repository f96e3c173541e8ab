// Names by which both sides of a message find in shared memory what the other shows of it. Knows neither
// adverts nor notes.
#pragma once

#include <atomic>
#include <cstdint>

namespace penstock::interpose {

/// Names the receive and the send that meet: the nth of both between two ranks, with a tag, on a
/// communicator; of partitioned messages, the nth MPI_Psend_init and the nth MPI_Precv_init (MPI-4 §4.2).
struct MessageName {
  std::uint64_t communicator = 0;  ///< the same on all its ranks
  std::uint64_t ordinal = 0;       ///< n, from 0
  std::int32_t tag = 0;
  std::int32_t sender = -1;    ///< ranks in MPI_COMM_WORLD
  std::int32_t receiver = -1;  ///< -1 in adverts: who shows it
  friend bool operator==(const MessageName&, const MessageName&) = default;
};

/// A name in shared memory, which others may read while it is written: then what they get is no name at all.
class StoredName {
 public:
  void set(const MessageName& name) noexcept {
    communicator_.store(name.communicator, std::memory_order_relaxed);
    ordinal_.store(name.ordinal, std::memory_order_relaxed);
    tag_.store(name.tag, std::memory_order_relaxed);
    sender_.store(name.sender, std::memory_order_relaxed);
    receiver_.store(name.receiver, std::memory_order_relaxed);
  }
  [[nodiscard]] MessageName get() const noexcept {
    return {communicator_.load(std::memory_order_relaxed), ordinal_.load(std::memory_order_relaxed),
            tag_.load(std::memory_order_relaxed), sender_.load(std::memory_order_relaxed),
            receiver_.load(std::memory_order_relaxed)};
  }

 private:
  std::atomic<std::uint64_t> communicator_;
  std::atomic<std::uint64_t> ordinal_;
  std::atomic<std::int32_t> tag_;
  std::atomic<std::int32_t> sender_;
  std::atomic<std::int32_t> receiver_;
};

}  // namespace penstock::interpose
