// The hopping term over the ranks, by any policy: the place to read first.
#pragma once

#include <memory>
#include <optional>

#include "examples/dslash/direct_zone.hpp"
#include "examples/dslash/face_exchange.hpp"
#include "examples/dslash/fields.hpp"
#include "examples/dslash/kernels.hpp"
#include "examples/dslash/settings.hpp"
#include "examples/dslash/team.hpp"

namespace dslash {

/// Streams of a rank. What is not about faces is queued on `bulk`.
struct Streams {
  example::Stream bulk{example::Priority::normal};
  example::Stream boundary{example::Priority::urgent};
  example::Stream other_boundary{example::Priority::urgent};  ///< where each outer slice has its own
};

template <typename Precision>
class Hop {
 public:
  /// Links of the model. Collective; sends the links that the neighbours need, once.
  Hop(const Team& team, Streams& streams, const Model& model, int rows, const Coefficients& coefficients,
      const Transfer& transfer, int sides = 1);

  /// Of the gauge field and of what the policy needs.
  [[nodiscard]] static std::size_t device_bytes(const Team& team, int rows, bool has_clover, int sides = 1);

  /// out = D in, or A^-1 D in with a clover term A, to be queued on `bulk`; `out` gets parity `parity`, and
  /// `in` has the other one. For as many right-hand sides at once as were said, at most.
  void apply(int parity, const Selection& sides, const SpinorField<Precision>& in,
             const SpinorField<Precision>& out) {
    run(parity, sides, in, out, nullptr, 0);
  }
  /// out = x + scale D in; `x` may be `out`.
  void apply(int parity, const Selection& sides, const SpinorField<Precision>& in,
             const SpinorField<Precision>& out, const SpinorField<Precision>& x, double scale) {
    run(parity, sides, in, out, &x, scale);
  }

  [[nodiscard]] int most_sides_at_once() const { return sides_; }
  [[nodiscard]] const Team& team() const { return team_; }
  [[nodiscard]] Streams& streams() const { return streams_; }
  [[nodiscard]] GaugeView<Precision> gauge() const { return gauge_.view(); }
  /// The inverse of the clover term, where there is one.
  [[nodiscard]] const std::optional<CloverField<Precision>>& clover() const { return clover_; }
  /// Whether D is multiplied by that inverse; it is at first.
  void fuse_clover(bool fuses) { fuses_clover_ = fuses; }

 private:
  using Arguments = HopArguments<Precision>;

  void run(int parity, const Selection& sides, const SpinorField<Precision>& in,
           const SpinorField<Precision>& out, const SpinorField<Precision>* x, double scale);
  void run_without_overlap(Arguments& arguments);
  void run_in_one_stream(Arguments& arguments);
  void run_in_streams(Arguments& arguments);
  void run_with_fused_pack(Arguments& arguments);
  void run_direct(Arguments& arguments);

  [[nodiscard]] bool without(Stage stage) const { return transfer_.without == stage; }
  [[nodiscard]] PackArguments<Precision> packing(const Arguments& arguments, const Signal& signal) const;
  [[nodiscard]] Faces faces_in(std::byte* data) const {
    return faces_at<Precision>(team_.slab, sides_, data);
  }
  void queue_interior(const Arguments& arguments);
  void queue_box(const example::Stream& stream, const Arguments& arguments, const Box& box);
  void queue_all_outer(const example::Stream& stream, const Arguments& arguments);
  void let_bulk_follow(const example::Stream& stream);
  void queue_exterior(const Arguments& arguments);
  void queue_exterior_as_faces_come(const Arguments& arguments);
  void post_receives(const Arguments& arguments);
  void exchange(const example::Stream& stream);
  void wait_for_packing(unsigned epoch) const;

  Team team_;
  Streams& streams_;
  Coefficients coefficients_;
  Transfer transfer_;
  int sides_;
  GaugeField<Precision> gauge_;
  std::optional<CloverField<Precision>> clover_;
  bool fuses_clover_ = true;
  example::DeviceArray<std::byte> packed_;
  example::DeviceArray<unsigned> arrived_;  ///< blocks that have packed
  example::PinnedArray<unsigned> packed_flag_;
  unsigned* packed_flag_on_device_ = nullptr;
  std::optional<example::DeviceArray<std::byte>> ghosts_;  ///< for persistent requests: two sets, in turn
  FaceExchange exchange_;
  std::optional<DirectZone> direct_;
  unsigned step_ = 0;  ///< applications so far
  example::Event input_ready_;
  example::Event outer_done_;
};

}  // namespace dslash
