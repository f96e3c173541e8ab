#include "tests/differential/collective_calls.hpp"

#include <utility>

namespace penstock::differential {

namespace {

int rank_in(MPI_Comm communicator) {
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  return rank;
}

MPI_Op operation_of(Reduction reduction, MPI_Op affine) {
  switch (reduction) {
    case Reduction::long_bxor:
      return MPI_BXOR;
    case Reduction::pair_minloc:
    case Reduction::short_int_minloc:
      return MPI_MINLOC;
    case Reduction::double_int_maxloc:
      return MPI_MAXLOC;
    case Reduction::complex_product:
      return MPI_PROD;
    case Reduction::bool_lxor:
      return MPI_LXOR;
    case Reduction::affine_compose:
      return affine;
    default:
      return MPI_SUM;
  }
}

bool only_root_is_in_place(CollectiveCall call) {
  return call == CollectiveCall::gather || call == CollectiveCall::gatherv ||
         call == CollectiveCall::scatter || call == CollectiveCall::scatterv ||
         call == CollectiveCall::reduce;
}

}  // namespace

CollectiveRun::CollectiveRun(const Collective& collective, const Arenas& arenas, MPI_Comm communicator,
                             MPI_Op affine)
    : collective_(collective),
      communicator_(communicator),
      member_(rank_in(communicator)),
      size_(static_cast<int>(collective.members.size())),
      send_count_(collective.counts[0]),
      receive_count_(collective.counts[0]),
      operation_(operation_of(collective.reduction, affine)),
      send_type_(type_of_units(own_part().send, own_part().send_rest, own_part().send_has_gaps,
                               own_part().send_is_absolute, send_count_, arenas)),
      receive_type_(type_of_units(own_part().receive, own_part().receive_rest, own_part().receive_has_gaps,
                                  own_part().receive_is_absolute, receive_count_, arenas)) {
  const bool is_root = member_ == collective.root;
  send_ = own_part().send_is_absolute ? MPI_BOTTOM : arenas.address(own_part().send);
  receive_ = own_part().receive_is_absolute ? MPI_BOTTOM : arenas.address(own_part().receive);
  if (collective.in_place && (is_root || !only_root_is_in_place(collective.call))) {
    const bool scatters =
        collective.call == CollectiveCall::scatter || collective.call == CollectiveCall::scatterv;
    (scatters ? receive_ : send_) = MPI_IN_PLACE;
  }
  share_unequally();
}

Datatype CollectiveRun::type_of_units(const Region& first, const Region& rest, bool has_gaps,
                                      bool is_absolute, int& count, const Arenas& arenas) const {
  if (is_reduction(collective_.call)) return Datatype::element(collective_.reduction);
  if (collective_.has_empty_units) return Datatype::empty_unit(has_gaps);
  if (!is_absolute) return Datatype::unit(has_gaps);
  // one large block in each allocation where MPI lets one type stand for all
  const bool is_one_block = !has_gaps && !shares_vary(collective_.call) && count > 1;
  const int units = is_one_block ? std::exchange(count, 1) : 1;
  return Datatype::absolute_units(arenas.address(first), arenas.address(rest), units);
}

void CollectiveRun::share_unequally() {
  const auto size = static_cast<std::size_t>(size_);
  const bool all_to_all =
      collective_.call == CollectiveCall::alltoallv || collective_.call == CollectiveCall::alltoallw;
  // what i sends to j is what j sends to i, as exchanges in place demand
  for (std::size_t i = 0; i < size; ++i) {
    shares_.push_back(collective_.counts[all_to_all ? (i + static_cast<std::size_t>(member_)) % size : i]);
  }
  // not in the order of ranks, so that starts are not what one would guess
  starts_.assign(size, 0);
  for (std::size_t i = size - 1; i > 0; --i) starts_[i - 1] = starts_[i] + shares_[i];
  const auto bytes = [](bool has_gaps, bool is_absolute) {
    return has_gaps || is_absolute ? unit_bytes_with_gaps : unit_bytes;
  };
  for (const int start : starts_) {
    const auto units = static_cast<std::size_t>(start);
    send_byte_starts_.push_back(
        static_cast<int>(units * bytes(own_part().send_has_gaps, own_part().send_is_absolute)));
    receive_byte_starts_.push_back(
        static_cast<int>(units * bytes(own_part().receive_has_gaps, own_part().receive_is_absolute)));
  }
  send_types_.assign(size, send_type_.get());
  receive_types_.assign(size, receive_type_.get());
}

#if PENSTOCK_HAS_MPI_4
void CollectiveRun::initialise(MPI_Request* request) {
  const int count = collective_.counts[0];
  const int own = shares_[static_cast<std::size_t>(member_)];
  const int* counts = shares_.data();
  const int* starts = starts_.data();
  const int root = collective_.root;
  const MPI_Datatype sent = send_type_.get();
  const MPI_Datatype received = receive_type_.get();
  const MPI_Info info = MPI_INFO_NULL;
  using enum CollectiveCall;
  switch (collective_.call) {
    case bcast:
      MPI_Bcast_init(receive_, receive_count_, received, root, communicator_, info, request);
      break;
    case gather:
      MPI_Gather_init(send_, send_count_, sent, receive_, receive_count_, received, root, communicator_, info,
                      request);
      break;
    case gatherv:
      MPI_Gatherv_init(send_, own, sent, receive_, counts, starts, received, root, communicator_, info,
                       request);
      break;
    case scatter:
      MPI_Scatter_init(send_, send_count_, sent, receive_, receive_count_, received, root, communicator_,
                       info, request);
      break;
    case scatterv:
      MPI_Scatterv_init(send_, counts, starts, sent, receive_, own, received, root, communicator_, info,
                        request);
      break;
    case allgather:
      MPI_Allgather_init(send_, send_count_, sent, receive_, receive_count_, received, communicator_, info,
                         request);
      break;
    case allgatherv:
      MPI_Allgatherv_init(send_, own, sent, receive_, counts, starts, received, communicator_, info, request);
      break;
    case alltoall:
      MPI_Alltoall_init(send_, send_count_, sent, receive_, receive_count_, received, communicator_, info,
                        request);
      break;
    case alltoallv:
      MPI_Alltoallv_init(send_, counts, starts, sent, receive_, counts, starts, received, communicator_, info,
                         request);
      break;
    case alltoallw:
      MPI_Alltoallw_init(send_, counts, send_byte_starts_.data(), send_types_.data(), receive_, counts,
                         receive_byte_starts_.data(), receive_types_.data(), communicator_, info, request);
      break;
    case neighbor_allgather:
      MPI_Neighbor_allgather_init(send_, send_count_, sent, receive_, receive_count_, received, communicator_,
                                  info, request);
      break;
    case neighbor_alltoall:
      MPI_Neighbor_alltoall_init(send_, send_count_, sent, receive_, receive_count_, received, communicator_,
                                 info, request);
      break;
    case CollectiveCall::reduce:
      MPI_Reduce_init(send_, receive_, count, received, operation_, root, communicator_, info, request);
      break;
    case allreduce:
      MPI_Allreduce_init(send_, receive_, count, received, operation_, communicator_, info, request);
      break;
    case reduce_scatter:
      MPI_Reduce_scatter_init(send_, receive_, counts, received, operation_, communicator_, info, request);
      break;
    case reduce_scatter_block:
      MPI_Reduce_scatter_block_init(send_, receive_, count, received, operation_, communicator_, info,
                                    request);
      break;
    case scan:
      MPI_Scan_init(send_, receive_, count, received, operation_, communicator_, info, request);
      break;
    case exscan:
      MPI_Exscan_init(send_, receive_, count, received, operation_, communicator_, info, request);
      break;
    default:
      MPI_Barrier_init(communicator_, info, request);
  }
}
#endif

void CollectiveRun::start(MPI_Request& request, Blocking blocking) {
#if PENSTOCK_HAS_MPI_4
  if (collective_.blocking && blocking == Blocking::by_persistent_request) {
    initialise(&request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    return;
  }
#endif
  if (collective_.blocking && blocking == Blocking::by_nonblocking_call) {
    call(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return;
  }
  call(collective_.blocking ? nullptr : &request);
}

void CollectiveRun::call(MPI_Request* later) {
  if (is_reduction(collective_.call)) {
    reduce(later);
    return;
  }
  switch (collective_.call) {
    case CollectiveCall::gatherv:
    case CollectiveCall::scatterv:
    case CollectiveCall::allgatherv:
      move_unequal_data(later);
      break;
    case CollectiveCall::alltoall:
    case CollectiveCall::alltoallv:
    case CollectiveCall::alltoallw:
      exchange_all(later);
      break;
    default:
      move_data(later);
  }
}

void CollectiveRun::move_data(MPI_Request* request) {
  const int root = collective_.root;
  const MPI_Datatype sent = send_type_.get();
  const MPI_Datatype received = receive_type_.get();
  switch (collective_.call) {
    case CollectiveCall::barrier:
      request ? MPI_Ibarrier(communicator_, request) : MPI_Barrier(communicator_);
      break;
    case CollectiveCall::bcast:
      request ? MPI_Ibcast(receive_, receive_count_, received, root, communicator_, request)
              : MPI_Bcast(receive_, receive_count_, received, root, communicator_);
      break;
    case CollectiveCall::gather:
      request ? MPI_Igather(send_, send_count_, sent, receive_, receive_count_, received, root, communicator_,
                            request)
              : MPI_Gather(send_, send_count_, sent, receive_, receive_count_, received, root, communicator_);
      break;
    case CollectiveCall::scatter:
      request
          ? MPI_Iscatter(send_, send_count_, sent, receive_, receive_count_, received, root, communicator_,
                         request)
          : MPI_Scatter(send_, send_count_, sent, receive_, receive_count_, received, root, communicator_);
      break;
    case CollectiveCall::neighbor_allgather:
      request ? MPI_Ineighbor_allgather(send_, send_count_, sent, receive_, receive_count_, received,
                                        communicator_, request)
              : MPI_Neighbor_allgather(send_, send_count_, sent, receive_, receive_count_, received,
                                       communicator_);
      break;
    case CollectiveCall::neighbor_alltoall:
      request ? MPI_Ineighbor_alltoall(send_, send_count_, sent, receive_, receive_count_, received,
                                       communicator_, request)
              : MPI_Neighbor_alltoall(send_, send_count_, sent, receive_, receive_count_, received,
                                      communicator_);
      break;
    default:
      request ? MPI_Iallgather(send_, send_count_, sent, receive_, receive_count_, received, communicator_,
                               request)
              : MPI_Allgather(send_, send_count_, sent, receive_, receive_count_, received, communicator_);
  }
}

void CollectiveRun::move_unequal_data(MPI_Request* request) {
  const int own = shares_[static_cast<std::size_t>(member_)];
  const int* counts = shares_.data();
  const int* starts = starts_.data();
  const int root = collective_.root;
  const MPI_Datatype sent = send_type_.get();
  const MPI_Datatype received = receive_type_.get();
  switch (collective_.call) {
    case CollectiveCall::gatherv:
      request
          ? MPI_Igatherv(send_, own, sent, receive_, counts, starts, received, root, communicator_, request)
          : MPI_Gatherv(send_, own, sent, receive_, counts, starts, received, root, communicator_);
      break;
    case CollectiveCall::scatterv:
      request
          ? MPI_Iscatterv(send_, counts, starts, sent, receive_, own, received, root, communicator_, request)
          : MPI_Scatterv(send_, counts, starts, sent, receive_, own, received, root, communicator_);
      break;
    default:
      request ? MPI_Iallgatherv(send_, own, sent, receive_, counts, starts, received, communicator_, request)
              : MPI_Allgatherv(send_, own, sent, receive_, counts, starts, received, communicator_);
  }
}

void CollectiveRun::exchange_all(MPI_Request* request) {
  const int* counts = shares_.data();
  const int* starts = starts_.data();
  const MPI_Datatype sent = send_type_.get();
  const MPI_Datatype received = receive_type_.get();
  switch (collective_.call) {
    case CollectiveCall::alltoall:
      request ? MPI_Ialltoall(send_, send_count_, sent, receive_, receive_count_, received, communicator_,
                              request)
              : MPI_Alltoall(send_, send_count_, sent, receive_, receive_count_, received, communicator_);
      break;
    case CollectiveCall::alltoallv:
      request ? MPI_Ialltoallv(send_, counts, starts, sent, receive_, counts, starts, received, communicator_,
                               request)
              : MPI_Alltoallv(send_, counts, starts, sent, receive_, counts, starts, received, communicator_);
      break;
    default:
      request ? MPI_Ialltoallw(send_, counts, send_byte_starts_.data(), send_types_.data(), receive_, counts,
                               receive_byte_starts_.data(), receive_types_.data(), communicator_, request)
              : MPI_Alltoallw(send_, counts, send_byte_starts_.data(), send_types_.data(), receive_, counts,
                              receive_byte_starts_.data(), receive_types_.data(), communicator_);
  }
}

void CollectiveRun::reduce(MPI_Request* request) {
  const int count = collective_.counts[0];
  const MPI_Datatype type = receive_type_.get();
  switch (collective_.call) {
    case CollectiveCall::reduce:
      request
          ? MPI_Ireduce(send_, receive_, count, type, operation_, collective_.root, communicator_, request)
          : MPI_Reduce(send_, receive_, count, type, operation_, collective_.root, communicator_);
      break;
    case CollectiveCall::allreduce:
      request ? MPI_Iallreduce(send_, receive_, count, type, operation_, communicator_, request)
              : MPI_Allreduce(send_, receive_, count, type, operation_, communicator_);
      break;
    case CollectiveCall::reduce_scatter:
      request ? MPI_Ireduce_scatter(send_, receive_, shares_.data(), type, operation_, communicator_, request)
              : MPI_Reduce_scatter(send_, receive_, shares_.data(), type, operation_, communicator_);
      break;
    case CollectiveCall::reduce_scatter_block:
      request ? MPI_Ireduce_scatter_block(send_, receive_, count, type, operation_, communicator_, request)
              : MPI_Reduce_scatter_block(send_, receive_, count, type, operation_, communicator_);
      break;
    case CollectiveCall::scan:
      request ? MPI_Iscan(send_, receive_, count, type, operation_, communicator_, request)
              : MPI_Scan(send_, receive_, count, type, operation_, communicator_);
      break;
    default:
      request ? MPI_Iexscan(send_, receive_, count, type, operation_, communicator_, request)
              : MPI_Exscan(send_, receive_, count, type, operation_, communicator_);
  }
}

std::size_t CollectiveRun::defined_bytes(const Collective& collective, std::size_t member) {
  if (collective.call == CollectiveCall::exscan && member == 0) return 0;
  const bool scatters_result = collective.call == CollectiveCall::reduce_scatter ||
                               collective.call == CollectiveCall::reduce_scatter_block;
  if (scatters_result && collective.in_place) {
    return static_cast<std::size_t>(collective.counts[member]) * element_bytes(collective.reduction);
  }
  return collective.members[member].receive.bytes;
}

}  // namespace penstock::differential
