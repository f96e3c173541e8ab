#include "transports/tuning/tuning.hpp"

#include <atomic>

namespace penstock::transports {
namespace {

constexpr std::uint64_t kib = 1u << 10;
constexpr std::uint64_t mib = 1u << 20;
constexpr std::uint64_t gib = 1u << 30;
constexpr std::uint64_t second_us = 1'000'000;
constexpr std::uint64_t hour_us = 3600 * second_us;

/// Measured on two H200 with NVLink 18 and PCIe 5 x16 (tests/benchmarks/results), unless noted otherwise.
constexpr LinkTuning nvlink{
    .staged_from = never,       // host memory carries 52 GB/s at most, NVLink 396
    .relayed_from = 64 * kib,   // below, host memory is as fast and frees the sender earlier
    .relayed_chunk = 16 * mib,  // a copy over NVLink reaches 106 GB/s with 1 MiB, 231 with 4, 334 with 16
};

/// Not measured but reasoned; `penstock tune` measures it.
constexpr LinkTuning pcie{
    .staged_from = never,      // both use each GPU's lanes once, but peer access spares host memory
    .relayed_from = 64 * kib,  // as over NVLink: it costs the same to start
    .relayed_chunk = 4 * mib,  // at 50 GB/s a copy of 4 MiB takes 80 µs, its overhead some 5
};

/// Two processes on one GPU. Not measured but reasoned, except that they use it in turn: a relayed payload,
/// which needs both, took 290 µs at least, staged ones less up to 16 MiB (H200). With MPS they take no turns;
/// `penstock tune` measures it.
constexpr LinkTuning same_device{
    .staged_from = never,
    .relayed_from = 64 * kib,
    .relayed_chunk = 16 * mib,
};

constexpr Tuning shipped{
    .links = {nvlink, pcie, same_device},
    // half a round trip of 16 KiB from pinned memory: pushed 16 to 18 µs, staged 22
    .pushed_from = 16 * kib,
    .bounced_from = 256 * kib,  // below, the driver's own copy (19 GB/s) is as fast as a ring just begun
    .batched_to = 4 * mib,  // several pieces of 1 MiB: 63 µs by one kernel, 100 by copies; of 4 MiB 191, 235
    .staged_chunk = 4 * mib,       // through pinned memory: 47 GB/s with 1 MiB, 52 with 4
    .host_batched_to = 256 * kib,  // 32 of 64 KiB: 51 µs by one kernel, 320 by copies; of 256 KiB 170, 450
    // of 256 KiB both copies take 2 × 13 µs, about as much as the receiver's answer and three more messages
    .network_from = 256 * kib,
    // half a round trip of 8 KiB: through the MPI library 10 µs, read by the GPU 15 to 18; of 16 KiB, which
    // MPICH no longer sends eagerly, 41 to 48 and 16 to 22; of 64 KiB 48 to 62 and 17 to 24
    .uploaded_from = 16 * kib,
    // Kernels and copies within a GPU take turns, 290 µs in all; copy engines to and from the host do not.
    // Four ranks on two H100: an Allgather of 4, 16, 256 KiB each takes 33, 54, 310 µs by the MPI library on
    // host memory, and 42, 44, 67 by messages; an Allreduce of 256 KiB, 1 MiB 185, 705, and 337, 381 with
    // kernels
    .shared_gpu_from = 2 * mib,
    .shared_exchanged_from = 64 * kib,
    .shared_reduced_from = 768 * kib,
    // Through host memory a bitmap of 1 MiB takes 64 to 78 µs, the list 60; of 16 MiB 106 to 275 and 429.
    // Between nodes, in chunks by stock MPICH: of 1 MiB 86 to 143 and 290 (two H100)
    .packed_from = 2 * mib,
    .network_packed_from = 512 * kib,
    // Windows of 64 of 64 KiB and 1 MiB that copy engines write: 430 and 270 µs, otherwise 130 and 235. After
    // a kernel of 2 ms both ways of 1, 16, 64 MiB take 40, 40, 30 µs more, otherwise 55, 70, 200 (two H200)
    .posted_from = 4 * mib,
    .fused_to = mib,
    .buffered_to = 64 * kib,         // about as the MPI libraries do: buffering 64 KiB costs 8 µs
    .receiver_timeout_us = 100'000,  // breaks a chain of ranks that wait in calls without progress
    .linger_us = 100,                // longer than the time between the messages of a step without kernels
};

using Kind = TuningParameter::Kind;
constexpr TuningParameter parameters[] = {
    {"staged_from", Kind::from, &LinkTuning::staged_from, nullptr, 0, 1024 * gib},
    {"relayed_from", Kind::from, &LinkTuning::relayed_from, nullptr, 0, 1024 * gib},
    {"relayed_chunk", Kind::chunk, &LinkTuning::relayed_chunk, nullptr, mib, 32 * mib},
    {"pushed_from", Kind::from, nullptr, &Tuning::pushed_from, 0, 1024 * gib},
    {"bounced_from", Kind::from, nullptr, &Tuning::bounced_from, 0, 1024 * gib},
    {"batched_to", Kind::up_to, nullptr, &Tuning::batched_to, 0, 64 * mib},
    {"staged_chunk", Kind::chunk, nullptr, &Tuning::staged_chunk, mib, 32 * mib},
    {"host_batched_to", Kind::up_to, nullptr, &Tuning::host_batched_to, 0, 64 * mib, false},
    {"network_from", Kind::from, nullptr, &Tuning::network_from, 0, 1024 * gib, false},
    {"uploaded_from", Kind::from, nullptr, &Tuning::uploaded_from, 0, 1024 * gib, false},
    {"shared_gpu_from", Kind::from, nullptr, &Tuning::shared_gpu_from, 0, 1024 * gib, false},
    {"shared_exchanged_from", Kind::from, nullptr, &Tuning::shared_exchanged_from, 0, 1024 * gib, false},
    {"shared_reduced_from", Kind::from, nullptr, &Tuning::shared_reduced_from, 0, 1024 * gib, false},
    {"packed_from", Kind::from, nullptr, &Tuning::packed_from, 0, 1024 * gib, false},
    {"network_packed_from", Kind::from, nullptr, &Tuning::network_packed_from, 0, 1024 * gib, false},
    {"posted_from", Kind::from, nullptr, &Tuning::posted_from, 0, 1024 * gib, false},
    {"fused_to", Kind::up_to, nullptr, &Tuning::fused_to, 0, mib, false},
    {"buffered_to", Kind::up_to, nullptr, &Tuning::buffered_to, 0, gib, false},
    {"receiver_timeout_us", Kind::time, nullptr, &Tuning::receiver_timeout_us, 0, hour_us, false},
    {"linger_us", Kind::time, nullptr, &Tuning::linger_us, 0, second_us, false},
};

std::atomic<const Tuning*> in_force{&shipped};

}  // namespace

const Tuning& shipped_tuning() noexcept {
  return shipped;
}

const Tuning& tuning() noexcept {
  return *in_force.load(std::memory_order_acquire);
}

void set_tuning(const Tuning& table) noexcept {
  in_force.store(&table, std::memory_order_release);
}

std::span<const TuningParameter> tuning_parameters() noexcept {
  return parameters;
}

}  // namespace penstock::transports
