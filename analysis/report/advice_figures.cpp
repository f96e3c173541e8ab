#include "analysis/report/advice_figures.hpp"

namespace penstock::analysis {

std::string_view identifier_of(AdviceKind kind) noexcept {
  switch (kind) {
    case AdviceKind::better_transport:
      return "better_transport";
    case AdviceKind::post_receives_early:
      return "post_receives_early";
    case AdviceKind::waits_for_kernel:
      return "waits_for_kernel";
    case AdviceKind::pass_device_pointers:
      return "pass_device_pointers";
    case AdviceKind::balance_ranks:
      return "balance_ranks";
    case AdviceKind::progress_thread:
      return "progress_thread";
    case AdviceKind::overlap:
      return "overlap";
    case AdviceKind::host_code:
      return "host_code";
    case AdviceKind::combine_collectives:
      return "combine_collectives";
    case AdviceKind::reduce_less_often:
      return "reduce_less_often";
    case AdviceKind::join_messages:
      break;
  }
  return "join_messages";
}

std::string_view title_of(const Advice& advice) noexcept {
  if (!advice.title.empty()) {
    return advice.title;
  }
  switch (advice.kind) {
    case AdviceKind::better_transport:
      return "Take a faster transport";
    case AdviceKind::post_receives_early:
      return "Post receives earlier";
    case AdviceKind::waits_for_kernel:
      return "Do not wait for other work on the GPU";
    case AdviceKind::pass_device_pointers:
      return "Give device pointers to MPI";
    case AdviceKind::balance_ranks:
      return "Balance the ranks";
    case AdviceKind::progress_thread:
      return "Let transfers progress";
    case AdviceKind::overlap:
      return "Compute while data moves";
    case AdviceKind::host_code:
      return "Shorten host code";
    case AdviceKind::combine_collectives:
      return "Combine collectives";
    case AdviceKind::reduce_less_often:
      return "Reduce less often";
    case AdviceKind::join_messages:
      break;
  }
  return "Send fewer, larger messages";
}

}  // namespace penstock::analysis
