// From one precision to another, and what does not depend on any.
#include "examples/dslash/kernels.hpp"
#include "examples/dslash/vector_bodies.hpp"

namespace dslash {

template <typename To, typename From>
void queue_convert(cudaStream_t stream, const Slab& slab, const Selection& sides,
                   const SpinorView<From>& from, const SpinorView<To>& to) {
  queue_over_sites(stream, slab, sides, Convert<To, From, false>{from, to}, SumRoom{});
}

template <typename To, typename From>
void queue_add(cudaStream_t stream, const Slab& slab, const Selection& sides, const SpinorView<From>& addend,
               const SpinorView<To>& sum) {
  queue_over_sites(stream, slab, sides, Convert<To, From, true>{addend, sum}, SumRoom{});
}

#define DSLASH_CONVERT(TO, FROM)                                                                          \
  template void queue_convert<TO, FROM>(cudaStream_t, const Slab&, const Selection&,                      \
                                        const SpinorView<FROM>&, const SpinorView<TO>&);                  \
  template void queue_add<TO, FROM>(cudaStream_t, const Slab&, const Selection&, const SpinorView<FROM>&, \
                                    const SpinorView<TO>&);
DSLASH_CONVERT(Double, Double)
DSLASH_CONVERT(Double, Single)
DSLASH_CONVERT(Double, Half)
DSLASH_CONVERT(Single, Double)
DSLASH_CONVERT(Single, Single)
DSLASH_CONVERT(Single, Half)
DSLASH_CONVERT(Half, Double)
DSLASH_CONVERT(Half, Single)
#undef DSLASH_CONVERT

}  // namespace dslash
