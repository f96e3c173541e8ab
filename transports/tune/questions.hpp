// The questions that `penstock tune` measures on a pair of GPUs: for each figure of the table, which payloads
// are moved, by which two ways, over which sizes, and what follows from the times. This header measures
// nothing itself.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "transports/transport.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::transports::tune {

struct Question {
  const TuningParameter* parameter;
  const char* what;  ///< for people
  BufferKind from;
  BufferKind to;
  unsigned messages;        ///< at a time
  TransportKind transport;  ///< that carries them if the figure allows it
  /// Sizes of payloads, each four times the last; for a chunk: the chunks, each twice the last.
  std::uint64_t first_bytes;
  std::uint64_t last_bytes;
};

/// Figures of the machine first, as those of a link are measured with them; chunks before sizes.
[[nodiscard]] std::span<const Question> questions();

/// Returns whether the question can measure the link's figure at all.
[[nodiscard]] bool concerns(const Question& question, cuda::Link link) noexcept;

/// One measurement: payloads of one size, and the tables to move them by, in turn.
struct Point {
  std::uint64_t bytes;                  ///< of each payload
  std::vector<std::uint64_t> settings;  ///< of the figure: that of the plainer way first, or all the chunks
  friend bool operator==(const Point&, const Point&) = default;
};
/// `most_bytes`: of a payload; points that need a larger one are left out.
[[nodiscard]] std::vector<Point> points_of(const Question& question, std::uint64_t most_bytes);

/// Returns whether these are all points of the question.
[[nodiscard]] bool is_whole(const Question& question, const std::vector<Point>& points);

/// Returns the table to measure a setting with: `so_far`, but with no other figure that affects which way is
/// taken.
[[nodiscard]] Tuning variant(const Question& question, std::uint64_t setting, const Tuning& so_far) noexcept;

/// The times of a point's settings, in the order of its settings; medians.
struct Sample {
  Point point;
  std::vector<double> ns;
};

/// None: the samples do not suffice (too few, or they end before the better way can show).
struct Conclusion {
  std::optional<std::uint64_t> value;
  std::string remark;
};
/// `whole`: is_whole(), and all were measured.
[[nodiscard]] Conclusion conclude(const Question& question, const std::vector<Sample>& samples, bool whole);

}  // namespace penstock::transports::tune
