// The tests say which functions of a call path are taken for wrappers.
#include "analysis/naming/skipped_frames.hpp"

#include <gtest/gtest.h>

namespace penstock::analysis {
namespace {

bool skips(const SkipPatterns& patterns, const SourcePlace& place, std::string_view module = "/opt/app") {
  return SkippedFrames(patterns).skips(place, module);
}

TEST(SkippedFrames, the_list_has_wrappers_of_well_known_libraries) {
  for (const char* module :
       {"/usr/lib/libmpichfort.so.12", "/usr/lib/libmpi_mpifh.so.40", "/opt/lib/libpetsc_real.so.3.18",
        "/opt/lib/libslepc.so.3", "/opt/lib/libamrex_3d.so", "/opt/lib/libkokkoscore.so.4.2",
        "/usr/lib/libHYPRE-2.26.so", "/site-packages/mpi4py/MPI.cpython-311-x86_64-linux-gnu.so",
        "/usr/lib/libpython3.11.so.1.0", "/usr/bin/python3.11", "/usr/lib/libboost_mpi.so.1.74.0"}) {
    EXPECT_TRUE(skips({}, {}, module)) << module;
  }
  for (const char* function :
       {"amrex::ParallelDescriptor::Barrier", "Kokkos::fence", "KokkosComm::Impl::send", "PetscSFBcastEnd",
        "MPIU_Allreduce_Private", "boost::mpi::communicator::send", "Tpetra::Map::getLocalElement",
        "__pyx_pw_6mpi4py_3MPI_4Comm_Allreduce", "hypre_MPI_Allreduce", "std::invoke", "MPI::Comm::Send"}) {
    EXPECT_TRUE(skips({}, {.function = "f", .qualified = function})) << function;
    EXPECT_FALSE(skips({.with_list = false}, {.qualified = function})) << function;
  }
  EXPECT_TRUE(skips({}, {.function = "VecNorm", .file = "/home/me/petsc/src/vec/vec/interface/rvector.c"}));
}

TEST(SkippedFrames, the_list_leaves_the_users_own_code) {
  for (const char* function :
       {"main", "exchange", "solver::Kokkos_like::run", "my_MPI_wrapper", "standard::f"}) {
    EXPECT_FALSE(skips({}, {.function = function, .qualified = function})) << function;
  }
  for (const char* module : {"/home/me/petsc/app", "/home/me/libsolver.so", "/home/me/python/solver"}) {
    EXPECT_FALSE(skips({}, {.function = "run", .file = "/home/me/src/run.cpp"}, module)) << module;
  }
}

TEST(SkippedFrames, a_pattern_stands_for_a_function_a_source_file_or_a_module) {
  const SourcePlace place{"send", "halo::Exchange::send", "/home/me/src/halo/exchange.cpp", 7};
  const std::string_view module = "/home/me/lib/libhalo.so.2";
  for (const char* pattern :
       {"send", "halo::Exchange::send", "halo::*", "*::send", "sen?", "exchange.cpp", "halo/exchange.cpp",
        "halo/*", "/home/me/src/*", "libhalo.so.2", "libhalo.so*", "lib/libhalo*", "*"}) {
    EXPECT_TRUE(skips({.more = {pattern}}, place, module)) << pattern;
  }
  for (const char* pattern :
       {"sen", "end", "halo", "exchange", "change.cpp", "halo.so.2", "send?", "Halo::*", ""}) {
    EXPECT_FALSE(skips({.more = {pattern}}, place, module)) << pattern;
  }
  EXPECT_TRUE(skips({.more = {"nobody", "send"}}, place, module)) << "any of several";
  EXPECT_TRUE(skips({.more = {"send"}}, {"send<int>", "halo::Exchange::send<int>"}, module))
      << "without template arguments, as kernels are named for --what-if";
}

TEST(SkippedFrames, of_python_its_library_and_packages_are_not_the_users) {
  const SkippedFrames skipped({});
  for (const char* file :
       {"/usr/lib/python3.11/threading.py", "/opt/venv/lib/python3.12/site-packages/torch/distributed.py",
        "/usr/lib/python3/dist-packages/mpi4py/util/pkl5.py", "<frozen runpy>",
        "/usr/lib64/python3.9/runpy.py"}) {
    EXPECT_TRUE(skipped.skips_python({.function = "f", .file = file})) << file;
    EXPECT_FALSE(SkippedFrames({.with_list = false}).skips_python({.function = "f", .file = file})) << file;
  }
  for (const char* file :
       {"/home/me/python3-tests/app.py", "app.py", "<string>", "/home/me/std/MPI.x.so.py"}) {
    EXPECT_FALSE(skipped.skips_python({.function = "main", .file = file})) << file;
  }
  EXPECT_TRUE(SkippedFrames({.more = {"app.py"}}).skips_python({.function = "f", .file = "/home/me/app.py"}));
}

}  // namespace
}  // namespace penstock::analysis
