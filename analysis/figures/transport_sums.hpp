// Adds up costs and speeds by class of messages. Must not know call sites.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/causes/causes.hpp"
#include "analysis/joining/messages.hpp"
#include "analysis/recording/rank_trace.hpp"
#include "analysis/report/report.hpp"
#include "analysis/tables/interval_set.hpp"

namespace penstock::analysis {

/// Thread: one at a time. Memory: four bytes a message besides the classes.
class TransportSums {
 public:
  explicit TransportSums(const MessageIndex& index) : index_(index) {}
  /// Adds the messages that this rank received within `window`, and what it moved.
  void add(const RankTrace& rank, std::size_t position, Interval window);
  /// `within_error_ns`: the part that lies within the error of the hosts' clocks.
  void charge(std::uint32_t message_class, Cause cause, std::uint64_t time_ns, std::uint64_t within_error_ns);
  void merge(const TransportSums& part);
  /// Returns the figures by bytes, largest first; those of messages before those of parts of other calls.
  [[nodiscard]] std::vector<TransportFigures> finish();
  template <typename Archive>
  void exchange(Archive& archive) {
    archive(sums_);
  }

 private:
  struct Sums {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    std::uint64_t saved_bytes = 0;  ///< that did not travel, as lists went as bitmaps
    TimeByCause by_cause{};
    TimeByCause within_error{};
    std::vector<float> speeds_gbps;
    std::vector<float> least_speeds_gbps;  ///< of those whose end may have been seen late
    template <typename Archive>
    void exchange(Archive& archive) {
      archive(messages, bytes, saved_bytes, by_cause, within_error, speeds_gbps, least_speeds_gbps);
    }
  };
  Sums& sums_of(std::uint32_t message_class);
  void add(std::uint32_t message_class, std::uint64_t bytes);
  void add_transfers(const RankTrace& rank, std::size_t position, Interval window);
  void add_messages(const RankTrace& rank, std::size_t position, Interval window);

  const MessageIndex& index_;
  std::vector<Sums> sums_;  ///< by class
};

}  // namespace penstock::analysis
