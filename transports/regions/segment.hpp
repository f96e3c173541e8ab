// A sender's memory that receivers map: a sealed memory file without a name, so nothing of it outlives the
// processes; receivers open it through /proc. Each takes a descriptor, so several regions may lie in one.
// Knows neither regions nor messages.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "transports/device_memory/pinned_memory.hpp"
#include "transports/host/host_mapping.hpp"
#include "transports/host/status.hpp"
#include "transports/regions/offer.hpp"

namespace penstock::transports {

/// A file descriptor. Owns it.
class Descriptor {
 public:
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  ~Descriptor();
  [[nodiscard]] int number() const noexcept { return number_; }

 private:
  int number_;
};

/// Owns: the mapping, the sender's also the file. Thread: any.
class Segment {
 public:
  /// The sender's. Backed by memory from the start, so that running out of it is an error here and no fault
  /// later.
  [[nodiscard]] static Status make(std::size_t bytes, std::shared_ptr<Segment>& segment);
  /// The receiver's: what an offer's region lies in. Every word of the offer is checked, and that the file is
  /// this user's and sealed, so that its size cannot change; what does not fit is `peer_lost`.
  [[nodiscard]] static Status open(const Offer& offer, std::shared_ptr<Segment>& segment);

  Segment(Descriptor descriptor, HostMapping mapping) noexcept;
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  /// How many this process has made that still exist, and their bytes.
  [[nodiscard]] static std::size_t made_now() noexcept;
  [[nodiscard]] static std::size_t made_bytes_now() noexcept;

  [[nodiscard]] char* address() const noexcept { return mapping_.address(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return mapping_.bytes(); }
  /// -1 on the receiver's side, which needs the mapping only.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_.number(); }
  /// Pins it for the GPU; `context` must be current. False if it cannot be pinned.
  bool pin(const cuda::ContextRef& context) noexcept { return registration_.ensure(context); }

 private:
  Descriptor descriptor_;
  HostMapping mapping_;
  cuda::Registration registration_;
};

}  // namespace penstock::transports
