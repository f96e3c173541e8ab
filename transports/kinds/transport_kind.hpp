// The kinds of transports, made from transports.def: numbers, names, what each connects, and sets of them.
// Knows neither CUDA nor how a payload is moved.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string_view>

namespace penstock::transports {

/// The numbers are those of the trace format, which has some more (interpose/record/trace_format.hpp).
enum class TransportKind : std::uint8_t {
#define PENSTOCK_NO_TRANSPORT(name, number) name = number,
#define PENSTOCK_TRANSPORT(name, number, path, span) name = number,
#include "transports/kinds/transports.def"
};

/// What a transport connects, and so where it is open.
enum class TransportSpan : std::uint8_t {
  one_process,
  ipc,          ///< processes whose GPUs are one, or have peer access
  host_memory,  ///< processes of one node
  nodes
};

[[nodiscard]] constexpr const char* name_of(TransportKind transport) noexcept {
  switch (transport) {
#define PENSTOCK_NO_TRANSPORT(name, ...) \
  case TransportKind::name:              \
    return #name;
#define PENSTOCK_TRANSPORT(name, ...) PENSTOCK_NO_TRANSPORT(name)
#include "transports/kinds/transports.def"
  }
  return "none";
}

struct TransportRow {
  TransportKind kind;
  const char* name;
  TransportSpan span;
};

/// The transports that carry payloads, in the order in which users see them listed.
inline constexpr TransportRow transport_rows[] = {
#define PENSTOCK_TRANSPORT(name, number, path, span) {TransportKind::name, #name, TransportSpan::span},
#include "transports/kinds/transports.def"
};

/// Their names as the values of a setting: "local, peer, … or network".
inline constexpr auto transport_names = [] {
  std::array<char, 128> text{};
  std::size_t end = 0;
  const auto append = [&](std::string_view part) {
    for (const char each : part) text.at(end++) = each;
  };
  constexpr std::size_t count = std::size(transport_rows);
  for (std::size_t i = 0; i < count; ++i) {
    append(transport_rows[i].name);
    if (i + 1 < count) append(i + 2 < count ? ", " : " or ");
  }
  text.at(end) = '\0';
  return text;
}();

/// A set of transports. A value; empty at first.
class TransportSet {
 public:
  constexpr TransportSet() = default;
  constexpr TransportSet(std::initializer_list<TransportKind> transports) noexcept {
    for (const TransportKind each : transports) add(each);
  }
  /// Returns the set of all others.
  [[nodiscard]] static constexpr TransportSet all_but(TransportSet left_out) noexcept {
    left_out.bits_ = ~left_out.bits_;
    return left_out;
  }

  [[nodiscard]] constexpr bool holds(TransportKind transport) const noexcept {
    return (bits_ & bit(transport)) != 0;
  }
  [[nodiscard]] constexpr bool is_empty() const noexcept { return bits_ == 0; }
  constexpr void add(TransportKind transport) noexcept { bits_ |= bit(transport); }
  [[nodiscard]] constexpr TransportSet operator|(TransportSet other) const noexcept {
    other.bits_ |= bits_;
    return other;
  }

 private:
  [[nodiscard]] static constexpr std::uint32_t bit(TransportKind transport) noexcept {
    return std::uint32_t{1} << static_cast<unsigned>(transport);
  }

  std::uint32_t bits_ = 0;
};

}  // namespace penstock::transports
