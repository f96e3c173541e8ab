// The properties that distinguish messages: buffers, size, transport and its reason. The table numbers these
// classes alike for all ranks. Must not know times.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <string_view>
#include <vector>

#include "analysis/tables/string_pool.hpp"
#include "interpose/record/trace_format.hpp"

namespace penstock::analysis {

/// The upper limits of the size classes; sizes above the last limit form a class of their own.
inline constexpr std::uint64_t size_limits_bytes[] = {1024, 64 << 10, 1 << 20, 16 << 20, 256 << 20};

/// Returns true for a class of messages that take as long whatever their size: they have a latency each.
[[nodiscard]] constexpr bool is_small(std::uint64_t size_limit_bytes) noexcept {
  return size_limit_bytes == size_limits_bytes[0];
}

/// Returns true for memory of a GPU, however it was allocated.
[[nodiscard]] constexpr bool is_device_memory(trace::BufferKind kind) noexcept {
  return kind == trace::BufferKind::device || kind == trace::BufferKind::async_pool ||
         kind == trace::BufferKind::virtual_memory || kind == trace::BufferKind::managed;
}

/// Whether a payload passes through memory that belongs to neither buffer (transports/kinds/transports.def).
/// `none`: no transport of Penstock's carried a message.
enum class TransportPath : std::uint8_t { none, direct, buffered };
[[nodiscard]] constexpr TransportPath path_of(trace::TransportKind transport) noexcept {
  switch (transport) {
#define PENSTOCK_NO_TRANSPORT(name, ...) \
  case trace::TransportKind::name:       \
    return TransportPath::none;
#define PENSTOCK_TRACED_TRANSPORT(name, number, path) \
  case trace::TransportKind::name:                    \
    return TransportPath::path;
#define PENSTOCK_TRANSPORT(name, number, path, span) PENSTOCK_TRACED_TRANSPORT(name, number, path)
#include "transports/kinds/transports.def"
  }
  return TransportPath::none;  // a recording may hold any number
}

/// Returns true if the payload goes from GPU to GPU and not through other memory.
[[nodiscard]] constexpr bool is_direct(trace::TransportKind transport) noexcept {
  return path_of(transport) == TransportPath::direct;
}

/// What a transport connects (transports/kinds/transports.def). `any`: that of the MPI library, or unknown.
enum class TransportSpan : std::uint8_t { any, one_process, ipc, host_memory, nodes };
[[nodiscard]] constexpr TransportSpan span_of(trace::TransportKind transport) noexcept {
  switch (transport) {
#define PENSTOCK_TRANSPORT(name, number, path, span) \
  case trace::TransportKind::name:                   \
    return TransportSpan::span;
#include "transports/kinds/transports.def"
    default:
      return TransportSpan::any;
  }
}

/// Returns false if the other transport cannot connect two ranks between which messages went by the one.
[[nodiscard]] constexpr bool may_go_by(trace::TransportKind one, trace::TransportKind other) noexcept {
  const TransportSpan from = span_of(one);
  const TransportSpan to = span_of(other);
  const auto is_within_node = [](TransportSpan span) {
    return span == TransportSpan::ipc || span == TransportSpan::host_memory;
  };
  return from == to || to == TransportSpan::any || (is_within_node(from) && is_within_node(to)) ||
         (from == TransportSpan::any && to != TransportSpan::one_process);
}

inline constexpr std::size_t size_class_count = std::size(size_limits_bytes) + 1;

/// Returns the index of the first limit that `bytes` does not exceed; one past the last if it exceeds all.
[[nodiscard]] std::uint8_t size_class_of(std::uint64_t bytes) noexcept;
/// Return that limit; 0 if the size exceeds all.
[[nodiscard]] std::uint64_t size_limit_of(std::uint64_t bytes) noexcept;
[[nodiscard]] std::uint64_t limit_of_size_class(std::size_t size_class) noexcept;

struct MessageClass {
  trace::BufferKind source = trace::BufferKind::unknown;
  trace::BufferKind destination = trace::BufferKind::unknown;
  trace::TransportKind transport = trace::TransportKind::none;
  std::uint32_t reason = 0;  ///< in the table's pool; its text 0 is empty
  std::uint64_t size_limit_bytes = 0;
  /// The messages are not the program's own, but parts of another call, such as a collective.
  bool is_part = false;
  auto operator<=>(const MessageClass&) const = default;
};

/// Class 0 is "no message". Thread: one at a time.
class MessageClasses {
 public:
  static constexpr std::uint32_t no_message = 0;

  MessageClasses();
  [[nodiscard]] std::uint32_t id_of(const MessageClass& message_class);
  /// The same for a class that has a number. Thread: any number.
  [[nodiscard]] std::uint32_t number_of(const MessageClass& message_class) const {
    return ids_.at(message_class);
  }
  [[nodiscard]] const std::vector<MessageClass>& all() const noexcept { return classes_; }
  [[nodiscard]] StringPool& reasons() noexcept { return reasons_; }
  [[nodiscard]] std::string_view reason_of(std::uint32_t id) const {
    return reasons_.at(classes_.at(id).reason);
  }
  /// See archive.hpp. Only a new table may read.
  template <typename Archive>
  void exchange(Archive& archive) {
    std::vector<MessageClass> classes(classes_.begin() + 1, classes_.end());
    archive(reasons_, classes);
    for (const MessageClass& each : classes) {
      static_cast<void>(id_of(each));
    }
  }

 private:
  std::vector<MessageClass> classes_;
  std::map<MessageClass, std::uint32_t> ids_;
  StringPool reasons_;
};

}  // namespace penstock::analysis
