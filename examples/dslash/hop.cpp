#include "examples/dslash/hop.hpp"

#include <algorithm>
#include <thread>

#include "examples/dslash/boxes.hpp"
#include "examples/dslash/ghost_links.hpp"

namespace dslash {

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
      packed_(std::max<std::size_t>(1, faces_bytes<Precision>(team.slab, sides))),
      arrived_(1),
      packed_flag_(1),
      exchange_(team, transfer, pointers_of(faces_in(packed_.get())),
                message_bytes<Precision>(team.slab, sides)) {
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
    send_ghost_links(
        team_.slab, streams_.bulk, gauge_.view(),
        exchange_by_mpi(team_, streams_.bulk, transfer_.exchange == example::Exchange::staged_by_hand));
    if (transfer_.requests == MpiRequests::persistent) {
      ghosts_.emplace(2 * faces_bytes<Precision>(team_.slab, sides_));
    }
    if (transfer_.policy == Policy::direct) {
      direct_.emplace(team_, faces_bytes<Precision>(team_.slab, sides_));
    }
  }
}

template <typename Precision>
std::size_t Hop<Precision>::device_bytes(const Team& team, int rows, bool has_clover, int sides) {
  return GaugeField<Precision>::device_bytes(team.slab, rows) +
         (has_clover ? CloverField<Precision>::device_bytes(team.slab) : 0) +
         5 * faces_bytes<Precision>(team.slab, sides);
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
  arguments.box = whole(team_.slab);
  arguments.parity = parity;
  arguments.scale = static_cast<Real>(scale);
  arguments.spatial_weight = static_cast<Real>(1 / coefficients_.anisotropy);
  arguments.boundary_sign = coefficients_.is_antiperiodic ? -1 : 1;
  arguments.gauge = gauge_.view();
  if (clover_ && fuses_clover_) {
    arguments.clover = clover_->view(parity);
  }
  arguments.sides.selected = sides;
  for (int face = 0; face < most_faces; ++face) {
    arguments.sides.face_bytes[face] = face_bytes<Precision>(team_.slab, static_cast<Face>(face));
  }
  arguments.in = in.view();
  arguments.out = out.view();
  if (x != nullptr) {
    arguments.x = x->view();
  }
  if (team_.size == 1) {
    queue_hop(streams_.bulk.get(), arguments);
    return;
  }
  ++step_;
  arguments.ghosts = ghosts_
                         ? faces_in(ghosts_->get() + (step_ % 2) * faces_bytes<Precision>(team_.slab, sides_))
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
    queue_all_outer(streams_.bulk, arguments);
  } else {
    queue_box(streams_.bulk, arguments, without(Stage::exterior) ? interior(team_.slab) : whole(team_.slab));
  }
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
  queue_all_outer(streams_.bulk, arguments);
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
    first.pack = packing(arguments, {arrived_.get(), {packed_flag_on_device_}, step_});
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
      pack.signal = {arrived_.get(), {}, step_};
      for (const Face face : exchange_.faces()) {
        pack.out.of[face] = faces_in(direct_->faces_at_destination(face, step_)).of[face];
        pack.signal.flags[face] = direct_->flag_at_destination(face);
      }
    }
    queue_pack(streams_.boundary.get(), pack);
  }
  queue_interior(arguments);
  arguments.ghosts = faces_in(direct_->own_faces(step_));
  arguments.arrival.epoch = step_;
  for (const Face face : exchange_.faces()) {
    arguments.arrival.flags[face] = is_connected ? direct_->own_flag(face) : nullptr;
  }
  queue_exterior(arguments);
}

/// Where there is something to pack; how many blocks do it is filled in with the launch.
template <typename Precision>
PackArguments<Precision> Hop<Precision>::packing(const Arguments& arguments, const Signal& signal) const {
  return {arguments.in, faces_in(packed_.get()), arguments.sides, team_.slab, 1, signal};
}

/// Sites whose neighbours are all here; they come with what `arguments` packs.
template <typename Precision>
void Hop<Precision>::queue_interior(const Arguments& arguments) {
  Box box = interior(team_.slab);
  if (without(Stage::interior)) {
    box.slices.count = 0;
  }
  queue_box(streams_.bulk, arguments, box);
}

template <typename Precision>
void Hop<Precision>::queue_box(const example::Stream& stream, const Arguments& arguments, const Box& box) {
  Arguments some = arguments;
  some.box = box;
  queue_hop(stream.get(), some);
}

/// The outer slices, whole, and the outer planes of the others.
template <typename Precision>
void Hop<Precision>::queue_all_outer(const example::Stream& stream, const Arguments& arguments) {
  if (without(Stage::exterior)) {
    return;
  }
  const Slab& slab = team_.slab;
  if (slab.is_split_in_time()) {
    queue_box(stream, arguments, {outer_of(slab.slices), all_of(slab.planes)});
  }
  if (slab.is_split_along_z()) {
    queue_box(stream, arguments, {interior(slab).slices, outer_of(slab.planes)});
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
  queue_all_outer(streams_.boundary, arguments);
  let_bulk_follow(streams_.boundary);
}

/// The two outer slices on a stream each, so that neither kernel waits for the other. If z is split, too, all
/// on one stream: a slice needs faces along z, and these are there for the stream that they were fetched on.
template <typename Precision>
void Hop<Precision>::queue_exterior_as_faces_come(const Arguments& arguments) {
  const example::NamedRange range("exchange");
  exchange_.stage(streams_.boundary);
  exchange_.send();
  std::vector<OuterBox> left = outer_boxes(team_.slab);
  unsigned here = 0;
  for (std::size_t faces = 0; faces < exchange_.faces().size(); ++faces) {
    const Face face = exchange_.wait_for_one();
    const bool has_own = face == t_lower && !team_.slab.is_split_along_z();
    const example::Stream& stream = has_own ? streams_.other_boundary : streams_.boundary;
    exchange_.fetch(stream, face);
    here |= bit(face);
    std::erase_if(left, [&](const OuterBox& outer) {
      const bool can_go = (outer.needed & ~here) == 0;
      if (can_go && !without(Stage::exterior)) {
        queue_box(stream, arguments, outer.box);
      }
      return can_go;
    });
    let_bulk_follow(stream);
  }
  exchange_.finish_sends();
}

/// A kernel that reads the faces of the step before the last one is done: the last step's packing, which the
/// host has seen, came after it.
template <typename Precision>
void Hop<Precision>::post_receives(const Arguments& arguments) {
  exchange_.post(step_, pointers_of(arguments.ghosts),
                 message_bytes<Precision>(team_.slab, arguments.sides.selected.count));
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
