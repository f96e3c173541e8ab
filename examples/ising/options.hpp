// Command line of the Ising example. Knows no GPU and no MPI.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "examples/ising/model.hpp"
#include "examples/support/exchange.hpp"

namespace ising {

enum class Layout { checkerboard, sliced };

struct Options {
  Lattice lattice{64, 64, 64};
  int replicas = 1;  ///< 1: a byte a spin; 32: a bit a spin
  Layout layout = Layout::checkerboard;
  Couplings couplings = Couplings::glass;
  std::uint32_t sweeps = 100;
  std::uint32_t measurements = 1;  ///< of the energy: after each of the last sweeps
  double temperature = 1.1;        ///< in units of |J|; the glass freezes at 1.1019(29)
  std::uint64_t seed = 1;
  example::Exchange exchange = example::Exchange::device;
  bool verify = false;
  bool json = false;

  [[nodiscard]] std::int64_t spins() const { return lattice.sites() * replicas; }
  [[nodiscard]] Model model() const { return model_of(lattice, couplings, temperature, seed); }
};

[[nodiscard]] std::string name_of(Couplings couplings);
[[nodiscard]] std::string name_of(Layout layout);

/// Empty when the program should end at once: `exit_code` is then 0 (help was asked for) or 2 (bad
/// arguments), and rank 0 has printed why.
[[nodiscard]] std::optional<Options> read_options(int argc, char** argv, int rank, int rank_count,
                                                  int& exit_code);

}  // namespace ising
