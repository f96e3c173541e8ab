#include "transports/copies/chunk_ring.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <deque>
#include <mutex>

#include "transports/host/guarded.hpp"

namespace penstock::transports {
namespace {

constexpr std::size_t smallest_chunk_bytes = 128u << 10;
constexpr std::size_t largest_chunk_bytes = 1u << 20;
static_assert(ChunkRing::bytes % largest_chunk_bytes == 0);

/// One ring keeps a link busy with a large payload. Small payloads need several, as each waits for messages
/// from the other side. More rings only take memory, 8 MiB each.
constexpr unsigned most_on_loan = 4;

struct Line {
  std::mutex mutex;
  std::deque<const ChunkRing*> waiting;
  unsigned on_loan = 0;
};

Line& line_of(Way way) noexcept {
  static auto& lines = *new std::array<Line, 2>;
  return lines[static_cast<std::size_t>(way)];
}

}  // namespace

std::size_t chunk_bytes_at(std::size_t offset, std::size_t payload_bytes) noexcept {
  const std::size_t left = payload_bytes - offset;
  if (left <= smallest_chunk_bytes) return left;
  const std::size_t growing = std::max(smallest_chunk_bytes, offset);
  const std::size_t shrinking = std::max(smallest_chunk_bytes, left / 2);
  return std::bit_floor(std::min({growing, shrinking, largest_chunk_bytes}));
}

ChunkRing::ChunkRing(Way way) : way_(way) {
  Line& line = line_of(way_);
  const std::lock_guard lock(line.mutex);
  line.waiting.push_back(this);
}

ChunkRing::~ChunkRing() {
  Line& line = line_of(way_);
  const bool had_one = memory_ != nullptr;
  memory_.reset();
  const std::lock_guard lock(line.mutex);
  if (had_one) {
    --line.on_loan;
  } else {
    std::erase(line.waiting, this);
  }
}

Status ChunkRing::try_take(const Buffer& device, bool& taken) noexcept {
  return guarded([&]() -> Status {
    taken = memory_ != nullptr;
    if (taken) return {};
    Line& line = line_of(way_);
    const std::lock_guard lock(line.mutex);
    if (line.waiting.front() != this || line.on_loan == most_on_loan) return {};
    const cuda::ContextRef context = cuda::Context::of(device);
    if (context == nullptr) return cuda::no_driver();
    const cuda::ContextScope scope(*context);
    if (!scope.status().ok()) return scope.status();
    memory_ = cuda::Bounce::take(context);
    if (memory_ == nullptr) return {Code::out_of_memory, "a ring of host memory"};
    line.waiting.pop_front();
    ++line.on_loan;
    taken = true;
    return {};
  });
}

}  // namespace penstock::transports
