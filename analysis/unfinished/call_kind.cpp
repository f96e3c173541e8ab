#include "analysis/unfinished/call_kind.hpp"

#include <algorithm>
#include <iterator>

namespace penstock::analysis {
namespace {

struct NamedKind {
  std::string_view name;
  CallKind kind;
};

constexpr CallKind blocking_send{.sends = true};
constexpr CallKind nonblocking_send{.sends = true, .is_blocking = false};
constexpr CallKind blocking_receive{.receives = true};
constexpr CallKind persistent_send{.sends = true, .is_blocking = false, .is_persistent = true};
constexpr CallKind exchange{.sends = true, .receives = true};
constexpr CallKind completion{.completes = true};
constexpr CallKind completion_of_any{.completes = true, .any_is_enough = true};

constexpr NamedKind kinds[] = {
    {"Send", blocking_send},
    {"Ssend", blocking_send},
    {"Rsend", blocking_send},
    {"Isend", nonblocking_send},
    {"Issend", nonblocking_send},
    {"Irsend", nonblocking_send},
    {"Ibsend", nonblocking_send},
    {"Send_init", persistent_send},
    {"Ssend_init", persistent_send},
    {"Rsend_init", persistent_send},
    {"Recv_init", {.receives = true, .is_blocking = false, .is_persistent = true}},
    {"Recv", blocking_receive},
    {"Probe", blocking_receive},
    {"Mprobe", blocking_receive},
    {"Irecv", {.receives = true, .is_blocking = false}},
    {"Sendrecv", exchange},
    {"Sendrecv_replace", exchange},
    {"Wait", completion},
    {"Waitall", completion},
    {"Waitany", completion_of_any},
    {"Waitsome", completion_of_any},
};

/// Turns "MPI_Send_c" into "Send".
std::string_view plain_name(std::string_view function) {
  constexpr std::string_view prefix = "MPI_";
  constexpr std::string_view large = "_c";
  if (function.starts_with(prefix)) {
    function.remove_prefix(prefix.size());
  }
  if (function.ends_with(large)) {
    function.remove_suffix(large.size());
  }
  return function;
}

}  // namespace

CallKind kind_of_call(std::string_view function) {
  const std::string_view name = plain_name(function);
  const auto found = std::find_if(std::begin(kinds), std::end(kinds),
                                  [name](const NamedKind& each) { return each.name == name; });
  return found == std::end(kinds) ? CallKind{} : found->kind;
}

bool is_nonblocking_collective(std::string_view function) {
  const std::string_view name = plain_name(function);
  return name.starts_with('I') || name.find("_idup") != std::string_view::npos;
}

bool is_among_neighbours(std::string_view function) {
  return function.find("eighbor") != std::string_view::npos;
}

}  // namespace penstock::analysis
