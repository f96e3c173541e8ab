#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "interpose/binding/mpi_binding.hpp"
#include "tests/interpose/preload/symbol_names.hpp"

namespace {

using namespace penstock::test_support;

/// Functions that the installed MPI library may be too old to have.
Names newer_functions() {
  Names names;
#define PENSTOCK_ROW(...)
#define PENSTOCK_NEWER_ROW(owner, waits, name, ...) names.insert("MPI_" #name);
#include "interpose/binding/mpi_functions.def"
  return names;
}

Names exported() {
  return symbols(PRELOAD_LIBRARY, "--defined-only", "TW");
}

TEST(ExportedSymbols, every_function_of_the_table_is_exported) {
  EXPECT_EQ(without(table(false), exported()), Names{});
}

TEST(ExportedSymbols, no_MPI_function_is_exported_that_the_table_does_not_have_as_wrapped) {
  EXPECT_EQ(without(with_prefix(exported(), "MPI_"), table(false)), Names{});
}

TEST(ExportedSymbols, every_function_of_the_MPI_library_is_in_the_table_but_tools_callbacks_and_Fortran) {
  Names functions = with_prefix(symbols(MPI_LIBRARY, "--defined-only", "TW"), "MPI_");
  ASSERT_GT(functions.size(), 300u);
  const std::regex no_row("MPI_T_.*|MPI_.*_FN|MPI_CONVERSION_FN_NULL|MPI_.*_F90");
  std::erase_if(functions, [&](const std::string& name) { return std::regex_match(name, no_row); });
  EXPECT_EQ(without(functions, table(true)), Names{});
}

TEST(ExportedSymbols, every_function_of_the_table_is_in_the_MPI_library_unless_it_is_newer) {
  const Names older = without(table(true), newer_functions());
  EXPECT_EQ(without(older, symbols(MPI_LIBRARY, "--defined-only", "TW")), Names{});
}

TEST(ExportedSymbols, nothing_is_exported_but_MPI_and_the_entry_points_for_CUDA_NVTX_and_kernels) {
  Names rest = symbols(PRELOAD_LIBRARY, "--defined-only", "ABCDGRTVWiu");
  std::erase_if(rest, [](const std::string& name) { return name.starts_with("MPI_"); });
  for (const char* const known :
       {"MPIX_Query_cuda_support", "MPIX_GPU_query_support", "penstock_ready_words", "InitializeInjection",
        "InitializeInjectionNvtx2", "InitializeInjectionNvtxExtension"}) {
    rest.erase(known);
  }
  EXPECT_EQ(rest, Names{});
}

TEST(ExportedSymbols, programs_find_the_question_for_CUDA_awareness) {
  EXPECT_TRUE(exported().contains("MPIX_Query_cuda_support"));
}

TEST(ExportedSymbols, no_symbol_of_an_MPI_or_CUDA_library_is_undefined_so_that_it_loads_anywhere) {
  Names undefined = symbols(PRELOAD_LIBRARY, "--undefined-only", "Uwv");
  ASSERT_FALSE(undefined.empty());
  const std::regex foreign("_?P?MPI.*|ompi_.*|OMPI_.*|opal_.*|MPIR.*|cu[A-Z].*|cuda.*|cupti.*|nccl.*|nvtx.*",
                           std::regex::icase);
  std::erase_if(undefined, [&](const std::string& name) { return !std::regex_match(name, foreign); });
  EXPECT_EQ(undefined, Names{});
}

}  // namespace
