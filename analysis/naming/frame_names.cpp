#include "analysis/naming/frame_names.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>

namespace penstock::analysis {
namespace {

/// Returns true for what starts programs and threads, of which the user wrote nothing.
bool is_of_system(const NamedFrame& frame) {
  if (frame.is_python) {
    return false;
  }
  const std::string_view file = std::string_view(frame.module).substr(frame.module.find_last_of('/') + 1);
  return file.starts_with("libc.so") || file.starts_with("libpthread") || file.starts_with("libstdc++") ||
         file.starts_with("ld-linux") || frame.place.function == "_start";
}

bool is_main(const NamedFrame& frame) {
  return !frame.is_python && frame.place.function == "main";
}

/// Reads a function as trace::python_frame_bit says. Of a recording that lacks the text there is one line,
/// "?", which becomes the function.
SourcePlace place_in_python(std::string_view text) {
  SourcePlace place;
  const std::size_t line_end = text.find('\n');
  if (line_end == std::string_view::npos) {
    place.function = text;
    return place;
  }
  std::from_chars(text.data(), text.data() + line_end, place.line);
  text.remove_prefix(line_end + 1);
  const std::size_t function_end = std::min(text.find('\n'), text.size());
  place.function = text.substr(0, function_end);
  place.file = text.substr(std::min(function_end + 1, text.size()));
  return place;
}

/// Returns the first frame for which `is` holds; frames.size(): none.
template <typename Is>
std::size_t first(const std::vector<NamedFrame>& frames, const Is& is) {
  return static_cast<std::size_t>(
      std::distance(frames.begin(), std::find_if(frames.begin(), frames.end(), is)));
}

}  // namespace

NamedPath FrameNames::name(const std::vector<FrameAddress>& addresses) {
  NamedPath path;
  for (const FrameAddress& each : addresses) {
    const std::vector<NamedFrame>& frames = frames_at(each);
    path.frames.insert(path.frames.end(), frames.begin(), frames.end());
    if (std::any_of(frames.begin(), frames.end(), is_main)) {
      break;  // what called it is the system's
    }
  }
  while (path.frames.size() > 1 && is_of_system(path.frames.back())) {
    path.frames.pop_back();
  }
  path.shown = first(path.frames, [](const NamedFrame& each) { return !each.is_skipped; });
  if (path.shown == path.frames.size()) {
    path.shown = first(path.frames, [](const NamedFrame& each) { return each.is_python; });
  }
  if (path.shown == path.frames.size()) {
    path.shown = 0;
  }
  return path;
}

const std::vector<NamedFrame>& FrameNames::frames_at(const FrameAddress& address) {
  const auto [known, is_new] = known_.try_emplace({address.module, address.build, address.address});
  std::vector<NamedFrame>& frames = known->second;
  if (is_new && address.is_python()) {
    SourcePlace place = place_in_python(address.module);
    const bool is_skipped = skipped_.skips_python(place);
    frames.push_back({std::move(place), "", 0, is_skipped, true});
  } else if (is_new) {
    for (SourcePlace& place : call_sites_.places(address.module, address.build, address.address)) {
      const bool is_skipped = skipped_.skips(place, address.module);
      frames.push_back({std::move(place), address.module, address.offset, is_skipped});
    }
  }
  return frames;
}

}  // namespace penstock::analysis
