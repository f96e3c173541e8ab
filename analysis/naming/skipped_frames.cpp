#include "analysis/naming/skipped_frames.hpp"

#include <algorithm>
#include <cstddef>

#include "analysis/recording/symbol_names.hpp"
#include "analysis/tables/pattern.hpp"

namespace penstock::analysis {
namespace {

bool matches_path(std::string_view pattern, std::string_view path) {
  for (;;) {
    if (matches(pattern, path)) return true;
    const std::size_t slash = path.find('/');
    if (slash == std::string_view::npos) return false;
    path.remove_prefix(slash + 1);
  }
}

}  // namespace

const std::vector<std::string_view>& wrapper_patterns() {
  static const std::vector<std::string_view> patterns{
      "MPI_*",          "PMPI_*",
      "MPI::*",         "libmpi*.so*",
      "libfmpich*.so*", "libpmpi*.so*",       // MPI's own bindings
      "boost::mpi::*",  "libboost_mpi*.so*",  // Boost.MPI
      "Petsc*",         "MPIU_*",
      "VecScatter*",    "petsc/src/*",
      "petsc-3*/src/*", "libpetsc*.so*",
      "libslepc*.so*",                    // PETSc, SLEPc
      "amrex::*",       "libamrex*.so*",  // AMReX
      "Kokkos::*",      "KokkosComm::*",
      "libkokkos*.so*",  // Kokkos
      "hypre_*",        "HYPRE_*",
      "libHYPRE*.so*",  // hypre
      "Tpetra::*",      "Teuchos::*",
      "libtpetra*.so*", "libteuchos*.so*",  // Trilinos
      "__pyx_*",        "MPI.*.so",
      "libmpi4py*.so*", "libpython3*.so*",
      "python3*",       "_ctypes.*.so",
      "libffi.so*",     "_cffi_backend.*.so",  // mpi4py and its interpreter
      "std::*",                                // functions that call functions
  };
  return patterns;
}

const std::vector<std::string_view>& python_wrapper_patterns() {
  static const std::vector<std::string_view> patterns{"<frozen *", "lib/python3*/*", "lib64/python3*/*",
                                                      "site-packages/*", "dist-packages/*"};
  return patterns;
}

bool SkippedFrames::skips(const SourcePlace& place, std::string_view module) const {
  return skips(place, module, wrapper_patterns());
}

bool SkippedFrames::skips_python(const SourcePlace& place) const {
  return skips(place, "", python_wrapper_patterns());
}

bool SkippedFrames::skips(const SourcePlace& place, std::string_view module,
                          const std::vector<std::string_view>& list) const {
  const auto is_of = [&](std::string_view pattern) {
    return matches_name(pattern, place.function) || matches_name(pattern, place.qualified) ||
           matches_path(pattern, place.file) || matches_path(pattern, module);
  };
  return std::any_of(patterns_.more.begin(), patterns_.more.end(), is_of) ||
         (patterns_.with_list && std::any_of(list.begin(), list.end(), is_of));
}

}  // namespace penstock::analysis
