#include "analysis/naming/frame_names.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace penstock::analysis {
namespace {

/// Returns true for what starts programs and threads, of which the user wrote nothing.
bool is_of_system(const NamedFrame& frame) {
  const std::string_view file = std::string_view(frame.module).substr(frame.module.find_last_of('/') + 1);
  return file.starts_with("libc.so") || file.starts_with("libpthread") || file.starts_with("libstdc++") ||
         file.starts_with("ld-linux") || frame.place.function == "_start";
}

bool is_main(const NamedFrame& frame) {
  return frame.place.function == "main";
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
  const auto own = std::find_if(path.frames.begin(), path.frames.end(),
                                [](const NamedFrame& each) { return !each.is_skipped; });
  path.shown =
      own == path.frames.end() ? 0 : static_cast<std::size_t>(std::distance(path.frames.begin(), own));
  return path;
}

const std::vector<NamedFrame>& FrameNames::frames_at(const FrameAddress& address) {
  const auto [known, is_new] = known_.try_emplace({address.module, address.build, address.address});
  std::vector<NamedFrame>& frames = known->second;
  if (is_new) {
    for (SourcePlace& place : call_sites_.places(address.module, address.build, address.address)) {
      const bool is_skipped = skipped_.skips(place, address.module);
      frames.push_back({std::move(place), address.module, address.offset, is_skipped});
    }
  }
  return frames;
}

}  // namespace penstock::analysis
