// Adds up costs and speeds by class of messages. Must not know call sites.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "analysis/figures/figure.hpp"

namespace penstock::analysis {

/// Thread: one at a time. Memory: four bytes a message besides the classes.
class TransportSums {
 public:
  explicit TransportSums(const FigureContext& context) : index_(context.index) {}
  void add(const WaitInput& wait);
  /// Counts each message once, by its receiver's half or, if that is missing, by its sender's. Speeds of
  /// those that the MPI library carried are known from here.
  void add(const HalfInput& half);
  /// Adds what the rank moved.
  void add(const RankInput& rank);
  void merge(TransportSums&& part, const Renumbering& numbers);
  auto members() { return std::tie(sums_); }
  /// Orders the figures by bytes, largest first; those of messages before those of parts of other calls.
  void finish(Report& report, SiteNames& names);

 private:
  struct Sums {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    std::uint64_t saved_bytes = 0;  ///< that did not travel, as lists went as bitmaps
    TimeByCause by_cause{};
    TimeByCause within_error{};
    std::vector<float> speeds;        ///< GB/s; of small messages, messages a nanosecond
    std::vector<float> least_speeds;  ///< of those whose end may have been seen late
    auto members() {
      return std::tie(messages, bytes, saved_bytes, by_cause, within_error, speeds, least_speeds);
    }
  };
  Sums& sums_of(std::uint32_t message_class) {
    if (message_class >= sums_.size()) {
      sums_.resize(index_.classes().all().size());
    }
    return sums_[message_class];
  }
  void count(std::uint32_t message_class, std::uint64_t bytes);
  void add_transfers(const RankTrace& rank, std::size_t position, Interval window);

  const MessageIndex& index_;
  std::vector<Sums> sums_;  ///< by class
};

}  // namespace penstock::analysis
