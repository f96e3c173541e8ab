#include "tests/analysis/planted/planted_steps.hpp"

#include <cstddef>

namespace penstock::analysis::planted_steps {
namespace {

using testing::ByRank;
using testing::to_device;
using testing::to_host;

ByRank on_rank(std::size_t rank, std::uint64_t time_ns, std::uint64_t others_ns = 0) {
  return ByRank([=](std::size_t each) { return each == rank ? time_ns : others_ns; });
}

std::size_t step_of_sleeper = 0;
std::size_t step_of_scalar = 0;

}  // namespace

void exchange(PlantedJob& job, const PlantedMessage& message) {
  job.irecv(message);
  job.isend(message);
}

void stencil_without_synchronisation(PlantedJob& job, bool is_mended) {
  job.launch("pack", 20 * us);
  job.synchronise();
  exchange(job, halo);
  if (is_mended) {
    job.launch("interior", 600 * us);
  }
  job.waitall("halo");
  job.launch("unpack", 20 * us);
  if (!is_mended) {
    job.launch("interior", 600 * us);
  }
}

void stencil(PlantedJob& job, bool is_mended) {
  stencil_without_synchronisation(job, is_mended);
  job.synchronise();
}

void stencil_of_two_sides(PlantedJob& job, bool is_mended) {
  const PlantedMessage left{"left", 500 * us};
  const PlantedMessage right{"right", 500 * us};
  if (!is_mended) {
    job.launch("interior", 2 * ms);
  }
  job.launch("pack", 20 * us);
  job.synchronise();
  if (is_mended) {
    job.launch("interior", 2 * ms);
  }
  job.sendrecv(left);
  job.sendrecv(right);
  job.synchronise();
}

void stencil_with_residual(PlantedJob& job, bool is_mended) {
  job.launch("pack", 20 * us);
  job.synchronise();
  exchange(job, halo);
  if (is_mended) {
    job.launch("interior", 1500 * us);
  }
  job.waitall("halo");
  if (!is_mended) {
    job.launch("interior", 1500 * us);
  }
  job.launch("residual", 30 * us);
  job.synchronise();
  job.allreduce("residual", 8, 10 * us);
}

void one_rank_sleeps(PlantedJob& job, bool is_mended) {
  job.launch("interior", 5 * ms);
  job.synchronise();
  job.push("write log");
  job.host_code(on_rank(0, is_mended ? 0 : 15 * ms));
  job.pop();
  job.sendrecv(halo);
}

void one_rank_sleeps_before_its_kernels(PlantedJob& job, bool is_mended) {
  job.host_code(on_rank(3, is_mended ? 0 : 4 * ms));
  job.launch("interior", 5 * ms);
  job.synchronise();
  job.allreduce("norm", 8, 20 * us);
}

void one_rank_opens_its_window_late(PlantedJob& job, bool is_mended) {
  job.launch("interior", 5 * ms);
  job.synchronise();
  job.host_code(on_rank(2, is_mended ? 0 : 8 * ms));
  job.put_to_next(halo);
}

void kernels_are_unbalanced(PlantedJob& job, bool is_mended) {
  job.launch("update", is_mended ? ByRank(3 * ms) : on_rank(2, 6 * ms, 2 * ms));
  job.synchronise();
  job.sendrecv(halo);
  job.allreduce("norm", 8, 20 * us);
}

void staged_by_hand(PlantedJob& job, bool is_mended) {
  PlantedMessage message = halo;
  job.launch("update", 500 * us);
  job.synchronise();
  if (is_mended) {
    message.wire_ns = 400 * us;  // a GPU's link is crossed once
  } else {
    job.copy(to_host, message.bytes, 400 * us);
  }
  job.sendrecv(message);
  if (!is_mended) {
    job.copy(to_device, message.bytes, 400 * us);
  }
}

void received_behind_a_kernel(PlantedJob& job, bool is_mended) {
  job.isend(halo);
  if (is_mended) {
    job.irecv(halo);
  }
  job.launch("update", 2 * ms);
  job.synchronise();
  if (!is_mended) {
    job.irecv(halo);
  }
  job.waitall("halo");
  job.launch("use", 100 * us);
  job.synchronise();
}

void two_reductions(PlantedJob& job, bool is_mended) {
  job.launch("update", 200 * us);
  job.synchronise();
  job.allreduce("sum", 8, 100 * us);
  if (!is_mended) {
    job.allreduce("maximum", 8, 100 * us);
  }
}

void host_code_on_all_ranks(PlantedJob& job, bool is_mended) {
  job.launch("update", 5 * ms);
  job.synchronise();
  job.sendrecv(halo);
  job.push("sort particles");
  job.host_code(is_mended ? 0 : 20 * ms);
  job.pop();
}

void one_rank_of_two_sleeps_at_a_reduction(PlantedJob& job, bool is_mended) {
  job.launch("update", 3 * ms);
  job.synchronise();
  job.host_code(on_rank(1, is_mended ? 0 : 2 * ms));
  job.allreduce("norm", 8, 20 * us);
}

void one_rank_sleeps_every_fourth_step(PlantedJob& job, bool is_mended) {
  const bool is_fourth = step_of_sleeper++ % 4 == 3;
  job.launch("update", 3 * ms);
  job.synchronise();
  job.host_code(on_rank(2, is_fourth && !is_mended ? 40 * ms : 12 * us, 12 * us));
  job.sendrecv(halo);
}

void host_code_between_kernels(PlantedJob& job, bool is_mended) {
  job.launch("first", 2 * ms);
  job.synchronise();
  job.host_code(is_mended ? 0 : 3 * ms);
  job.launch("second", 1 * ms);
  job.synchronise();
  job.allreduce("norm", 8, 20 * us);
}

void kernels_grow_with_the_rank(PlantedJob& job, bool is_mended) {
  job.launch("spmv",
             is_mended ? ByRank(2500 * us) : ByRank([](std::size_t rank) { return (rank + 1) * ms; }));
  job.launch("axpy", 200 * us);
  job.synchronise();
  job.allreduce("dot", 8, 30 * us);
}

void three_reductions(PlantedJob& job, bool is_mended) {
  job.launch("update", 200 * us);
  job.synchronise();
  job.allreduce("sum", 8, 60 * us);
  if (!is_mended) {
    job.allreduce("maximum", 8, 60 * us);
    job.allreduce("minimum", 8, 60 * us);
  }
}

void reductions_in_a_loop(PlantedJob& job, bool is_mended) {
  job.launch("update", 200 * us);
  job.synchronise();
  for (int i = 0; i < (is_mended ? 1 : 5); ++i) {
    job.allreduce("sums", 8, 40 * us);
  }
}

void staged_by_hand_and_not_blocking(PlantedJob& job, bool is_mended) {
  PlantedMessage message{"halo", 300 * us};
  job.launch("update", 500 * us);
  job.synchronise();
  if (is_mended) {
    message.wire_ns = 500 * us;  // slower than the host's: a GPU's link is crossed
  } else {
    job.copy(to_host, message.bytes, 500 * us);
  }
  exchange(job, message);
  job.waitall("halo");
  if (!is_mended) {
    job.copy(to_device, message.bytes, 500 * us);
  }
}

void received_blocking_behind_a_kernel(PlantedJob& job, bool is_mended, std::uint64_t more_from_rank_0_ns) {
  const PlantedMessage message{"halo", 800 * us, 1 << 20, more_from_rank_0_ns};
  job.isend(message);
  if (is_mended) {
    job.irecv(message);
  }
  job.launch("update", 3 * ms);
  job.synchronise();
  if (!is_mended) {
    job.recv(message);
  }
  job.waitall("halo");
}

void scalar_each_step(PlantedJob& job, bool is_mended) {
  job.launch("spmv", 100 * us);
  job.launch("dot", 20 * us);
  job.synchronise();
  if (!is_mended || step_of_scalar++ % 10 == 9) {
    job.allreduce("dot", 8, 80 * us);
  }
}

}  // namespace penstock::analysis::planted_steps
