#include "tests/benchmarks/cliff_points.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>

namespace penstock::benchmarks {
namespace {

constexpr double most_times_worse = 2;

struct Pair {
  MemoryKind sender;
  MemoryKind receiver;
};

constexpr Pair pairs[] = {
    {MemoryKind::device, MemoryKind::device},        {MemoryKind::device, MemoryKind::pinned},
    {MemoryKind::pinned, MemoryKind::device},        {MemoryKind::device, MemoryKind::pageable},
    {MemoryKind::pageable, MemoryKind::device},      {MemoryKind::managed, MemoryKind::managed},
    {MemoryKind::async_pool, MemoryKind::async_pool}};

bool is_close(const Pair& pair) {
  const auto is_fast = [](MemoryKind kind) { return lives_on_device(kind) && kind != MemoryKind::managed; };
  return is_fast(pair.sender) && is_fast(pair.receiver);
}

std::vector<std::size_t> sizes_of(const CliffWalk& walk, bool with_neighbours) {
  std::vector<std::size_t> sizes;
  for (std::size_t bytes = walk.smallest; bytes <= walk.largest; bytes *= 2) {
    if (with_neighbours && bytes > 1) sizes.push_back(bytes - 1);
    sizes.push_back(bytes);
    if (with_neighbours) sizes.push_back(bytes + 1);
  }
  return sizes;
}

std::string text_of_bytes(std::size_t bytes) {
  constexpr std::size_t kib = 1024;
  for (const std::size_t off : {std::size_t{0}, std::size_t{1}}) {
    const char* const sign[] = {off == 0 ? "" : " + 1", off == 0 ? "" : " - 1"};
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      const std::size_t even = i == 0 ? bytes - off : bytes + off;
      if (even >= kib * kib && even % (kib * kib) == 0)
        return std::to_string(even / kib / kib) + " MiB" + sign[i];
      if (even >= kib && even % kib == 0) return std::to_string(even / kib) + " KiB" + sign[i];
    }
  }
  return std::to_string(bytes) + " B";
}

template <class... Arguments>
std::string format(const char* pattern, Arguments... arguments) {
  char text[256];
  std::snprintf(text, sizeof text, pattern, arguments...);
  return text;
}

/// What a point must not be much worse than.
class Neighbours {
 public:
  explicit Neighbours(const std::vector<MeasuredPoint>& measured) : measured_(measured) {}

  /// `step`: -1 or 1.
  [[nodiscard]] const MeasuredPoint* in_size(std::size_t index, int step) const {
    const std::size_t other = index + static_cast<std::size_t>(step);
    if (other >= measured_.size() || !measured_[index].point.is_of_series(measured_[other].point))
      return nullptr;
    return &measured_[other];
  }

  [[nodiscard]] const MeasuredPoint* in_number(const CliffPoint& point, bool fewer) const {
    const MeasuredPoint* next = nullptr;
    for (const MeasuredPoint& other : measured_) {
      CliffPoint alike = point;
      alike.number = other.point.number;
      if (alike != other.point || alike.number == point.number || (alike.number < point.number) != fewer)
        continue;
      const bool is_nearer =
          next == nullptr || (fewer ? alike.number > next->point.number : alike.number < next->point.number);
      if (is_nearer) next = &other;
    }
    return next;
  }

 private:
  const std::vector<MeasuredPoint>& measured_;
};

double each_s(const MeasuredPoint& of) {
  return of.message_s / of.point.number;
}
double byte_s(const MeasuredPoint& of) {
  return each_s(of) / static_cast<double>(of.point.bytes);
}

std::string why_by_neighbours(const Neighbours& neighbours, const MeasuredPoint& point, std::size_t index) {
  std::string why;
  const auto say = [&](double times, const char* what, const std::string& other) {
    if (times <= most_times_worse) return;
    if (!why.empty()) why += "; ";
    why += format("%.1f × %s ", times, what) + other;
  };
  if (const auto* other = neighbours.in_size(index, -1))
    say(byte_s(point) / byte_s(*other), "slower a byte than", text_of_bytes(other->point.bytes));
  if (const auto* other = neighbours.in_size(index, 1))
    say(point.message_s / other->message_s, "longer than", text_of_bytes(other->point.bytes));
  if (const auto* other = neighbours.in_number(point.point, true))
    say(each_s(point) / each_s(*other), "slower each than", std::to_string(other->point.number) + " at once");
  if (const auto* other = neighbours.in_number(point.point, false))
    say(point.message_s / other->message_s, "longer than", std::to_string(other->point.number) + " at once");
  return why;
}

std::string row(const MeasuredPoint& first, const MeasuredPoint& last, const std::string& why) {
  const CliffPoint& point = first.point;
  std::string sizes = text_of_bytes(point.bytes);
  if (last.point.bytes != point.bytes) sizes += " … " + text_of_bytes(last.point.bytes);
  const auto range = [&](const char* pattern, double from, double to) {
    const std::string begin = format(pattern, from);
    const std::string end = format(pattern, to);
    return begin == end ? begin : begin + " … " + end;
  };
  return std::string("| ") + name_of(point.sender_kind) + " → " + name_of(point.receiver_kind) + " | " +
         std::to_string(point.number) + " | " + (point.blocking ? "blocking" : "non-blocking") + " | " +
         sizes + " | " + range("%.1f", first.message_s * 1e6, last.message_s * 1e6) + " | " +
         range("%.1f", first.raw_s * 1e6, last.raw_s * 1e6) + " | " +
         range("%.3g", first.gigabytes_per_s(), last.gigabytes_per_s()) + " | " +
         range("%.2f", first.of_raw(), last.of_raw()) + " | " + why + " |\n";
}

}  // namespace

std::size_t CliffPoint::offset_of(std::size_t message) const noexcept {
  constexpr std::size_t alignment = 256;
  return message * ((bytes + alignment - 1) / alignment * alignment);
}

bool CliffPoint::is_of_series(const CliffPoint& other) const noexcept {
  CliffPoint alike = other;
  alike.bytes = bytes;
  return *this == alike;
}

std::vector<CliffPoint> points_of(const CliffWalk& walk) {
  constexpr std::uint32_t one_window = 64;
  std::vector<CliffPoint> points;
  for (const Pair& pair : pairs) {
    const std::size_t limit = is_close(pair) ? walk.device_bytes : walk.host_bytes;
    for (const bool blocking : {false, true}) {
      for (const std::uint32_t number : walk.numbers) {
        const bool with_neighbours = (number == 1 && blocking) || (number == one_window && !blocking);
        for (const std::size_t bytes : sizes_of(walk, with_neighbours)) {
          const CliffPoint point{pair.sender, pair.receiver, blocking, number, bytes};
          constexpr std::size_t slack = 256;  // a message, so that a byte more than the power of two is in
          if (point.buffer_bytes() <= limit + slack * number) points.push_back(point);
        }
      }
    }
  }
  return points;
}

std::vector<Cliff> find_cliffs(const std::vector<MeasuredPoint>& measured, double least_of_raw) {
  std::vector<Cliff> cliffs;
  const Neighbours neighbours(measured);
  for (std::size_t i = 0; i < measured.size(); ++i) {
    std::string why = why_by_neighbours(neighbours, measured[i], i);
    const bool by_neighbour = !why.empty();
    const double of_raw = measured[i].of_raw();
    if (of_raw < least_of_raw) why = format("%.2f of raw", of_raw) + (by_neighbour ? "; " : "") + why;
    if (!why.empty()) cliffs.push_back({i, by_neighbour, std::move(why)});
  }
  return cliffs;
}

std::string table_of(const std::vector<MeasuredPoint>& measured, const std::vector<Cliff>& cliffs) {
  std::string text =
      "| from → to | at once | calls | bytes each | µs | raw µs | GB/s | of raw | why |\n"
      "|---|---:|---|---|---|---|---|---|---|\n";
  for (std::size_t i = 0; i < cliffs.size(); ++i) {
    std::size_t last = i;
    const auto joins = [&](const Cliff& next) {
      return !cliffs[i].by_neighbour && !next.by_neighbour && next.index == cliffs[last].index + 1 &&
             measured[next.index].point.is_of_series(measured[cliffs[i].index].point);
    };
    while (last + 1 < cliffs.size() && joins(cliffs[last + 1])) ++last;
    text += row(measured[cliffs[i].index], measured[cliffs[last].index],
                last == i ? cliffs[i].why : std::string("slow beside raw copies"));
    i = last;
  }
  return text;
}

std::string csv_of(const std::vector<MeasuredPoint>& measured, const std::vector<Cliff>& cliffs) {
  std::string text = "sender,receiver,calls,at_once,bytes,message_us,raw_us,gigabytes_per_s,of_raw,cliff\n";
  auto cliff = cliffs.begin();
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const MeasuredPoint& of = measured[i];
    const bool is_cliff = cliff != cliffs.end() && cliff->index == i;
    text += format("%s,%s,%s,%u,%zu,%.3f,%.3f,%.4f,%.3f,", name_of(of.point.sender_kind),
                   name_of(of.point.receiver_kind), of.point.blocking ? "blocking" : "non-blocking",
                   of.point.number, of.point.bytes, of.message_s * 1e6, of.raw_s * 1e6, of.gigabytes_per_s(),
                   of.of_raw());
    text += (is_cliff ? cliff++->why : std::string()) + '\n';
  }
  return text;
}

std::string series_name(const CliffPoint& point) {
  return std::string(name_of(point.sender_kind)) + " → " + name_of(point.receiver_kind) + ", " +
         std::to_string(point.number) + " at once, " + (point.blocking ? "blocking" : "non-blocking");
}

}  // namespace penstock::benchmarks
