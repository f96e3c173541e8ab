#include "analysis/export/common/mpi_operation.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace penstock::analysis::exports {
namespace {

struct KnownOperation {
  std::string_view name;
  Collective collective;
  Role role;
};

constexpr std::array operations{
    KnownOperation{"barrier", Collective::barrier, Role::barrier},
    KnownOperation{"bcast", Collective::bcast, Role::one_to_all},
    KnownOperation{"gather", Collective::gather, Role::all_to_one},
    KnownOperation{"gatherv", Collective::gatherv, Role::all_to_one},
    KnownOperation{"scatter", Collective::scatter, Role::one_to_all},
    KnownOperation{"scatterv", Collective::scatterv, Role::one_to_all},
    KnownOperation{"allgather", Collective::allgather, Role::all_to_all},
    KnownOperation{"allgatherv", Collective::allgatherv, Role::all_to_all},
    KnownOperation{"alltoall", Collective::alltoall, Role::all_to_all},
    KnownOperation{"alltoallv", Collective::alltoallv, Role::all_to_all},
    KnownOperation{"alltoallw", Collective::alltoallw, Role::all_to_all},
    KnownOperation{"allreduce", Collective::allreduce, Role::all_to_all},
    KnownOperation{"reduce", Collective::reduce, Role::all_to_one},
    KnownOperation{"reduce_scatter", Collective::reduce_scatter, Role::all_to_all},
    KnownOperation{"reduce_scatter_block", Collective::reduce_scatter_block, Role::all_to_all},
    KnownOperation{"scan", Collective::scan, Role::other_collective},
    KnownOperation{"exscan", Collective::exscan, Role::other_collective},
    KnownOperation{"comm_dup", Collective::create_communicator, Role::other_collective},
    KnownOperation{"comm_dup_with_info", Collective::create_communicator, Role::other_collective},
    KnownOperation{"comm_create", Collective::create_communicator, Role::other_collective},
    KnownOperation{"comm_split", Collective::create_communicator, Role::other_collective},
    KnownOperation{"comm_split_type", Collective::create_communicator, Role::other_collective},
    KnownOperation{"comm_free", Collective::free_communicator, Role::other_collective},
};

/// Turns "MPI_Ibcast_c" into "ibcast".
std::string plain(std::string_view function) {
  constexpr std::string_view prefix = "MPI_";
  if (function.starts_with(prefix)) function.remove_prefix(prefix.size());
  for (const std::string_view suffix : {"_c", "_init"}) {
    if (function.ends_with(suffix)) function.remove_suffix(suffix.size());
  }
  std::string name(function);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

const KnownOperation* operation_named(std::string_view name) {
  const auto found = std::find_if(operations.begin(), operations.end(),
                                  [name](const KnownOperation& each) { return each.name == name; });
  return found == operations.end() ? nullptr : &*found;
}

bool holds_any(std::string_view name, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [name](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

}  // namespace

Collective collective_of(std::string_view function) {
  if (function.find("_init") != std::string_view::npos) return Collective::none;
  const KnownOperation* const known = operation_named(plain(function));
  return known == nullptr ? Collective::none : known->collective;
}

Role role_of(std::string_view function) {
  const std::string name = plain(function);
  if (const KnownOperation* const known = operation_named(name); known != nullptr) return known->role;
  if (name.starts_with('i')) {
    if (const KnownOperation* const known = operation_named(name.substr(1)); known != nullptr)
      return known->role;
  }
  if (name.starts_with("file_")) return Role::file;
  if (name.starts_with("win_") || holds_any(name, {"accumulate", "fetch_and_op", "compare_and_swap"}) ||
      name == "put" || name == "get" || name == "rput" || name == "rget") {
    return Role::one_sided;
  }
  if (holds_any(name, {"neighbor"})) return Role::other_collective;
  if (holds_any(name, {"send", "recv", "probe", "wait", "test", "start", "cancel"}))
    return Role::point_to_point;
  return Role::other;
}

}  // namespace penstock::analysis::exports
