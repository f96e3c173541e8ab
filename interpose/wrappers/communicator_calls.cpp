// The wrappers of the calls that make, name and free communicators. Each new communicator gets its id at
// once, in an order that is the same on all its ranks.
#include "interpose/binding/mpi_details.hpp"
#include "interpose/binding/mpi_level.hpp"
#include "interpose/calls/call_scope.hpp"
#include "interpose/calls/communicator_hints.hpp"
#include "interpose/calls/communicators.hpp"
#include "interpose/calls/quiet_errors.hpp"
#include "interpose/collectives/agreement/collective_arrival.hpp"
#include "interpose/collectives/agreement/message_communicators.hpp"
#include "interpose/collectives/agreement/spare_communicators.hpp"
#include "interpose/collectives/schedules/message_schedule.hpp"
#include "interpose/posted/posted_counts.hpp"
#include "interpose/progress/gathering.hpp"
#include "interpose/progress/progress.hpp"
#include "interpose/record/recorder.hpp"

#define PENSTOCK_CALLER __builtin_return_address(0)

namespace penstock::interpose {
namespace {

/// Distinguishes what calls without a common parent make among the same ranks.
enum class Meeting : std::uint64_t { group = 1, intercommunicator, port, socket, parent_job };

/// Communicators that several threads make among the same ranks at once get ids in the order of arrival, so
/// other ranks may swap them. With a group that cannot happen: MPI requires different tags for simultaneous
/// calls. An intercommunicator's tag must differ only among those of one `peer_comm`, which only the leaders
/// know.
Origin origin_of(Meeting meeting, std::uint64_t tag = 0) noexcept {
  Origin origin = origin_among_members(static_cast<std::uint64_t>(meeting) << 56 ^ tag);
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  origin.is_agreed = meeting == Meeting::group || level != MPI_THREAD_MULTIPLE;
  return origin;
}

#if PENSTOCK_HAS_MPI_4
/// FNV-1a: the same in every process, unlike std::hash.
std::uint64_t hash_of(const char* text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (; *text != '\0'; ++text) hash = (hash ^ static_cast<unsigned char>(*text)) * 0x100000001b3u;
  return hash;
}
#endif

/// For calls that all members make at once; other ranks get no communicator.
void note_members(MPI_Comm made, Origin origin) {
  note_created(made, origin);
  if (made != MPI_COMM_NULL) arrive_at_new(made);
}

/// Returns the origin of what the next collective call over `parent` makes with such an info.
Origin origin_with_hints(MPI_Comm parent, MPI_Info info) noexcept {
  Origin origin = origin_from(parent);
  origin.is_vertex_set = vertex_set_hint(info).value_or(false);
  return origin;
}

/// Makes a communicator by a call that is collective over `parent`.
template <typename Call>
int create(Function function, const void* caller, MPI_Comm parent, MPI_Info info, const MPI_Comm* made,
           Call call) {
  CallScope scope(function, caller);
  if (scope.stands_aside()) return call();
  scope.collective(parent, -1, 0);
  const Origin origin = origin_with_hints(parent, info);
  arrive(parent);
  const int code = make_communicator(parent, made, call);
  if (code == MPI_SUCCESS) {
    note_members(*made, origin);
  } else if (failed_alone(code)) {
    take_back_arrival(parent);
    take_back_origin_from(parent);
  }
  return code;
}

template <typename Call>
int create(Function function, const void* caller, MPI_Comm parent, const MPI_Comm* made, Call call) {
  return create(function, caller, parent, MPI_INFO_NULL, made, call);
}

/// The same for a call that completes with its request. Both libraries return the handle at once.
template <typename Call>
int begin_create(Function function, const void* caller, MPI_Comm parent, MPI_Info info, const MPI_Comm* made,
                 Call call) {
  CallScope scope(function, caller);
  if (scope.stands_aside()) return call();
  scope.collective(parent, -1, 0);
  const Origin origin = origin_with_hints(parent, info);
  const int code = call();
  if (code == MPI_SUCCESS) {
    note_creating(*made, origin);
  } else if (failed_alone(code)) {
    take_back_origin_from(parent);
  }
  return code;
}

/// Makes a communicator by a call of its future members. `before()` runs before the call, which may wait for
/// others.
template <typename Before, typename Call>
int meet_after(const Before& before, Function function, const void* caller, Origin origin,
               const MPI_Comm* made, Call call) {
  const CallScope scope(function, caller);
  if (scope.stands_aside()) return call();
  before();
  const int code = call();
  if (code == MPI_SUCCESS) note_members(*made, origin);
  return code;
}

/// The same if the members are unknown.
template <typename Call>
int meet(Function function, const void* caller, Origin origin, const MPI_Comm* made, Call call) {
  const auto before = [&] {
    if (waits(function)) settle();
  };
  return meet_after(before, function, caller, origin, made, call);
}

/// The same for a group.
template <typename Call>
int meet_in(MPI_Group group, Function function, const void* caller, Origin origin, const MPI_Comm* made,
            Call call) {
  return meet_after([&] { gather_group(group, origin.value, origin.is_agreed); }, function, caller, origin,
                    made, call);
}

/// Local, except for MPI_Comm_disconnect, which the MPI library may make collective.
template <typename Call>
int release(Function function, const void* caller, MPI_Comm* freed, Call call) {
  CallScope scope(function, caller);
  if (scope.stands_aside()) return call();
  scope.collective(*freed, -1, 0);
  if (function == Function::Comm_disconnect) come_to(gathering_on(*freed).get());
  note_leaving(*freed);
  free_messages_of(*freed);
  if (function == Function::Comm_free && is_kept(*freed)) {
    *freed = MPI_COMM_NULL;
    return MPI_SUCCESS;
  }
  const MPI_Comm handle = *freed;
  note_freeing(handle);
  const int code = call();
  if (code != MPI_SUCCESS) note_not_freed(handle);
  return code;
}

}  // namespace
}  // namespace penstock::interpose

using namespace penstock::interpose;

PENSTOCK_EXPORT int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
  return create(Function::Comm_dup, PENSTOCK_CALLER, comm, newcomm,
                [&] { return PMPI_Comm_dup(comm, newcomm); });
}

PENSTOCK_EXPORT int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
  return create(Function::Comm_dup_with_info, PENSTOCK_CALLER, comm, info, newcomm,
                [&] { return PMPI_Comm_dup_with_info(comm, info, newcomm); });
}

PENSTOCK_EXPORT int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
  return begin_create(Function::Comm_idup, PENSTOCK_CALLER, comm, MPI_INFO_NULL, newcomm,
                      [&] { return PMPI_Comm_idup(comm, newcomm, request); });
}

PENSTOCK_EXPORT int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
  return create(Function::Comm_create, PENSTOCK_CALLER, comm, newcomm,
                [&] { return PMPI_Comm_create(comm, group, newcomm); });
}

PENSTOCK_EXPORT int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm) {
  const CommunicatorInfo* const parent = is_awake() ? peek_info(comm) : nullptr;
  const std::uint64_t parent_id = parent != nullptr ? parent->global_id : 0;
  Origin origin = origin_of(Meeting::group, parent_id + static_cast<std::uint64_t>(tag));
  origin.is_agreed = parent != nullptr && parent->id_is_agreed;
  return meet_in(group, Function::Comm_create_group, PENSTOCK_CALLER, origin, newcomm,
                 [&] { return PMPI_Comm_create_group(comm, group, tag, newcomm); });
}

PENSTOCK_EXPORT int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  return create(Function::Comm_split, PENSTOCK_CALLER, comm, newcomm,
                [&] { return PMPI_Comm_split(comm, color, key, newcomm); });
}

PENSTOCK_EXPORT int MPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info,
                                        MPI_Comm* newcomm) {
  return create(Function::Comm_split_type, PENSTOCK_CALLER, comm, newcomm,
                [&] { return PMPI_Comm_split_type(comm, split_type, key, info, newcomm); });
}

PENSTOCK_EXPORT int MPI_Cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[],
                                    int reorder, MPI_Comm* comm_cart) {
  return create(Function::Cart_create, PENSTOCK_CALLER, comm_old, comm_cart,
                [&] { return PMPI_Cart_create(comm_old, ndims, dims, periods, reorder, comm_cart); });
}

PENSTOCK_EXPORT int MPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm* newcomm) {
  return create(Function::Cart_sub, PENSTOCK_CALLER, comm, newcomm,
                [&] { return PMPI_Cart_sub(comm, remain_dims, newcomm); });
}

PENSTOCK_EXPORT int MPI_Graph_create(MPI_Comm comm_old, int nnodes, const int indx[], const int edges[],
                                     int reorder, MPI_Comm* comm_graph) {
  return create(Function::Graph_create, PENSTOCK_CALLER, comm_old, comm_graph,
                [&] { return PMPI_Graph_create(comm_old, nnodes, indx, edges, reorder, comm_graph); });
}

PENSTOCK_EXPORT int MPI_Dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[],
                                          const int destinations[], const int weights[], MPI_Info info,
                                          int reorder, MPI_Comm* comm_dist_graph) {
  return create(Function::Dist_graph_create, PENSTOCK_CALLER, comm_old, comm_dist_graph, [&] {
    return PMPI_Dist_graph_create(comm_old, n, sources, degrees, destinations, weights, info, reorder,
                                  comm_dist_graph);
  });
}

PENSTOCK_EXPORT int MPI_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[],
                                                   const int sourceweights[], int outdegree,
                                                   const int destinations[], const int destweights[],
                                                   MPI_Info info, int reorder, MPI_Comm* comm_dist_graph) {
  return create(Function::Dist_graph_create_adjacent, PENSTOCK_CALLER, comm_old, comm_dist_graph, [&] {
    return PMPI_Dist_graph_create_adjacent(comm_old, indegree, sources, sourceweights, outdegree,
                                           destinations, destweights, info, reorder, comm_dist_graph);
  });
}

PENSTOCK_EXPORT int MPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm,
                                         int remote_leader, int tag, MPI_Comm* newintercomm) {
  return meet(Function::Intercomm_create, PENSTOCK_CALLER,
              origin_of(Meeting::intercommunicator, static_cast<std::uint64_t>(tag)), newintercomm, [&] {
                return PMPI_Intercomm_create(local_comm, local_leader, peer_comm, remote_leader, tag,
                                             newintercomm);
              });
}

PENSTOCK_EXPORT int MPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm* newintracomm) {
  return create(Function::Intercomm_merge, PENSTOCK_CALLER, intercomm, newintracomm,
                [&] { return PMPI_Intercomm_merge(intercomm, high, newintracomm); });
}

namespace {

void tell_of_spawned() noexcept {
  penstock::record::notice(
      "MPI_Comm_spawn: what it starts runs without Penstock, unless its command is penstock run or the "
      "launcher passes LD_PRELOAD on");
}

}  // namespace

PENSTOCK_EXPORT int MPI_Comm_spawn(const char* command, char* argv[], int maxprocs, MPI_Info info, int root,
                                   MPI_Comm comm, MPI_Comm* intercomm, int array_of_errcodes[]) {
  return create(Function::Comm_spawn, PENSTOCK_CALLER, comm, intercomm, [&] {
    tell_of_spawned();
    return PMPI_Comm_spawn(command, argv, maxprocs, info, root, comm, intercomm, array_of_errcodes);
  });
}

PENSTOCK_EXPORT int MPI_Comm_spawn_multiple(int count, char* array_of_commands[], char** array_of_argv[],
                                            const int array_of_maxprocs[], const MPI_Info array_of_info[],
                                            int root, MPI_Comm comm, MPI_Comm* intercomm,
                                            int array_of_errcodes[]) {
  return create(Function::Comm_spawn_multiple, PENSTOCK_CALLER, comm, intercomm, [&] {
    tell_of_spawned();
    return PMPI_Comm_spawn_multiple(count, array_of_commands, array_of_argv, array_of_maxprocs, array_of_info,
                                    root, comm, intercomm, array_of_errcodes);
  });
}

PENSTOCK_EXPORT int MPI_Comm_accept(const char* port_name, MPI_Info info, int root, MPI_Comm comm,
                                    MPI_Comm* newcomm) {
  return meet(Function::Comm_accept, PENSTOCK_CALLER, origin_of(Meeting::port), newcomm,
              [&] { return PMPI_Comm_accept(port_name, info, root, comm, newcomm); });
}

PENSTOCK_EXPORT int MPI_Comm_connect(const char* port_name, MPI_Info info, int root, MPI_Comm comm,
                                     MPI_Comm* newcomm) {
  return meet(Function::Comm_connect, PENSTOCK_CALLER, origin_of(Meeting::port), newcomm,
              [&] { return PMPI_Comm_connect(port_name, info, root, comm, newcomm); });
}

PENSTOCK_EXPORT int MPI_Comm_join(int fd, MPI_Comm* intercomm) {
  return meet(Function::Comm_join, PENSTOCK_CALLER, origin_of(Meeting::socket), intercomm,
              [&] { return PMPI_Comm_join(fd, intercomm); });
}

PENSTOCK_EXPORT int MPI_Comm_get_parent(MPI_Comm* parent) {
  return meet(Function::Comm_get_parent, PENSTOCK_CALLER, origin_of(Meeting::parent_job), parent,
              [&] { return PMPI_Comm_get_parent(parent); });
}

PENSTOCK_EXPORT int MPI_Comm_set_name(MPI_Comm comm, const char* comm_name) {
  const CallScope scope(Function::Comm_set_name, PENSTOCK_CALLER);
  const int code = PMPI_Comm_set_name(comm, comm_name);
  if (!scope.stands_aside() && code == MPI_SUCCESS) note_named(comm);
  return code;
}

PENSTOCK_EXPORT int MPI_Comm_set_info(MPI_Comm comm, MPI_Info info) {
  const CallScope scope(Function::Comm_set_info, PENSTOCK_CALLER);
  const int code = PMPI_Comm_set_info(comm, info);
  if (!scope.stands_aside() && code == MPI_SUCCESS) note_hints(comm, info);
  return code;
}

PENSTOCK_EXPORT int MPI_Comm_get_info(MPI_Comm comm, MPI_Info* info_used) {
  const CallScope scope(Function::Comm_get_info, PENSTOCK_CALLER);
  const int code = PMPI_Comm_get_info(comm, info_used);
  if (!scope.stands_aside() && code == MPI_SUCCESS) {
    add_hints(comm, *info_used);
    add_posted_counts(*info_used);
  }
  return code;
}

PENSTOCK_EXPORT int MPI_Comm_free(MPI_Comm* comm) {
  return release(Function::Comm_free, PENSTOCK_CALLER, comm, [&] { return PMPI_Comm_free(comm); });
}

PENSTOCK_EXPORT int MPI_Comm_disconnect(MPI_Comm* comm) {
  return release(Function::Comm_disconnect, PENSTOCK_CALLER, comm,
                 [&] { return PMPI_Comm_disconnect(comm); });
}

#if PENSTOCK_HAS_MPI_4
PENSTOCK_EXPORT int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm,
                                            MPI_Request* request) {
  return begin_create(Function::Comm_idup_with_info, PENSTOCK_CALLER, comm, info, newcomm,
                      [&] { return PMPI_Comm_idup_with_info(comm, info, newcomm, request); });
}

PENSTOCK_EXPORT int MPI_Comm_create_from_group(MPI_Group group, const char* stringtag, MPI_Info info,
                                               MPI_Errhandler errhandler, MPI_Comm* newcomm) {
  if (is_awake()) note_error_handlers();
  return meet_in(group, Function::Comm_create_from_group, PENSTOCK_CALLER,
                 origin_of(Meeting::group, hash_of(stringtag)), newcomm,
                 [&] { return PMPI_Comm_create_from_group(group, stringtag, info, errhandler, newcomm); });
}

PENSTOCK_EXPORT int MPI_Intercomm_create_from_groups(MPI_Group local_group, int local_leader,
                                                     MPI_Group remote_group, int remote_leader,
                                                     const char* stringtag, MPI_Info info,
                                                     MPI_Errhandler errhandler, MPI_Comm* newintercomm) {
  if (is_awake()) note_error_handlers();
  return meet(Function::Intercomm_create_from_groups, PENSTOCK_CALLER,
              origin_of(Meeting::intercommunicator, hash_of(stringtag)), newintercomm, [&] {
                return PMPI_Intercomm_create_from_groups(local_group, local_leader, remote_group,
                                                         remote_leader, stringtag, info, errhandler,
                                                         newintercomm);
              });
}
#endif
