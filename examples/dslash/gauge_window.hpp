// A rank's links from a file, in page-locked host memory: kernels read them once, over the bus.
#pragma once

#include <string>

#include "examples/dslash/ildg.hpp"
#include "examples/dslash/team.hpp"
#include "examples/support/gpu.hpp"

namespace dslash {

class GaugeWindow {
 public:
  /// Reads this rank's slices and one on either side, which the clover term needs; or all of them. What is
  /// wrong with the file, the same on all ranks, or nothing. Collective.
  [[nodiscard]] std::string load(const std::string& path, const Team& team, bool is_whole);

  [[nodiscard]] const LinkWindow& view() const { return view_; }

 private:
  void read(const std::string& path, const Team& team, bool is_whole);

  example::PinnedArray<double> numbers_;
  LinkWindow view_;
};

}  // namespace dslash
