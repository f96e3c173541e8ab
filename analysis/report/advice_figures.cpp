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

}  // namespace penstock::analysis
