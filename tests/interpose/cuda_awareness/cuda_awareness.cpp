// Asks as programs do, with the shipped header. Arguments: the answer expected, and `early` to ask before
// MPI_Init too, where MPICH's own aborts.
#include <mpi-ext.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#if !defined(MPIX_CUDA_AWARE_SUPPORT) || !MPIX_CUDA_AWARE_SUPPORT
#error "the header lets programs be compiled for device pointers"
#endif

namespace {

bool answers(int expected, const char* when) {
  const int answer = MPIX_Query_cuda_support();
  std::printf("%s MPI_Init: %d, expected %d\n", when, answer, expected);
  return answer == expected;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 64;
  const int expected = std::atoi(argv[1]);
  const bool asks_early = argc > 2 && std::string_view(argv[2]) == "early";
  bool right = !asks_early || answers(expected, "before");
  MPI_Init(&argc, &argv);
  right = answers(expected, "after") && right;
#ifdef MPIX_GPU_SUPPORT_CUDA
  int is_supported = -1;
  MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &is_supported);
  right = right && is_supported == expected;
  MPIX_GPU_query_support(MPIX_GPU_SUPPORT_ZE, &is_supported);
  right = right && is_supported == 0;
#endif
  MPI_Finalize();
  return right ? 0 : 1;
}
