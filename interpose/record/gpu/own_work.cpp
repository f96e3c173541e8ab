#include "interpose/record/gpu/activity_writer.hpp"
#include "interpose/record/gpu/cupti_capture.hpp"
#include "interpose/record/gpu/cupti_library.hpp"
#include "interpose/record/recorder.hpp"

namespace penstock::record {

namespace {

constexpr std::uint64_t own_work_id = 1;

struct OwnWorkOfThread {
  std::uint32_t depth = 0;
  bool pushed = false;  ///< collection of GPU activity may begin in between
};
[[gnu::tls_model("initial-exec")]] constinit thread_local OwnWorkOfThread of_this_thread;

}  // namespace

void begin_own_work() noexcept {
  if (of_this_thread.depth++ != 0 || !is_on()) return;
  if (const CuptiLibrary* cupti = cupti_in_use()) {
    of_this_thread.pushed = cupti->push_external_id(own_work_kind, own_work_id) == CUPTI_SUCCESS;
  }
}

void end_own_work() noexcept {
  if (--of_this_thread.depth != 0 || !of_this_thread.pushed) return;
  of_this_thread.pushed = false;
  if (const CuptiLibrary* cupti = cupti_in_use()) cupti->pop_external_id(own_work_kind, nullptr);
}

}  // namespace penstock::record
