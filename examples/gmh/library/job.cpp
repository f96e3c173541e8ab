#include "examples/gmh/library/job.hpp"

#include <dlfcn.h>

#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "examples/gmh/library/collectives.hpp"

namespace gmh {
namespace {

bool mpi_knows_gpus() {
  // MPICH and Open MPI both have this query. Penstock interposes it, like other GPU-aware layers.
  const auto query = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support"));
  return query != nullptr && query() != 0;
}

bool must_stage() {
  const char* wanted = std::getenv("GMH_EXCHANGE");
  if (wanted == nullptr || *wanted == '\0') return !mpi_knows_gpus();
  if (std::strcmp(wanted, "staged-by-hand") == 0) return true;
  if (std::strcmp(wanted, "device") == 0) return false;
  fail(GMH_ERR_ARGUMENT, "GMH_EXCHANGE=%s: device or staged-by-hand", wanted);
}

/// Returns the number of tags for the program: MPI's tag space divided by the virtual GPUs that may send.
std::int64_t tags_of(int most_gpus) {
  void* attribute = nullptr;
  int found = 0;
  check_mpi(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &attribute, &found), "ask MPI for its largest tag");
  const std::int64_t largest =
      found != 0 ? *static_cast<const int*>(attribute) : 32767;  // the minimum that MPI guarantees
  return (largest + 1) / most_gpus;
}

}  // namespace

Communicator::Communicator(MPI_Comm from) {
  check_mpi(MPI_Comm_dup(from, &communicator_), "duplicate a communicator");
  MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
}

Job::Job(Ranks ranks, std::vector<int> devices)
    : ranks_(std::move(ranks)),
      devices_(std::move(devices)),
      stages_(must_stage()),
      tags_(tags_of(ranks_.most_gpus())),
      notices_(MPI_COMM_WORLD),
      failure_(notices_.get()) {
  MPI_Comm_rank(MPI_COMM_WORLD, &process_);
  for (int vgpu = 0; vgpu < ranks_.most_gpus(); ++vgpu)
    receivers_.push_back(std::make_unique<Communicator>(MPI_COMM_WORLD));
  collectives_ = std::make_unique<Collectives>(*this);
}

Job::~Job() = default;

Route Job::route(int sender, int receiver, int other, int tag) const {
  if (tag < 0 || tag >= tags_)
    fail(GMH_ERR_TAG, "there is no tag %d: with %d GPUs a process they are 0 to %lld", tag,
         ranks_.most_gpus(), static_cast<long long>(tags_ - 1));
  const int process = ranks_.process_of(other);
  return {receivers_[static_cast<std::size_t>(ranks_.vgpu_of(receiver))]->get(), process,
          static_cast<int>(ranks_.vgpu_of(sender) * tags_ + tag)};
}

}  // namespace gmh
