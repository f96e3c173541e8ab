// Marks work as Penstock's own while it lives.
#pragma once

#include "interpose/record/recorder.hpp"

namespace penstock::test {

class OwnWork {
 public:
  OwnWork() noexcept { record::begin_own_work(); }
  ~OwnWork() { record::end_own_work(); }
  OwnWork(const OwnWork&) = delete;
  OwnWork& operator=(const OwnWork&) = delete;
};

}  // namespace penstock::test
