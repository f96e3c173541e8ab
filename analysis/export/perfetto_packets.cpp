#include "analysis/export/perfetto_packets.hpp"

#include <array>
#include <fstream>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

namespace penstock::analysis::exports::perfetto {
namespace {

using protozero::pbf_writer;

// Field numbers, by message.
namespace trace_file {
constexpr protozero::pbf_tag_type packet = 1;
}
namespace packet {
constexpr protozero::pbf_tag_type clock_snapshot = 6, timestamp = 8, sequence_id = 10, track_event = 11,
                                  interned_data = 12, sequence_flags = 13, defaults = 59,
                                  track_descriptor = 60;
constexpr std::uint32_t state_cleared = 1, needs_state = 2;  // sequence_flags
}  // namespace packet
namespace clocks {
constexpr protozero::pbf_tag_type clock = 1, primary = 2, id = 1, timestamp = 2;
constexpr std::uint32_t realtime = 1, monotonic = 3;
}  // namespace clocks
namespace defaults {
constexpr protozero::pbf_tag_type clock_id = 58;
}
namespace descriptor {
constexpr protozero::pbf_tag_type uuid = 1, name = 2, process = 3, thread = 4, parent = 5, counter = 8,
                                  child_ordering = 11, order = 12, process_ordering = 19,
                                  thread_ordering = 20;
constexpr std::int32_t explicit_order = 3;          // child_ordering
constexpr std::int32_t explicit_order_of_root = 1;  // process_ordering, thread_ordering
}  // namespace descriptor
namespace process {
constexpr protozero::pbf_tag_type pid = 1, command_line = 2, name = 6;
}
namespace thread {
constexpr protozero::pbf_tag_type pid = 1, tid = 2, name = 5;
}
namespace counter {
constexpr protozero::pbf_tag_type unit_name = 6;
}
namespace event {
constexpr protozero::pbf_tag_type category = 3, annotation = 4, type = 9, name = 10, track = 11,
                                  double_value = 44, flow_begins = 47, flow_ends = 48;
constexpr std::int32_t begin = 1, end = 2, instant = 3, value = 4;  // type
}  // namespace event
namespace annotation {
constexpr protozero::pbf_tag_type name = 1, unsigned_value = 3, signed_value = 4, string_value = 17;
}
namespace interned {
constexpr protozero::pbf_tag_type categories = 1, event_names = 2, annotation_names = 3, string_values = 29;
constexpr protozero::pbf_tag_type iid = 1, text = 2;  // of each
}  // namespace interned

constexpr std::array categories{"mpi",  "message",         "nvtx",    "transfer", "kernel",
                                "copy", "synchronisation", "penstock"};
constexpr std::array keys{"bytes",       "peer",      "tag",     "communicator", "buffer",
                          "peer buffer", "transport", "reason",  "call site",    "calls",
                          "domain",      "pack ns",   "wait ns", "correlation"};
static_assert(categories.size() == static_cast<std::size_t>(Category::penstock));
static_assert(keys.size() == static_cast<std::size_t>(Key::correlation));

void append(OutputFile& file, const std::string& packet_bytes) {
  constexpr char length_delimited = 2;  // protobuf's wire type
  std::array<char, 1 + protozero::max_varint_length> head{(trace_file::packet << 3) | length_delimited};
  const int digits = protozero::write_varint(head.data() + 1, packet_bytes.size());
  file.write({head.data(), static_cast<std::size_t>(1 + digits)});
  file.write(packet_bytes);
}

void add_interned(std::string& to, protozero::pbf_tag_type field, std::uint64_t iid, std::string_view text) {
  pbf_writer list(to);
  pbf_writer entry(list, field);
  entry.add_uint64(interned::iid, iid);
  entry.add_bytes(interned::text, text.data(), text.size());
}

void add_clock(pbf_writer& snapshot, std::uint32_t id, std::uint64_t time_ns) {
  pbf_writer clock(snapshot, clocks::clock);
  clock.add_uint32(clocks::id, id);
  clock.add_uint64(clocks::timestamp, time_ns);
}

void add_track(pbf_writer& track, const TrackWords& words) {
  track.add_uint64(descriptor::uuid, words.track);
  track.add_string(descriptor::name, words.name.data(), words.name.size());
  if (words.parent != 0) track.add_uint64(descriptor::parent, words.parent);
  track.add_enum(descriptor::child_ordering, descriptor::explicit_order);
  track.add_int32(descriptor::order, words.order);
}

}  // namespace

void write_clocks(OutputFile& file, std::uint64_t monotonic_ns, std::uint64_t realtime_ns) {
  std::string bytes;
  pbf_writer writer(bytes);
  {
    pbf_writer snapshot(writer, packet::clock_snapshot);
    add_clock(snapshot, clocks::monotonic, monotonic_ns);
    add_clock(snapshot, clocks::realtime, realtime_ns);
    snapshot.add_enum(clocks::primary, static_cast<std::int32_t>(clocks::monotonic));
  }
  append(file, bytes);
}

bool is_trace(const std::filesystem::path& file) try {
  std::ifstream in(file, std::ios::binary);
  std::string head(128, '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  // only the first packet must be complete
  protozero::pbf_reader trace(head);
  if (!trace.next(trace_file::packet)) return false;
  protozero::pbf_reader first = trace.get_message();
  return first.next(packet::clock_snapshot);
} catch (const protozero::exception&) {
  return false;
}

Sequence::Sequence(OutputFile& file, std::uint32_t number) : file_(file), number_(number) {
  for (std::size_t i = 0; i < categories.size(); ++i) {
    add_interned(new_strings_, interned::categories, i + 1, categories[i]);
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    add_interned(new_strings_, interned::annotation_names, i + 1, keys[i]);
  }
  pbf_writer writer(packet_);
  writer.add_uint32(packet::sequence_id, number_);
  writer.add_uint32(packet::sequence_flags, packet::state_cleared);
  {
    pbf_writer defaults(writer, packet::defaults);
    defaults.add_uint32(defaults::clock_id, clocks::monotonic);
  }
  writer.add_message(packet::interned_data, new_strings_);
  new_strings_.clear();
  write_packet();
}

void Sequence::write_packet() {
  append(file_, packet_);
  packet_.clear();
}

std::uint64_t Sequence::intern(Table& table, std::string_view text, std::uint32_t field) {
  if (const auto known = table.find(text); known != table.end()) return known->second;
  const std::uint64_t iid = table.size() + 1;
  table.emplace(text, iid);
  add_interned(new_strings_, field, iid, text);
  return iid;
}

void Sequence::describe_root() {
  {
    pbf_writer writer(packet_);
    writer.add_uint32(packet::sequence_id, number_);
    pbf_writer track(writer, packet::track_descriptor);
    track.add_uint64(descriptor::uuid, 0);
    track.add_enum(descriptor::process_ordering, descriptor::explicit_order_of_root);
    track.add_enum(descriptor::thread_ordering, descriptor::explicit_order_of_root);
  }
  write_packet();
}

void Sequence::describe(const TrackWords& words) {
  {
    pbf_writer writer(packet_);
    writer.add_uint32(packet::sequence_id, number_);
    pbf_writer track(writer, packet::track_descriptor);
    add_track(track, words);
  }
  write_packet();
}

void Sequence::describe_process(const TrackWords& words, std::int32_t process,
                                std::string_view command_line) {
  {
    pbf_writer writer(packet_);
    writer.add_uint32(packet::sequence_id, number_);
    pbf_writer track(writer, packet::track_descriptor);
    add_track(track, words);
    pbf_writer fields(track, descriptor::process);
    fields.add_int32(process::pid, process);
    fields.add_string(process::command_line, command_line.data(), command_line.size());
    fields.add_string(process::name, words.name.data(), words.name.size());
  }
  write_packet();
}

void Sequence::describe_thread(const TrackWords& words, std::int32_t process, std::int32_t thread) {
  {
    pbf_writer writer(packet_);
    writer.add_uint32(packet::sequence_id, number_);
    pbf_writer track(writer, packet::track_descriptor);
    add_track(track, words);
    pbf_writer fields(track, descriptor::thread);
    fields.add_int32(thread::pid, process);
    fields.add_int32(thread::tid, thread);
    fields.add_string(thread::name, words.name.data(), words.name.size());
  }
  write_packet();
}

void Sequence::describe_counter(const TrackWords& words, std::string_view unit) {
  {
    pbf_writer writer(packet_);
    writer.add_uint32(packet::sequence_id, number_);
    pbf_writer track(writer, packet::track_descriptor);
    add_track(track, words);
    pbf_writer(track, descriptor::counter).add_string(counter::unit_name, unit.data(), unit.size());
  }
  write_packet();
}

void Sequence::begin(const Event& event) {
  write_event(event, event::begin);
}

void Sequence::instant(const Event& event) {
  write_event(event, event::instant);
}

void Sequence::value(std::uint64_t at_ns, std::uint64_t track, double value) {
  write_on_track(at_ns, event::value, track,
                 [value](pbf_writer& fields) { fields.add_double(event::double_value, value); });
}

void Sequence::end(std::uint64_t at_ns, std::uint64_t track) {
  write_on_track(at_ns, event::end, track, [](pbf_writer&) {});
}

/// Calls `add(fields)` for what else there is to the event.
template <typename Add>
void Sequence::write_on_track(std::uint64_t at_ns, std::int32_t type, std::uint64_t track, const Add& add) {
  {
    pbf_writer writer(packet_);
    writer.add_uint64(packet::timestamp, at_ns);
    writer.add_uint32(packet::sequence_id, number_);
    writer.add_uint32(packet::sequence_flags, packet::needs_state);
    pbf_writer fields(writer, packet::track_event);
    fields.add_enum(event::type, type);
    fields.add_uint64(event::track, track);
    add(fields);
  }
  if (!new_strings_.empty()) {
    pbf_writer(packet_).add_message(packet::interned_data, new_strings_);
    new_strings_.clear();
  }
  write_packet();
}

void Sequence::write_event(const Event& event, std::int32_t type) {
  write_on_track(event.at_ns, type, event.track, [&](pbf_writer& fields) {
    fields.add_uint64(event::category, static_cast<std::uint64_t>(event.category));
    fields.add_uint64(event::name, intern(event_names_, event.name, interned::event_names));
    for (const Argument& each : event.arguments) {
      pbf_writer argument(fields, event::annotation);
      argument.add_uint64(annotation::name, static_cast<std::uint64_t>(each.key));
      if (const auto* text = std::get_if<std::string_view>(&each.value)) {
        argument.add_uint64(annotation::string_value, intern(values_, *text, interned::string_values));
      } else if (const auto* number = std::get_if<std::int64_t>(&each.value)) {
        argument.add_int64(annotation::signed_value, *number);
      } else {
        argument.add_uint64(annotation::unsigned_value, std::get<std::uint64_t>(each.value));
      }
    }
    if (event.flow_begins != 0) fields.add_fixed64(event::flow_begins, event.flow_begins);
    if (event.flow_ends != 0) fields.add_fixed64(event::flow_ends, event.flow_ends);
  });
}

}  // namespace penstock::analysis::exports::perfetto
