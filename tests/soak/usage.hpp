// What a process holds of the machine, as the machine counts it, and whether that grows. Knows neither MPI
// nor Penstock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace penstock::soak {

/// What is counted. `slack`: by so much a later count may exceed an earlier one in a program that holds no
/// more: heaps and caches come to rest late.
struct Quantity {
  const char* name;
  std::int64_t slack;
};
inline constexpr std::array quantities = {
    Quantity{"own memory, KiB", 2048},     // RssAnon
    Quantity{"shared memory, KiB", 8192},  // RssShmem: regions, and the simulated GPU's memory
    // Of memory for staging, own and mapped: pools keep what was once in use at a time, one file for each
    // size above 64 KiB, and how much of each that can be comes out only with time (8 files after 5,000
    // messages, 11 after 20,000, 12 after 60,000; never more than 128 for each side).
    Quantity{"staging files", 16}, Quantity{"other descriptors", 4},  // opened files, sockets, the GPU's
    Quantity{"mappings", 300},  // lines of /proc/self/maps; 256 of a peer's allocations stay mapped
    Quantity{"threads", 1},     //
    Quantity{"device memory, KiB", 4096},  // in use on the process' current device
};
using Usage = std::array<std::int64_t, quantities.size()>;

/// Now, of the calling process. Errors: what cannot be read counts as 0.
[[nodiscard]] Usage read_usage();

/// What the descriptors of the calling process stand for, without numbers, and how many stand for it each.
using Descriptors = std::map<std::string, std::int64_t>;
[[nodiscard]] Descriptors read_descriptors();
/// One line for each of what there is more of.
[[nodiscard]] std::string more_descriptors(const Descriptors& before, const Descriptors& after);

/// Usage over time. Thread: one at a time.
class History {
 public:
  void add(const Usage& usage) { samples_.push_back(usage); }
  /// What grew, one line each; empty if nothing did. The first quarter is for coming to rest. A quantity has
  /// grown if its least in the last eighth exceeds its most in the second quarter by more than the slack.
  [[nodiscard]] std::string growth() const;
  /// One line a quantity: its extremes after the first quarter.
  [[nodiscard]] std::string summary() const;

 private:
  struct Extremes {
    std::int64_t least;
    std::int64_t most;
  };
  [[nodiscard]] Extremes extremes(std::size_t quantity, std::size_t first, std::size_t last) const;
  std::vector<Usage> samples_;
};

}  // namespace penstock::soak
