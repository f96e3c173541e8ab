// The functions that the installed Fortran bindings call: whatever is not redirected to a wrapper has to be
// known as harmless. A library that fails here has a way into MPI that Penstock does not see.
#include <gtest/gtest.h>

#include <regex>
#include <sstream>
#include <string>

#include "interpose/binding/mpi_binding.hpp"
#include "tests/interpose/preload/symbol_names.hpp"

namespace {

using namespace penstock::test_support;

/// Of all libraries of the bindings; empty where there are none.
Names of_bindings(const std::string& options, const std::string& kinds) {
  Names names;
  std::istringstream libraries(FORTRAN_LIBRARIES);
  for (std::string library; libraries >> library;) names.merge(symbols(library, options, kinds));
  return names;
}

Names matching(const Names& names, const std::string& pattern) {
  Names chosen;
  const std::regex expression(pattern);
  for (const std::string& name : names) {
    if (std::regex_match(name, expression)) chosen.insert(name);
  }
  return chosen;
}

/// What they take from other libraries than their own, by the names that start like MPI's.
Names imports_of_mpi() {
  return matching(without(of_bindings("--undefined-only", "Uwv"), of_bindings("--defined-only", "ABCDRTVW")),
                  "(_?P?MPI|MPI[IR]|P?MPIX|ompi|OMPI|opal|mpi_|pmpi_).*");
}

TEST(FortranImports, each_function_of_MPI_that_the_bindings_call_is_wrapped_or_converts_handles) {
  Names functions = matching(imports_of_mpi(), "P?MPI_[A-Z][a-z].*");
  if (functions.empty()) GTEST_SKIP() << "no Fortran bindings";
  ASSERT_GT(functions.size(), 300u);
  const Names exported = symbols(PRELOAD_LIBRARY, "--defined-only", "TW");
  Names unseen;
  const std::regex conversion("MPI_([A-Z][a-z]+_(f2c|c2f)|Status_(c2f|f2c|f082f|f2f08|c2f08|f082c))");
  for (const std::string& function : functions) {
    const std::string name = function.substr(function.find("MPI_"));
    if (!exported.contains(name) && !std::regex_match(name, conversion)) unseen.insert(name);
  }
  EXPECT_EQ(unseen, Names{});
}

TEST(FortranImports, nothing_else_that_they_take_from_the_MPI_library_communicates) {
  Names others = without(imports_of_mpi(), matching(imports_of_mpi(), "P?MPI_[A-Z][a-z].*"));
  if (others.empty()) GTEST_SKIP() << "no Fortran bindings";
  // constants and predefined objects; attributes, whose values have a language; the language of a callback;
  // what is the MPI library's own from C, too, such as the persistent collectives of Open MPI 4
  const std::regex harmless(
      "MPI_(F|F08)_STATUS(ES)?_IGNORE|MPI_UNWEIGHTED|MPI_WEIGHTS_EMPTY|MPI_[A-Z0-9_]+_FN|MPI_F_ARGVS?_NULL|"
      "MPII_(Comm|Type|Win)_[gs]et_attr|MPII_Grequest_set_lang_f77|MPII_Keyval_set_proxy|"
      "P?MPIX_(Comm_(agree|failure_ack|failure_get_acked|revoke|shrink)|(Query_(cuda|hip|ze)|GPU_query)_"
      "support|"
      "Delete_error_(class|code|string)|[A-Za-z_]+_init)|"
      "mpi_fortran_[a-z_]+|mpi_conversion_fn_null_|"
      "ompi_attr_(create_keyval|get|set)_[af]int|ompi_datatype_match_size|ompi_errcode_intern_lastused|"
      "ompi_errcodes_intern|ompi_errhandler_(create|invoke)|ompi_fortran_[a-z0-9_]+|ompi_registered_datareps|"
      "ompi_mpi_(comm_world|datatype_null|errhandler_null|errors_are_fatal_comm_handler|file_null|param_"
      "check|state)|"
      "ompi_request_null|ompi_status_empty|"
      "opal_argv_free|opal_class_init_epoch|opal_class_initialize|opal_list_item_t_class|opal_uses_threads");
  std::erase_if(others, [&](const std::string& name) { return std::regex_match(name, harmless); });
  EXPECT_EQ(others, Names{});
}

}  // namespace
