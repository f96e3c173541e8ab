// What the two halves of Partner say to each other, one packet each. For partner.cpp and partner_process.cpp
// only.
#pragma once

#include "tests/transports/partner.hpp"

namespace penstock::transports::test {

enum class What : std::uint8_t {
  allocate,
  release,
  fill,
  check,
  describe,
  stage,
  serve,
  produce,
  drop_send,
  begin_push,
  finish_push,
  drop_push,
  advance,
  begin,
  finish,
  drop_pull,
  force_transport,
  set_tuning,
  shut_down,
  open_descriptors,
  resident_bytes,
  cached_ranges,
  devices,
  simulated,
};

struct Partner::Request {
  What what;
  unsigned slot = 0;
  bool flag = false;
  BufferKind kind = BufferKind::unknown;
  TransportKind transport = TransportKind::none;
  Staging staging = Staging::host_ring;
  int device = 0;
  Shape shape{};
  std::size_t payload_bytes = 0;
  std::uint64_t seed = 0;
  Offer offer{};
  Tuning tuning{};
};

}  // namespace penstock::transports::test
