#include "transports/tune/questions.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "transports/host/byte_sizes.hpp"

namespace penstock::transports::tune {
namespace {

using Kind = TuningParameter::Kind;

constexpr std::uint64_t kib = 1u << 10;
constexpr std::uint64_t mib = 1u << 20;

/// Number of chunks that a payload has at least when chunks are compared.
constexpr std::uint64_t least_chunks = 4;
constexpr std::uint64_t chunked_bytes = 64 * mib;

/// Less is noise: a way counts as better or worse by this share of the time.
constexpr double margin = 0.02;

const TuningParameter* named(std::string_view name) {
  const auto all = tuning_parameters();
  return &*std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name == name; });
}

std::vector<Question> all_questions() {
  constexpr BufferKind device = BufferKind::device;
  constexpr BufferKind pool = BufferKind::async_pool;
  constexpr BufferKind pinned = BufferKind::pinned;
  constexpr BufferKind pageable = BufferKind::pageable;
  return {
      {named("staged_chunk"), "chunks through host memory", device, device, 1, TransportKind::staged, mib,
       16 * mib},
      {named("pushed_from"), "pinned to device: staged or pushed", pinned, device, 1, TransportKind::pushed,
       64 * kib, 16 * mib},
      {named("bounced_from"), "device to pageable: by the driver or a ring", device, pageable, 1,
       TransportKind::peer, 64 * kib, 16 * mib},
      {named("batched_to"), "16 at a time: by copies or a kernel", device, device, 16, TransportKind::peer,
       4 * kib, 4 * mib},
      {named("relayed_chunk"), "chunks through a ring on the device", pool, device, 1, TransportKind::relayed,
       mib, 16 * mib},
      {named("relayed_from"), "pool to device: staged or relayed", pool, device, 1, TransportKind::relayed,
       16 * kib, 16 * mib},
      {named("staged_from"), "device to device: peer or staged", device, device, 1, TransportKind::staged,
       64 * kib, 64 * mib},
  };
}

bool is_better(double a, double b) noexcept {
  return a < b * (1 - margin);
}

std::string microseconds(double ns) {
  char text[32];
  std::snprintf(text, sizeof text, ns < 99'950 ? "%.1f" : "%.0f", ns / 1000);
  return text;
}

/// "64K 9.1/12.0, 256K …"; for chunks "1M 1501, 2M 1402, …".
std::string remark_on(const Question& question, const std::vector<Sample>& samples) {
  std::string text;
  for (const Sample& sample : samples) {
    if (question.parameter->kind == Kind::chunk) {
      for (std::size_t i = 0; i < sample.ns.size(); ++i) {
        text += (i == 0 ? bytes_text(sample.point.bytes) + " by chunks of " : ", ") +
                bytes_text(sample.point.settings[i]) + ' ' + microseconds(sample.ns[i]);
      }
    } else {
      text += (text.empty() ? "" : ", ") + bytes_text(sample.point.bytes) + ' ' + microseconds(sample.ns[0]) +
              '/' + microseconds(sample.ns[1]);
    }
  }
  return text;
}

/// Returns the smallest chunk that no larger one beats.
std::uint64_t best_chunk(const Sample& sample) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < sample.ns.size(); ++i) {
    if (is_better(sample.ns[i], sample.ns[best])) best = i;
  }
  return sample.point.settings[best];
}

/// Returns the smallest payload for which the other way is better, and for no larger one worse.
std::uint64_t begin_of_the_better(const std::vector<Sample>& samples) {
  std::uint64_t from = never;
  for (auto sample = samples.rbegin(); sample != samples.rend(); ++sample) {
    if (is_better(sample->ns[0], sample->ns[1])) break;
    if (is_better(sample->ns[1], sample->ns[0])) from = sample->point.bytes;
  }
  return from;
}

/// Returns the largest payload for which the other way is better, and for no smaller one worse; 0: there is
/// none.
std::uint64_t end_of_the_better(const std::vector<Sample>& samples) {
  std::uint64_t to = 0;
  for (const Sample& sample : samples) {
    if (is_better(sample.ns[0], sample.ns[1])) break;
    if (is_better(sample.ns[1], sample.ns[0])) to = sample.point.bytes;
  }
  return to;
}

}  // namespace

std::span<const Question> questions() {
  static const auto& all = *new std::vector<Question>(all_questions());
  return all;
}

bool concerns(const Question& question, cuda::Link link) noexcept {
  if (question.parameter->of_link == nullptr)
    return link != cuda::Link::none || question.transport == TransportKind::staged;
  // a sender cuts for a link to another device
  if (question.parameter->kind == Kind::chunk && link == cuda::Link::same_device) return false;
  return link != cuda::Link::none;
}

std::vector<Point> points_of(const Question& question, std::uint64_t most_bytes) {
  std::vector<Point> points;
  if (question.parameter->kind == Kind::chunk) {
    Point point{std::min(chunked_bytes, most_bytes), {}};
    for (std::uint64_t chunk = question.first_bytes; chunk <= question.last_bytes; chunk *= 2) {
      if (chunk * least_chunks <= point.bytes) point.settings.push_back(chunk);
    }
    if (point.settings.size() > 1) points.push_back(std::move(point));
    return points;
  }
  const bool upwards = question.parameter->kind == Kind::from;
  for (std::uint64_t bytes = question.first_bytes; bytes <= std::min(question.last_bytes, most_bytes);
       bytes *= 4) {
    points.push_back(upwards ? Point{bytes, {never, 0}} : Point{bytes, {0, question.parameter->most}});
  }
  return points;
}

bool is_whole(const Question& question, const std::vector<Point>& points) {
  return !points.empty() && points == points_of(question, never);
}

Tuning variant(const Question& question, std::uint64_t setting, const Tuning& so_far) noexcept {
  Tuning table = so_far;
  for (LinkTuning& link : table.links) {
    link.staged_from =
        question.parameter->kind == Kind::chunk && question.transport == TransportKind::staged ? 0 : never;
    link.relayed_from = 0;
  }
  table.pushed_from = 0;
  for (const cuda::Link link : {cuda::Link::nvlink, cuda::Link::pcie, cuda::Link::same_device})
    question.parameter->in(table, link) = setting;
  return table;
}

Conclusion conclude(const Question& question, const std::vector<Sample>& samples, bool whole) {
  if (samples.empty()) return {};
  Conclusion conclusion{std::nullopt, remark_on(question, samples)};
  switch (question.parameter->kind) {
    case Kind::chunk:
      if (const std::uint64_t best = best_chunk(samples.front());
          best != samples.front().point.settings.back() || whole)
        conclusion.value = best;
      break;
    case Kind::from:
      if (const std::uint64_t from = begin_of_the_better(samples); from != never || whole)
        conclusion.value = from;
      break;
    case Kind::up_to:
      if (const std::uint64_t to = end_of_the_better(samples); to != samples.back().point.bytes || whole)
        conclusion.value = to;
      break;
    case Kind::time:  // no such figure is measured
      break;
  }
  return conclusion;
}

}  // namespace penstock::transports::tune
