#include "tests/analysis/export/perfetto_reader.hpp"

#include <utf8.h>

#include <fstream>
#include <iterator>
#include <protozero/pbf_reader.hpp>
#include <stdexcept>

namespace penstock::analysis::testing {
namespace {

using protozero::pbf_reader;

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error("Perfetto trace: " + what);
}

std::string text_of(pbf_reader& field) {
  std::string text = field.get_string();
  require(utf8::is_valid(text.begin(), text.end()), "text is no UTF-8");
  return text;
}

using Names = std::map<std::uint64_t, std::string>;

/// What packets of one sequence share.
struct SequenceState {
  Names categories, events, keys, values;
  std::uint32_t clock = 6;  // Perfetto's own choice where nothing is said
};

void read_name(pbf_reader entry, Names& to) {
  std::uint64_t iid = 0;
  std::string text;
  while (entry.next()) {
    switch (entry.tag()) {
      case 1:
        iid = entry.get_uint64();
        break;
      case 2:
        text = text_of(entry);
        break;
      default:
        entry.skip();
    }
  }
  require(iid != 0 && to.emplace(iid, text).second, "a name is said twice");
}

const std::string& look_up(const Names& names, std::uint64_t iid) {
  const auto found = names.find(iid);
  require(found != names.end(), "a name that nothing defines");
  return found->second;
}

class Reader {
 public:
  PerfettoTrace read(const std::string& bytes) {
    pbf_reader trace(bytes);
    while (trace.next()) {
      require(trace.tag() == 1, "not a packet");
      read_packet(trace.get_view());
    }
    for (const auto& [track, open] : open_) require(open.empty(), "a slice never ends");
    return std::move(trace_);
  }

 private:
  void read_packet(protozero::data_view bytes) {
    std::uint64_t at_ns = 0;
    std::uint32_t sequence = 0;
    protozero::data_view event;
    pbf_reader first(bytes);  // fields may come in any order: names before what uses them
    while (first.next()) {
      switch (first.tag()) {
        case 6:
          read_clocks(first.get_message());
          break;
        case 8:
          at_ns = first.get_uint64();
          break;
        case 10:
          sequence = first.get_uint32();
          break;
        case 11:
          event = first.get_view();
          break;
        default:
          first.skip();
      }
    }
    SequenceState& state = sequences_[sequence];
    pbf_reader second(bytes);
    while (second.next()) {
      switch (second.tag()) {
        case 12:
          read_names(second.get_message(), state);
          break;
        case 59: {
          pbf_reader defaults = second.get_message();
          if (defaults.next(58)) state.clock = defaults.get_uint32();
          break;
        }
        case 60:
          read_track(second.get_message());
          break;
        default:
          second.skip();
      }
    }
    if (event.data() != nullptr) {
      require(state.clock == 3, "times are not of CLOCK_MONOTONIC");
      read_event(pbf_reader(event), at_ns, state);
    }
  }

  void read_clocks(pbf_reader snapshot) {
    while (snapshot.next()) {
      if (snapshot.tag() != 1) {
        snapshot.skip();
        continue;
      }
      pbf_reader clock = snapshot.get_message();
      std::uint32_t id = 0;
      std::uint64_t time_ns = 0;
      while (clock.next()) {
        if (clock.tag() == 1) {
          id = clock.get_uint32();
        } else {
          time_ns = clock.get_uint64();
        }
      }
      if (id == 3) trace_.monotonic_ns = time_ns;
      if (id == 1) trace_.realtime_ns = time_ns;
    }
  }

  static void read_names(pbf_reader data, SequenceState& state) {
    while (data.next()) {
      switch (data.tag()) {
        case 1:
          read_name(data.get_message(), state.categories);
          break;
        case 2:
          read_name(data.get_message(), state.events);
          break;
        case 3:
          read_name(data.get_message(), state.keys);
          break;
        case 29:
          read_name(data.get_message(), state.values);
          break;
        default:
          data.skip();
      }
    }
  }

  void read_track(pbf_reader descriptor) {
    std::uint64_t uuid = 0;
    TracedTrack track;
    while (descriptor.next()) {
      switch (descriptor.tag()) {
        case 1:
          uuid = descriptor.get_uint64();
          break;
        case 2:
          track.name = text_of(descriptor);
          break;
        case 3: {
          pbf_reader process = descriptor.get_message();
          if (process.next(1)) track.process = process.get_int32();
          break;
        }
        case 4: {
          pbf_reader thread = descriptor.get_message();
          while (thread.next()) {
            if (thread.tag() == 1) {
              track.process = thread.get_int32();
            } else if (thread.tag() == 2) {
              track.thread = thread.get_int32();
            } else {
              thread.skip();
            }
          }
          break;
        }
        case 5:
          track.parent = descriptor.get_uint64();
          break;
        case 8: {
          pbf_reader counter = descriptor.get_message();
          require(counter.next(6), "a counter without a unit");
          track.unit = text_of(counter);
          break;
        }
        default:
          descriptor.skip();
      }
    }
    require(trace_.tracks.emplace(uuid, track).second, "a track is described twice");
  }

  static void read_argument(pbf_reader annotation, const SequenceState& state, TracedSlice& slice) {
    std::string key;
    std::string value;
    while (annotation.next()) {
      switch (annotation.tag()) {
        case 1:
          key = look_up(state.keys, annotation.get_uint64());
          break;
        case 3:
          value = std::to_string(annotation.get_uint64());
          break;
        case 4:
          value = std::to_string(annotation.get_int64());
          break;
        case 17:
          value = look_up(state.values, annotation.get_uint64());
          break;
        default:
          require(false, "an argument of a kind that this test does not know");
      }
    }
    require(slice.arguments.emplace(key, value).second, "an argument is there twice");
  }

  void read_event(pbf_reader event, std::uint64_t at_ns, const SequenceState& state) {
    TracedSlice slice;
    slice.begin_ns = slice.end_ns = at_ns;
    std::int32_t type = 0;
    double value = 0;
    while (event.next()) {
      switch (event.tag()) {
        case 3:
          slice.category = look_up(state.categories, event.get_uint64());
          break;
        case 4:
          read_argument(event.get_message(), state, slice);
          break;
        case 9:
          type = event.get_enum();
          break;
        case 10:
          slice.name = look_up(state.events, event.get_uint64());
          break;
        case 11:
          slice.track = event.get_uint64();
          break;
        case 44:
          value = event.get_double();
          break;
        case 47:
          slice.flows_begun.push_back(event.get_fixed64());
          break;
        case 48:
          slice.flows_ended.push_back(event.get_fixed64());
          break;
        default:
          require(false, "a field that this test does not know");
      }
    }
    require(trace_.tracks.contains(slice.track), "a track that nothing describes");
    require(latest_ns_[slice.track] <= at_ns, "time goes back on a track");
    latest_ns_[slice.track] = at_ns;
    require((type == 4) == !trace_.tracks.at(slice.track).unit.empty(),
            "a counter's track has slices, or the reverse");
    if (type == 4) {
      trace_.values.push_back({slice.track, at_ns, value});
      return;
    }
    std::vector<std::size_t>& open = open_[slice.track];
    if (type == 2) {
      require(!open.empty(), "an end without a begin");
      trace_.slices[open.back()].end_ns = at_ns;
      open.pop_back();
      return;
    }
    require(type == 1 || type == 3, "an event of unknown type");
    slice.is_instant = type == 3;
    slice.depth = open.size();
    if (type == 1) open.push_back(trace_.slices.size());
    trace_.slices.push_back(slice);
  }

  PerfettoTrace trace_;
  std::map<std::uint32_t, SequenceState> sequences_;
  std::map<std::uint64_t, std::vector<std::size_t>> open_;  ///< by track: indices into the slices
  std::map<std::uint64_t, std::uint64_t> latest_ns_;
};

}  // namespace

std::vector<TracedSlice> PerfettoTrace::on(const std::string& track_name) const {
  std::vector<TracedSlice> found;
  for (const TracedSlice& slice : slices) {
    if (tracks.at(slice.track).name == track_name) found.push_back(slice);
  }
  return found;
}

PerfettoTrace read_perfetto(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return Reader().read({std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()});
}

}  // namespace penstock::analysis::testing
