#include "examples/bfs/bitmap_kernels.hpp"

#include "examples/bfs/threads.hpp"
#include "examples/support/device_algorithms.hpp"

namespace bfs {
namespace {

constexpr unsigned all_lanes = 0xffffffff;

}  // namespace

// Not in the unnamed namespace: profilers show these names.
namespace kernels {

__global__ void pack(const std::uint32_t* list, std::int64_t count, std::uint32_t* bitmap) {
  const std::int64_t index = thread_index();
  if (index < count) {
    atomicOr(&bitmap[list[index] / 32], 1u << list[index] % 32);
  }
}

__global__ void unite(const std::uint32_t* from, std::uint32_t* into, std::int64_t words) {
  const std::int64_t index = thread_index();
  if (index < words) {
    into[index] |= from[index];
  }
}

__global__ void complement(const std::uint32_t* from, std::uint32_t* into, std::int64_t words) {
  const std::int64_t index = thread_index();
  if (index < words) {
    into[index] = ~from[index];
  }
}

__global__ void count_bits(const std::uint32_t* bitmap, std::int64_t words, std::uint32_t* counts) {
  const std::int64_t index = thread_index();
  if (index <= words) {
    counts[index] = index < words ? static_cast<std::uint32_t>(__popc(bitmap[index])) : 0;
  }
}

/// Algorithm 1 of the paper. A warp reads 32 words, a word a lane, and takes them one after another: each
/// lane stands for one bit, and lanes whose bit is set write to neighbouring places.
__global__ void unpack(const std::uint32_t* bitmap, const std::uint32_t* places, std::int64_t words,
                       std::uint32_t* list) {
  const std::int64_t index = thread_index();
  const auto lane = static_cast<std::uint32_t>(index % 32);
  const std::int64_t first_word = index - lane;
  // Lanes behind the last word have an empty one: they must stay, since their bits of the words before them
  // are theirs alone to write, and a shuffle without all its lanes is undefined.
  const std::uint32_t own_word = index < words ? bitmap[index] : 0;
  const std::uint32_t own_place = index < words ? places[index] - places[0] : 0;
  for (int source = 0; source < 32; ++source) {
    if (first_word + source >= words) {
      break;  // the same for all lanes
    }
    const std::uint32_t word = __shfl_sync(all_lanes, own_word, source);
    const std::uint32_t place = __shfl_sync(all_lanes, own_place, source);
    const std::uint32_t bit = 1u << lane;
    if ((word & bit) != 0) {
      list[place + static_cast<std::uint32_t>(__popc(word & (bit - 1)))] =
          static_cast<std::uint32_t>(first_word + source) * 32 + lane;
    }
  }
}

}  // namespace kernels

void queue_pack(const example::Stream& stream, const std::uint32_t* list, std::int64_t count,
                std::uint32_t* bitmap) {
  if (count > 0) {
    example::launch(stream, count, kernels::pack, list, count, bitmap);
  }
}

void queue_unite(const example::Stream& stream, const std::uint32_t* from, std::uint32_t* into,
                 std::int64_t words) {
  if (words > 0) {
    example::launch(stream, words, kernels::unite, from, into, words);
  }
}

void queue_complement(const example::Stream& stream, const std::uint32_t* from, std::uint32_t* into,
                      std::int64_t words) {
  example::launch(stream, words, kernels::complement, from, into, words);
}

struct Unpacker::Temporary {
  example::Scratch scratch;
};

Unpacker::Unpacker(std::int64_t most_words)
    : places_(static_cast<std::size_t>(most_words) + 1), temporary_(std::make_unique<Temporary>()) {}
Unpacker::~Unpacker() = default;

void Unpacker::queue_places(const example::Stream& stream, const std::uint32_t* bitmap, std::int64_t words) {
  example::launch(stream, words + 1, kernels::count_bits, bitmap, words, places_.get());
  example::exclusive_sum(stream, temporary_->scratch, places_.get(), places_.get(), words + 1);
}

void Unpacker::queue_list(const example::Stream& stream, const std::uint32_t* bitmap, std::int64_t first_word,
                          std::int64_t words, std::uint32_t* list) const {
  example::launch(stream, words, kernels::unpack, bitmap + first_word, places_.get() + first_word, words,
                  list);
}

}  // namespace bfs
