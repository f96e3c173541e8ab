// A sender's memory that receivers map: a sealed memory file without a name, so nothing of it outlives the
// processes. Receivers open it through /proc. Each segment takes a descriptor, so several regions may lie in
// one. Does not know what the memory contains.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "transports/device_memory/pinnable_mapping.hpp"
#include "transports/host/host_mapping.hpp"
#include "transports/host/status.hpp"
#include "transports/regions/offer.hpp"

namespace penstock::transports {

/// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  ~Descriptor() { close(); }
  void close() noexcept;
  [[nodiscard]] int number() const noexcept { return number_; }

 private:
  int number_;
};

/// Owns the mapping; on the sender's side also the file. Thread: any.
class Segment {
 public:
  /// Makes the sender's segment. Its memory is reserved at once, so that a lack of memory is an error here
  /// and no fault later.
  [[nodiscard]] static Status make(std::size_t bytes, std::shared_ptr<Segment>& segment);
  /// Opens the segment in which an offer's region lies, on the receiver's side. Checks every word of the
  /// offer, and that the file is this user's and sealed, so that its size cannot change. Errors: `peer_lost`
  /// for what does not fit.
  [[nodiscard]] static Status open(const Offer& offer, std::shared_ptr<Segment>& segment);

  /// Errors: std::bad_alloc.
  Segment(Descriptor descriptor, HostMapping mapping);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  /// The number of segments whose files this process holds open, and the bytes of all that it has made and
  /// that still exist.
  [[nodiscard]] static std::size_t files_open() noexcept;
  [[nodiscard]] static std::size_t made_bytes_now() noexcept;

  [[nodiscard]] char* address() const noexcept { return memory_.address(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return memory_.bytes(); }
  /// -1 on the receiver's side, which needs the mapping only.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_.number(); }
  /// Closes the sender's file, as all who need it have opened it: nobody can from then on.
  void close_file() noexcept;
  /// Pins the segment for the GPU; `context` must be current. Returns false if it cannot be pinned.
  bool pin(const cuda::ContextRef& context) noexcept { return memory_.pin(context); }

 private:
  Descriptor descriptor_;
  const bool was_made_here_;
  cuda::PinnableMapping memory_;
};

}  // namespace penstock::transports
