#include "interpose/staging/begun_file_calls.hpp"

#include <algorithm>
#include <mutex>

namespace penstock::interpose {
namespace {

struct AllBegun {
  std::mutex mutex;
  BegunFileCalls calls;
};

AllBegun& all_begun() noexcept {
  // never destroyed: a file may be open until the process ends
  static AllBegun& instance = *new AllBegun;
  return instance;
}

}  // namespace

void keep_begun(BegunFileCalls begun) noexcept {
  AllBegun& all = all_begun();
  const std::lock_guard lock(all.mutex);
  all.calls.splice(all.calls.end(), begun);
}

BegunFileCalls take_begun(MPI_File file) noexcept {
  AllBegun& all = all_begun();
  const std::lock_guard lock(all.mutex);
  BegunFileCalls taken;
  const auto found = std::ranges::find(all.calls, file, &BegunFileCall::file);
  if (found != all.calls.end()) taken.splice(taken.end(), all.calls, found);
  return taken;
}

}  // namespace penstock::interpose
