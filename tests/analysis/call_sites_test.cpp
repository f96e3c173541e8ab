// Names addresses of this very test program, which was built with debug information or not.
#include "analysis/naming/call_sites.hpp"

#include <gtest/gtest.h>
#include <link.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis {
namespace {

using testing::TemporaryDirectory;

/// The address that a call made here returns to, as a wrapper would record it.
[[gnu::noinline]] const void* return_address() {
  return __builtin_return_address(0);
}

struct Place {
  const void* address;
  int line;
};
[[gnu::noinline]] Place place_that_calls() {
  const int line = __LINE__ + 1;
  const void* const address = return_address();
  return {address, line};
}

/// Makes the call for whoever it is inlined into.
[[gnu::always_inline]] inline const void* inlined_wrapper() {
  return return_address();
}
[[gnu::noinline]] Place place_that_calls_by_wrapper() {
  const int line = __LINE__ + 1;
  const void* const address = inlined_wrapper();
  return {address, line};
}

std::uint64_t load_bias() {
  std::uint64_t bias = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* out) {
        *static_cast<std::uint64_t*>(out) = object->dlpi_addr;  // the program comes first
        return 1;
      },
      &bias);
  return bias;
}

std::filesystem::path this_program() {
  return std::filesystem::read_symlink("/proc/self/exe");
}

/// In `program`, this one or what is left of it.
void expect_named_in(const std::filesystem::path& program) {
  const Place place = place_that_calls();
  CallSites sites;
  const SourcePlace named =
      sites.name(program, reinterpret_cast<std::uintptr_t>(place.address) - load_bias());
  EXPECT_NE(named.function.find("place_that_calls"), std::string::npos) << named.function;
#ifndef NDEBUG
  const bool has_debug_information = true;
#else
  const bool has_debug_information = named.line != 0;
#endif
  if (has_debug_information) {
    EXPECT_EQ(std::filesystem::path(named.file).filename(), "call_sites_test.cpp");
    EXPECT_EQ(named.line, place.line);
  }
}

TEST(CallSites, names_function_file_and_line_of_the_call_itself) {
  expect_named_in(this_program());
}

TEST(CallSites, are_named_without_the_table_of_addresses_that_clang_does_not_write) {
  const TemporaryDirectory directory;
  const std::filesystem::path without = directory.path() / "without_aranges";
  const std::string command =
      "objcopy --remove-section .debug_aranges '" + this_program().string() + "' '" + without.string() + "'";
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  expect_named_in(without);
}

TEST(CallSites, of_an_inlined_function_have_those_it_is_inlined_into_and_where) {
  const Place place = place_that_calls_by_wrapper();
  CallSites sites;
  const std::vector<SourcePlace> named =
      sites.places(this_program(), reinterpret_cast<std::uintptr_t>(place.address) - load_bias());
  if (named[0].line == 0) GTEST_SKIP() << "built without debug information";
  ASSERT_EQ(named.size(), 2u);
  EXPECT_EQ(named[0].function, "inlined_wrapper");
  EXPECT_EQ(named[1].function, "place_that_calls_by_wrapper");
  EXPECT_NE(named[1].qualified.find("penstock::analysis::"), std::string::npos) << named[1].qualified;
  EXPECT_EQ(std::filesystem::path(named[1].file).filename(), "call_sites_test.cpp");
  EXPECT_EQ(named[1].line, place.line);
}

TEST(CallSites, a_stripped_module_leaves_the_place_unnamed) {
  const SourcePlace named = CallSites().name("/bin/true", 0x10);
  EXPECT_EQ(named.line, 0);
  EXPECT_TRUE(named.file.empty());
}

TEST(CallSites, a_module_that_is_gone_or_no_program_leaves_the_place_unnamed) {
  CallSites sites;
  EXPECT_TRUE(sites.name("/nowhere/app", 0x1234).function.empty());
  EXPECT_TRUE(sites.name("/etc/passwd", 0x1234).function.empty());
  EXPECT_TRUE(sites.name("", 0).function.empty());
}

}  // namespace
}  // namespace penstock::analysis
