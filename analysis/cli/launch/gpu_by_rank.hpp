// Chooses the GPU of a rank, for `penstock run --gpu-by-rank`: among those that the scheduler has left to it,
// by its number on its host and by the cores to which the launcher has bound it. Starts nothing.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/tables/core_list.hpp"

namespace penstock::cli {

struct HostGpu {
  std::string name;      ///< as CUDA_VISIBLE_DEVICES takes it: a UUID, a number
  std::string identity;  ///< the same in all jobs of the host: its UUID, or its name if that is not known
  analysis::Cores near;  ///< cores with the shortest way to it; empty: not known
};

/// Returns the GPUs of which a rank may take one: those that CUDA_VISIBLE_DEVICES names, else those of the
/// driver that this process can open, by PCI address. `root`: where /proc, /sys and /dev are. Errors:
/// std::bad_alloc.
[[nodiscard]] std::vector<HostGpu> gpus_to_choose_from(const std::filesystem::path& root = "/");

/// Returns this rank's number among those of its host, as its launcher set it; none: no launcher that is
/// known did.
[[nodiscard]] std::optional<std::size_t> rank_on_host();

/// Returns the cores that this process may use; none: not known.
[[nodiscard]] analysis::Cores allowed_cores();

/// Takes a GPU for this process, and returns false if another rank holds it that often already.
using ClaimGpu = std::function<bool(const std::string& identity, std::size_t times)>;

/// Returns the index of the GPU for the rank. One that is not bound gets number `rank` modulo their number,
/// without a claim. One that is bound to cores takes the first that it can claim of those near its cores,
/// then of the others, and shares one only if all are held. `cores`: those that it may use; empty: not known.
/// There must be a GPU.
[[nodiscard]] std::size_t choose_gpu(const std::vector<HostGpu>& gpus, std::size_t rank,
                                     const analysis::Cores& cores, const ClaimGpu& claim);

/// Claims by a socket with an abstract name, which no file stands for: it is held until the program has
/// ended, however it ends, since it stays open in what this process becomes. Returns true, too, if there
/// cannot be such sockets.
[[nodiscard]] bool claim_by_socket(const std::string& identity, std::size_t times);

}  // namespace penstock::cli
