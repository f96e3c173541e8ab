#include "interpose/windows/own_windows.hpp"

namespace penstock::interpose {

WindowTable<Window>& own_windows() noexcept {
  static WindowTable<Window>& all = *new WindowTable<Window>;
  return all;
}

}  // namespace penstock::interpose
