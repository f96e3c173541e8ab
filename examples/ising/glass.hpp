// What the simulation needs of a rank's share of the spins, however they are stored: work that it queues on a
// stream, and what must be exchanged. The planes, halos included, are device memory.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "examples/ising/options.hpp"
#include "examples/ising/planes.hpp"
#include "examples/ising/tally.hpp"
#include "examples/support/exchanger.hpp"
#include "examples/support/gpu.hpp"

namespace ising {

/// A rank among those that share the lattice.
struct RankOf {
  int rank;
  int count;

  [[nodiscard]] int below() const { return (rank + count - 1) % count; }
  [[nodiscard]] int above() const { return (rank + 1) % count; }
};
// Two tags, because with two ranks both neighbours are the same one.
constexpr int tag_downwards = 0;
constexpr int tag_upwards = 1;

struct Halos {
  std::vector<example::Message> sends;
  std::vector<example::Message> receives;
};

class Glass {
 public:
  Glass() = default;
  virtual ~Glass() = default;
  Glass(const Glass&) = delete;
  Glass& operator=(const Glass&) = delete;

  /// A sweep updates the spins in so many sets, one after another; no two of a set are neighbours.
  [[nodiscard]] virtual int phases() const = 0;
  /// Couplings, and the start of every spin; the halos are left alone.
  virtual void queue_start(const example::Stream& stream) = 0;
  /// One Metropolis update of that phase's spins in that part of the planes.
  virtual void queue_update(const example::Stream& stream, int phase, Part part, std::uint32_t sweep) = 0;
  /// What the neighbours must know, and this rank of them, after that phase.
  [[nodiscard]] virtual Halos halos(int phase) = 0;
  /// Fills `tallies` (tally_count of them) with partial sums. Needs all halos.
  virtual void queue_tally(const example::Stream& stream, Tally* tallies) = 0;
  /// Adds to `different` (replica_pairs of them) how many spins differ between replicas 0 and 1, 2 and 3, ….
  virtual void queue_overlap(const example::Stream& /*stream*/, unsigned long long* /*different*/) {}
  /// Collective. On rank 0: a word for every site, with a bit for each replica; x fastest, then y, then z.
  [[nodiscard]] virtual std::vector<std::uint32_t> gather(const example::Stream& stream,
                                                          example::Exchanger& exchanger) = 0;
};

/// As the options say: a byte a spin, or a bit, in one of two layouts.
[[nodiscard]] std::unique_ptr<Glass> make_glass(const Options& options, RankOf rank);
/// Device memory that it takes.
[[nodiscard]] std::int64_t glass_bytes(const Options& options, RankOf rank);

/// Collective. On rank 0: all ranks' planes behind one another.
[[nodiscard]] std::vector<std::uint32_t> gather_planes(const example::Stream& stream,
                                                       example::Exchanger& exchanger,
                                                       const std::uint32_t* own_planes, int plane_words,
                                                       int extent, RankOf rank);

}  // namespace ising
