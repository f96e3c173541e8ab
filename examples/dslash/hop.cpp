#include "examples/dslash/hop.hpp"

#include <thread>

#include "examples/dslash/ghost_links.hpp"

namespace dslash {
namespace {

constexpr Part whole(const Slab& slab) {
  return {0, 1, slab.slices};
}
constexpr Part interior(const Slab& slab) {
  return {1, 1, slab.slices - 2};
}
constexpr Part exterior(const Slab& slab) {
  return {0, slab.slices - 1, 2};
}
/// The slice that needs that face.
constexpr Part outer_slice(const Slab& slab, Face face) {
  return {face == Face::upper ? 0 : slab.slices - 1, 1, 1};
}

}  // namespace

void check_launch(cudaError_t error) {
  example::check(error, "launch a kernel");
}

template <typename Precision>
Hop<Precision>::Hop(const Team& team, Streams& streams, const Model& model, int rows,
                    const Coefficients& coefficients, const Transfer& transfer, int sides)
    : team_(team),
      streams_(streams),
      coefficients_(coefficients),
      transfer_(transfer),
      sides_(sides),
      gauge_(team.slab, rows),
      packed_(two_faces_bytes<Precision>(team.slab, sides)),
      arrived_(1),
      packed_flag_(1),
      exchange_(team, transfer, pointers_of(faces_at(packed_.get())),
                two_faces_bytes<Precision>(team.slab, sides) / 2) {
  example::check(cudaMemset(arrived_.get(), 0, sizeof(unsigned)), "clear a counter");
  example::check(cudaHostGetDevicePointer(&packed_flag_on_device_, packed_flag_.get(), 0), "map a flag");
  *packed_flag_.get() = 0;
  queue_links(streams_.bulk.get(), team_.slab, gauge_.view(), model);
  if (coefficients.has_clover()) {
    clover_.emplace(team_.slab);
    for (int parity = 0; parity < 2; ++parity) {
      queue_clover(streams_.bulk.get(), team_.slab, parity, model, coefficients.kappa * coefficients.clover,
                   true, clover_->view(parity));
    }
  }
  streams_.bulk.synchronize();
  if (team_.size > 1) {
    send_ghost_links(team_, streams_.bulk, gauge_.view(),
                     transfer_.exchange == example::Exchange::staged_by_hand);
    if (transfer_.requests == MpiRequests::persistent) {
      ghosts_.emplace(2 * two_faces_bytes<Precision>(team_.slab, sides_));
    }
    if (transfer_.policy == Policy::direct) {
      direct_.emplace(team_, two_faces_bytes<Precision>(team_.slab, sides_));
    }
  }
}

template <typename Precision>
std::size_t Hop<Precision>::device_bytes(const Team& team, int rows, bool has_clover, int sides) {
  return GaugeField<Precision>::device_bytes(team.slab, rows) +
         (has_clover ? CloverField<Precision>::device_bytes(team.slab) : 0) +
         5 * two_faces_bytes<Precision>(team.slab, sides);
}

template <typename Precision>
void Hop<Precision>::run(int parity, const Selection& sides, const SpinorField<Precision>& in,
                         const SpinorField<Precision>& out, const SpinorField<Precision>* x, double scale) {
  using Real = typename Precision::Real;
  if (sides.count == 0) {
    return;
  }
  const example::NamedRange range("dslash");
  Arguments arguments{};
  arguments.slab = team_.slab;
  arguments.part = whole(team_.slab);
  arguments.parity = parity;
  arguments.scale = static_cast<Real>(scale);
  arguments.spatial_weight = static_cast<Real>(1 / coefficients_.anisotropy);
  arguments.boundary_sign = coefficients_.is_antiperiodic ? -1 : 1;
  arguments.gauge = gauge_.view();
  if (clover_ && fuses_clover_) {
    arguments.clover = clover_->view(parity);
  }
  arguments.sides = {sides, aligned(face_bytes<Precision>(team_.slab))};
  arguments.in = in.view();
  arguments.out = out.view();
  if (x != nullptr) {
    arguments.x = x->view();
  }
  if (team_.size == 1) {
    queue_hop(streams_.bulk.get(), arguments);
    return;
  }
  arguments.has_ghosts = true;
  ++step_;
  arguments.ghosts =
      ghosts_ ? faces_at(ghosts_->get() + (step_ % 2) * two_faces_bytes<Precision>(team_.slab, sides_))
              : in.end_zone(step_);
  switch (transfer_.policy) {
    case Policy::none:
      run_without_overlap(arguments);
      break;
    case Policy::one_stream:
      run_in_one_stream(arguments);
      break;
    case Policy::streams:
    case Policy::streams_two:
      run_in_streams(arguments);
      break;
    case Policy::fused_pack:
      run_with_fused_pack(arguments);
      break;
    case Policy::direct:
      run_direct(arguments);
      break;
  }
}

template <typename Precision>
void Hop<Precision>::run_without_overlap(Arguments& arguments) {
  post_receives(arguments);
  if (!without(Stage::pack)) {
    queue_pack(streams_.bulk.get(), packing(arguments, {}));
  }
  streams_.bulk.synchronize();
  exchange(streams_.bulk);
  // One kernel; if one of its parts is to be left out, only the other.
  if (without(Stage::interior)) {
    arguments.part = exterior(team_.slab);
  } else if (without(Stage::exterior)) {
    arguments.part = interior(team_.slab);
  }
  queue_hop(streams_.bulk.get(), arguments);
}

/// Copies by hand wait for the interior here, messages do not.
template <typename Precision>
void Hop<Precision>::run_in_one_stream(Arguments& arguments) {
  post_receives(arguments);
  if (!without(Stage::pack)) {
    queue_pack(streams_.bulk.get(), packing(arguments, {}));
  }
  streams_.bulk.synchronize();
  exchange_.stage(streams_.bulk);
  queue_interior(arguments);
  {
    const example::NamedRange range("exchange");
    exchange_.send();
    exchange_.finish(streams_.bulk);
  }
  queue_outer(streams_.bulk, arguments, exterior(team_.slab));
}

template <typename Precision>
void Hop<Precision>::run_in_streams(Arguments& arguments) {
  input_ready_.record(streams_.bulk);
  input_ready_.block(streams_.boundary);
  if (!without(Stage::pack)) {
    queue_pack(streams_.boundary.get(), packing(arguments, {}));
  }
  queue_interior(arguments);
  post_receives(arguments);
  streams_.boundary.synchronize();
  if (transfer_.policy == Policy::streams_two) {
    input_ready_.block(streams_.other_boundary);
    queue_exterior_as_faces_come(arguments);
  } else {
    exchange(streams_.boundary);
    queue_exterior(arguments);
  }
}

template <typename Precision>
void Hop<Precision>::run_with_fused_pack(Arguments& arguments) {
  input_ready_.record(streams_.bulk);
  input_ready_.block(streams_.boundary);
  Arguments first = arguments;
  if (!without(Stage::pack)) {
    first.pack = packing(arguments, {arrived_.get(), {packed_flag_on_device_, nullptr}, step_});
  }
  queue_interior(first);
  post_receives(arguments);
  if (without(Stage::pack)) {
    streams_.boundary.synchronize();
  } else {
    wait_for_packing(step_);
  }
  exchange(streams_.boundary);
  queue_exterior(arguments);
}

template <typename Precision>
void Hop<Precision>::run_direct(Arguments& arguments) {
  input_ready_.record(streams_.bulk);
  input_ready_.block(streams_.boundary);
  const bool is_connected = !without(Stage::comms) && !without(Stage::pack);
  if (!without(Stage::pack)) {
    PackArguments<Precision> pack = packing(arguments, {});
    if (is_connected) {
      pack.out.upper = faces_at(direct_->faces_ahead(step_)).upper;
      pack.out.lower = faces_at(direct_->faces_behind(step_)).lower;
      pack.signal = {arrived_.get(), {direct_->upper_flag_ahead(), direct_->lower_flag_behind()}, step_};
    }
    queue_pack(streams_.boundary.get(), pack);
  }
  queue_interior(arguments);
  arguments.ghosts = faces_at(direct_->own_faces(step_));
  if (is_connected) {
    arguments.arrival = {direct_->own_upper_flag(), direct_->own_lower_flag(), step_};
  }
  queue_exterior(arguments);
}

/// Where there is something to pack; how many blocks do it is filled in with the launch.
template <typename Precision>
PackArguments<Precision> Hop<Precision>::packing(const Arguments& arguments, const Signal& signal) const {
  return {arguments.in, faces_at(packed_.get()), arguments.sides, team_.slab.face_sites(), 1, signal};
}

/// Sites whose neighbours are all here.
template <typename Precision>
void Hop<Precision>::queue_interior(const Arguments& arguments) {
  Arguments inner = arguments;
  inner.part = interior(team_.slab);
  if (without(Stage::interior)) {
    inner.part.count = 0;
  }
  queue_hop(streams_.bulk.get(), inner);
}

/// Outer slices, whole.
template <typename Precision>
void Hop<Precision>::queue_outer(const example::Stream& stream, const Arguments& arguments, Part part) {
  if (!without(Stage::exterior)) {
    Arguments outer = arguments;
    outer.part = part;
    queue_hop(stream.get(), outer);
  }
}

/// What is queued on `bulk` from now on comes after what is on `stream`.
template <typename Precision>
void Hop<Precision>::let_bulk_follow(const example::Stream& stream) {
  outer_done_.record(stream);
  outer_done_.block(streams_.bulk);
}

template <typename Precision>
void Hop<Precision>::queue_exterior(const Arguments& arguments) {
  queue_outer(streams_.boundary, arguments, exterior(team_.slab));
  let_bulk_follow(streams_.boundary);
}

/// The outer slices on a stream each, so that neither kernel waits for the other.
template <typename Precision>
void Hop<Precision>::queue_exterior_as_faces_come(const Arguments& arguments) {
  const example::NamedRange range("exchange");
  exchange_.stage(streams_.boundary);
  exchange_.send();
  for (int faces = 0; faces < 2; ++faces) {
    const Face face = exchange_.wait_for_one();
    const example::Stream& stream = face == Face::upper ? streams_.boundary : streams_.other_boundary;
    exchange_.fetch(stream, face);
    queue_outer(stream, arguments, outer_slice(team_.slab, face));
    let_bulk_follow(stream);
  }
  exchange_.finish_sends();
}

/// A kernel that reads the faces of the step before the last one is done: the last step's packing, which the
/// host has seen, came after it.
template <typename Precision>
void Hop<Precision>::post_receives(const Arguments& arguments) {
  const Sides& sides = arguments.sides;
  exchange_.post(step_, pointers_of(arguments.ghosts),
                 static_cast<std::size_t>(sides.selected.count) * sides.face_bytes);
}

template <typename Precision>
void Hop<Precision>::exchange(const example::Stream& stream) {
  const example::NamedRange range("exchange");
  exchange_.stage(stream);
  exchange_.send();
  exchange_.finish(stream);
}

/// A kernel that failed never sets the flag: the stream says so.
template <typename Precision>
void Hop<Precision>::wait_for_packing(unsigned epoch) const {
  const example::NamedRange range("wait for packing");
  constexpr unsigned polls_between_queries = 4096;
  for (unsigned polls = 1; __atomic_load_n(packed_flag_.get(), __ATOMIC_ACQUIRE) != epoch; ++polls) {
    if (polls % polls_between_queries == 0) {
      const cudaError_t state = cudaStreamQuery(streams_.bulk.get());
      if (state != cudaErrorNotReady) {
        example::check(state, "pack faces");
      }
      std::this_thread::yield();
    }
  }
}

template class Hop<Double>;
template class Hop<Single>;
template class Hop<Half>;

}  // namespace dslash
