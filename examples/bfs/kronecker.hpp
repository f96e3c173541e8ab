// The graph of the Graph500 benchmark: a Kronecker (R-MAT) generator. Edge number i is a pure function of i
// and a seed, the same on host and GPU, so every rank can make any edge for itself and the graph does not
// depend on how many ranks there are. Knows neither ranks nor GPUs. Source: Graph500 specification, "Graph
// generation"; edges are independent of each other, so that the specification's shuffling of their order
// changes nothing.
#pragma once

#include <cstdint>

#include "examples/support/philox.hpp"

namespace bfs {

struct Edge {
  std::int64_t first;
  std::int64_t second;
};

/// Permutation of the numbers below 2^bits: takes the meaning from vertex numbers, whose low ones would be
/// the vertices with most edges. Each step, a product with an odd number, a sum or an exclusive or with
/// higher bits, can be undone.
struct Permutation {
  int bits;
  std::uint64_t factor[3];  ///< odd
  std::uint64_t summand[3];

  [[nodiscard]] EXAMPLE_HOST_DEVICE std::int64_t operator()(std::uint64_t number) const {
    const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    for (int round = 0; round < 3; ++round) {
      number = (number * factor[round] + summand[round]) & mask;
      number ^= number >> (bits / 2 + 1);
    }
    return static_cast<std::int64_t>(number);
  }
};

class Kronecker {
 public:
  Kronecker(int scale, std::int64_t edge_factor, std::uint64_t seed)
      : scale_(scale), edge_factor_(edge_factor), seed_(seed), permutation_{scale, {}, {}} {
    for (std::uint32_t round = 0; round < 3; ++round) {
      const example::FourWords random = random_words(permutation_stream, 0, round);
      permutation_.factor[round] = (std::uint64_t{random.word[0]} << 32 | random.word[1]) | 1;
      permutation_.summand[round] = std::uint64_t{random.word[2]} << 32 | random.word[3];
    }
  }

  [[nodiscard]] EXAMPLE_HOST_DEVICE std::int64_t vertices() const { return std::int64_t{1} << scale_; }
  /// Of the input: undirected ones, some of them twice or loops.
  [[nodiscard]] EXAMPLE_HOST_DEVICE std::int64_t edges() const { return edge_factor_ << scale_; }

  [[nodiscard]] EXAMPLE_HOST_DEVICE Edge edge(std::int64_t index) const {
    // A bit of both vertices at a time: one of the four quadrants of the adjacency matrix, with probabilities
    // A = 0.57, B = 0.19, C = 0.19, D = 0.05, here in units of 2^-32 and summed up.
    constexpr std::uint32_t up_to_a = 2448131359;
    constexpr std::uint32_t up_to_b = 3264175145;
    constexpr std::uint32_t up_to_c = 4080218931;
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    example::FourWords random{};
    for (int bit = 0; bit < scale_; ++bit) {
      if (bit % 4 == 0) {
        random =
            random_words(edge_stream, static_cast<std::uint64_t>(index), static_cast<std::uint32_t>(bit));
      }
      const std::uint32_t draw = random.word[bit % 4];
      const bool lower = draw >= up_to_b;
      const bool right = lower ? draw >= up_to_c : draw >= up_to_a;
      first = first << 1 | (lower ? 1 : 0);
      second = second << 1 | (right ? 1 : 0);
    }
    return {permutation_(first), permutation_(second)};
  }

  /// The index-th vertex to try as a root of a search: at random, and the same on all ranks.
  [[nodiscard]] std::int64_t root_candidate(std::int64_t index) const {
    const example::FourWords random = random_words(root_stream, static_cast<std::uint64_t>(index), 0);
    return static_cast<std::int64_t>((std::uint64_t{random.word[0]} << 32 | random.word[1]) >> (64 - scale_));
  }

 private:
  static constexpr std::uint32_t edge_stream = 0;
  static constexpr std::uint32_t permutation_stream = 1;
  static constexpr std::uint32_t root_stream = 2;

  [[nodiscard]] EXAMPLE_HOST_DEVICE example::FourWords random_words(std::uint32_t stream, std::uint64_t index,
                                                                    std::uint32_t part) const {
    return example::philox(
        {{static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), part, stream}}, seed_);
  }

  int scale_;
  std::int64_t edge_factor_;
  std::uint64_t seed_;
  Permutation permutation_;
};

}  // namespace bfs
