#include "analysis/export/perfetto_export.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "analysis/export/common/tracks.hpp"
#include "analysis/export/perfetto_packets.hpp"
#include "analysis/report/message_figures.hpp"

namespace penstock::analysis::exports {
namespace {

using perfetto::Argument;
using perfetto::Category;
using perfetto::Key;

constexpr std::int32_t any_peer = -2;
constexpr std::int32_t no_tag = -1;

/// Arguments of one event; unknown ones are omitted.
class Arguments {
 public:
  void number(Key key, std::uint64_t value, std::uint64_t none = 0) {
    if (value != none) all_[count_++] = {key, value};
  }
  void text(Key key, std::string_view value) {
    if (!value.empty()) all_[count_++] = {key, value};
  }
  void peer(std::int32_t rank) {
    if (rank >= 0) all_[count_++] = {Key::peer, static_cast<std::int64_t>(rank)};
    if (rank == any_peer) text(Key::peer, "any");
  }
  void tag(std::int32_t tag) {
    if (tag != no_tag) all_[count_++] = {Key::tag, static_cast<std::int64_t>(tag)};
  }
  void buffer(Key key, trace::BufferKind kind) {
    if (kind != trace::BufferKind::unknown) text(key, name_of(kind));
  }
  [[nodiscard]] std::span<const Argument> all() const { return {all_.data(), count_}; }

 private:
  std::array<Argument, 14> all_{};
  std::size_t count_ = 0;
};

/// Writes one track, as walk()'s visitor.
class TrackWriter {
 public:
  TrackWriter(perfetto::Sequence& sequence, const ExportedRank& rank, std::uint64_t track)
      : sequence_(sequence), rank_(rank), trace_(rank.trace()), names_(rank.names()), track_(track) {}

  void begin(const Slice& slice) {
    rank_.count_record();
    const std::uint32_t i = slice.index;
    switch (slice.source) {
      case Source::call:
        return begin_call(trace_.calls[i].record);
      case Source::range:
        return begin_range(trace_.ranges[i]);
      case Source::half:
        return begin_message(slice, i);
      case Source::operation:
        return begin_collective(trace_.operations[i].record);
      case Source::transfer:
        return begin_transfer(trace_.transfers[i].record);
      case Source::kernel:
        return begin_activity(trace_.kernels[i], Category::kernel);
      case Source::copy:
        return begin_activity(trace_.copies[i], Category::copy);
      case Source::synchronisation:
        return begin_synchronisation(trace_.synchronisations[i]);
    }
  }
  void end(const Slice& slice) { sequence_.end(rank_.clock()(slice.end_ns), track_); }

  void message(const MessageEnd& end) {
    rank_.count_record();
    const trace::MessageHalf& half = trace_.halves[end.half].record;
    const bool is_send = half.direction == trace::Direction::send;
    if (is_send != end.is_post) return;  // a message is sent when it is posted, received when it is complete
    const MessageFacts facts = rank_.message(end.half);
    Arguments arguments;
    describe(half, facts, arguments);
    perfetto::Event event = of(Category::message, end.at_ns, arguments);
    event.name = name(is_send ? "send to" : "received from", half.peer);
    (is_send ? event.flow_begins : event.flow_ends) = facts.number;
    sequence_.instant(event);
  }

 private:
  [[nodiscard]] perfetto::Event of(Category category, std::uint64_t host_ns,
                                   const Arguments& arguments) const {
    perfetto::Event event;
    event.at_ns = rank_.clock()(host_ns);
    event.track = track_;
    event.category = category;
    event.arguments = arguments.all();
    return event;
  }
  [[nodiscard]] std::string_view name(std::string_view what, std::int32_t peer) {
    name_.clear();
    fmt::format_to(std::back_inserter(name_), "{} {}", what, peer);
    return name_;
  }
  void begin(std::string_view name, Category category, std::uint64_t host_ns, const Arguments& arguments) {
    perfetto::Event event = of(category, host_ns, arguments);
    event.name = name;
    sequence_.begin(event);
  }

  void begin_call(const trace::MpiCall& call) {
    Arguments arguments;
    arguments.number(Key::bytes, call.bytes);
    arguments.peer(call.peer);
    arguments.tag(call.tag);
    arguments.text(Key::communicator, names_.communicator(call.communicator));
    arguments.buffer(Key::buffer, call.buffer);
    arguments.text(Key::call_site, names_.site(call.call_site).text);
    arguments.number(Key::calls, call.repeats, 1);
    begin(names_.text(call.function), Category::mpi, call.begin_ns, arguments);
  }
  void begin_range(const trace::Range& range) {
    Arguments arguments;
    arguments.text(Key::domain, names_.text(range.domain));
    begin(names_.text(range.name), Category::nvtx, range.begin_ns, arguments);
  }
  void begin_collective(const trace::CollectiveOperation& operation) {
    Arguments arguments;
    arguments.number(Key::bytes, operation.bytes);
    arguments.peer(operation.root);
    arguments.text(Key::communicator, names_.communicator(operation.communicator));
    arguments.text(Key::call_site, names_.site(operation.call_site).text);
    begin(names_.text(operation.function), Category::mpi, operation.post_ns, arguments);
  }
  void begin_message(const Slice& slice, std::uint32_t half) {
    const trace::MessageHalf& record = trace_.halves[half].record;
    Arguments arguments;
    describe(record, rank_.message(half), arguments);
    const char* const what = record.direction == trace::Direction::send ? "send to" : "receive from";
    begin(name(what, record.peer), Category::message, slice.begin_ns, arguments);
  }
  void begin_transfer(const trace::Transfer& transfer) {
    Arguments arguments;
    arguments.number(Key::bytes, transfer.bytes);
    arguments.peer(transfer.peer);
    arguments.buffer(Key::buffer, transfer.source);
    arguments.buffer(Key::peer_buffer, transfer.destination);
    arguments.text(Key::reason, names_.text(transfer.reason));
    arguments.number(Key::pack_ns, transfer.pack_ns);
    arguments.number(Key::wait_ns, transfer.wait_ns);
    begin(name_of(transfer.transport), Category::transfer, transfer.begin_ns, arguments);
  }
  void begin_activity(const trace::DeviceActivity& activity, Category category) {
    Arguments arguments;
    arguments.number(Key::bytes, activity.bytes);
    arguments.number(Key::correlation, activity.correlation);
    begin(names_.activity(activity), activity.own != 0 ? Category::penstock : category, activity.begin_ns,
          arguments);
  }
  void begin_synchronisation(const trace::CudaSynchronisation& record) {
    Arguments arguments;
    arguments.number(Key::correlation, record.correlation);
    begin(names_.text(record.what), record.own != 0 ? Category::penstock : Category::synchronisation,
          record.begin_ns, arguments);
  }

  void describe(const trace::MessageHalf& half, const MessageFacts& facts, Arguments& arguments) {
    arguments.number(Key::bytes, half.bytes, ~std::uint64_t{0});
    arguments.peer(half.peer);
    arguments.tag(half.tag);
    arguments.text(Key::communicator, names_.communicator(half.communicator));
    arguments.buffer(Key::buffer, half.buffer);
    if (facts.partner) arguments.buffer(Key::peer_buffer, facts.partner->buffer);
    if (facts.transport != trace::TransportKind::none)
      arguments.text(Key::transport, name_of(facts.transport));
    arguments.text(Key::reason, names_.text(facts.reason));
    arguments.text(Key::call_site, names_.site(half.call_site).text);
  }

  perfetto::Sequence& sequence_;
  const ExportedRank& rank_;
  const RankTrace& trace_;
  RankNames& names_;
  std::uint64_t track_;
  std::string name_;
};

class PerfettoExporter : public Exporter {
 public:
  PerfettoExporter(OutputFile& file, const JobClock& clock) : file_(file) {
    perfetto::write_clocks(file_, clock.begin_ns(), clock.begin_ns() + clock.realtime_offset_ns());
  }

  void add(const ExportedRank& rank) override {
    const trace::FileHeader& header = rank.trace().header;
    perfetto::Sequence sequence(file_, ++sequences_);
    if (sequences_ == 1) sequence.describe_root();
    const auto process = static_cast<std::int32_t>(sequences_);
    const std::uint64_t of_rank = ++tracks_;
    const std::string name =
        clean_text(fmt::format("rank {} on {}", header.world_rank, std::string_view(header.host_name)));
    sequence.describe_process({of_rank, 0, name, header.world_rank}, process, clean_text(header.program));
    std::int32_t order = 0;
    for (const Track& track : lay_out(rank.trace())) {
      const perfetto::TrackWords words{++tracks_, of_rank, track.name, order++};
      if (track.kind == TrackKind::thread) {
        // the main thread of a process must have its number, others any that no process has
        sequence.describe_thread(words, process, order == 1 ? process : first_thread + threads_++);
      } else {
        sequence.describe(words);
      }
      walk(track, TrackWriter(sequence, rank, words.track));
    }
    add_counters(sequence, rank, of_rank, order);
  }
  void finish() override {}

 private:
  /// Writes the power and the clock of each GPU that the rank asked for them.
  void add_counters(perfetto::Sequence& sequence, const ExportedRank& rank, std::uint64_t of_rank,
                    std::int32_t order) {
    struct Counters {
      std::uint64_t power;
      std::uint64_t clock;
    };
    std::map<std::uint32_t, Counters> of_gpus;
    for (const trace::GpuSample& sample : rank.trace().gpu_samples) {
      rank.count_record();
      const auto [counters, is_new] = of_gpus.try_emplace(sample.gpu);
      if (is_new) {
        counters->second = {++tracks_, ++tracks_};
        const std::string power = fmt::format("GPU {} power", sample.index);
        const std::string clock = fmt::format("GPU {} SM clock", sample.index);
        sequence.describe_counter({counters->second.power, of_rank, power, order++}, "W");
        sequence.describe_counter({counters->second.clock, of_rank, clock, order++}, "MHz");
      }
      const std::uint64_t at_ns = rank.clock()(sample.begin_ns);
      if (sample.power_mw != 0) sequence.value(at_ns, counters->second.power, sample.power_mw / 1e3);
      if (sample.sm_mhz != 0) sequence.value(at_ns, counters->second.clock, sample.sm_mhz);
    }
  }

  static constexpr std::int32_t first_thread = 1 << 24;  ///< above any number of ranks

  OutputFile& file_;
  std::uint32_t sequences_ = 0;
  std::uint64_t tracks_ = 0;
  std::int32_t threads_ = 0;
};

}  // namespace

std::string why_no_perfetto() {
  return "";
}

std::unique_ptr<Exporter> make_perfetto_exporter(OutputFile& file, const JobClock& clock) {
  return std::make_unique<PerfettoExporter>(file, clock);
}

}  // namespace penstock::analysis::exports
