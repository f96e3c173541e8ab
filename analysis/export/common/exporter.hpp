// The interface of export formats: they receive the ranks of a job, one after the other, with what other
// ranks recorded of their messages. Must not know any format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/export/common/job_clock.hpp"
#include "analysis/export/common/names.hpp"
#include "analysis/joining/messages.hpp"
#include "analysis/recording/rank_trace.hpp"

namespace penstock::analysis::exports {

/// The facts of a message from both sides.
struct MessageFacts {
  std::uint64_t number = 0;          ///< the same at both halves, from 1; 0 if the other half is missing
  std::optional<KnownHalf> partner;  ///< the other half
  const TransferFacts* transfer = nullptr;                      ///< the first that moved it
  trace::TransportKind transport = trace::TransportKind::none;  ///< none: unknown
  std::uint32_t reason = trace::no_string;                      ///< of this rank's recording
};

/// One rank and what an exporter needs to write it.
class ExportedRank {
 public:
  /// `count`: receives the number of records written, a few thousand at a time.
  ExportedRank(const RankTrace& trace, std::size_t position, const MessageIndex& messages, RankClock clock,
               RankNames& names, std::function<void(std::size_t)> count);

  [[nodiscard]] const RankTrace& trace() const noexcept { return trace_; }
  [[nodiscard]] RankNames& names() const noexcept { return names_; }
  [[nodiscard]] const RankClock& clock() const noexcept { return clock_; }
  [[nodiscard]] const MessageIndex& messages() const noexcept { return messages_; }
  [[nodiscard]] MessageFacts message(std::size_t half) const;

  /// Counts a record; call it once per record.
  void count_record() const {
    if (++uncounted_ == records_at_once) {
      count_(uncounted_);
      uncounted_ = 0;
    }
  }

 private:
  static constexpr std::size_t records_at_once = 4096;

  const RankTrace& trace_;
  std::size_t position_;
  const MessageIndex& messages_;
  RankClock clock_;
  RankNames& names_;
  std::function<void(std::size_t)> count_;
  mutable std::size_t uncounted_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> transfers_by_key_;
};

/// Errors: TraceError if it cannot be written.
class Exporter {
 public:
  Exporter() = default;
  virtual ~Exporter() = default;
  Exporter(const Exporter&) = delete;
  Exporter& operator=(const Exporter&) = delete;

  virtual void add(const ExportedRank& rank) = 0;  ///< in rank order, each once
  virtual void finish() = 0;                       ///< after the last rank; completes the output
};

}  // namespace penstock::analysis::exports
