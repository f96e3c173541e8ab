// Names addresses of this very test program, which was built with debug information or not.
#include "analysis/naming/call_sites.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "analysis/naming/file_build.hpp"
#include "interpose/record/module_build.hpp"
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
void expect_named_in(const std::filesystem::path& program, const trace::ModuleBuild& build = {}) {
  const Place place = place_that_calls();
  CallSites sites;
  const SourcePlace named =
      sites.name(program, build, reinterpret_cast<std::uintptr_t>(place.address) - load_bias());
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
      sites.places(this_program(), {}, reinterpret_cast<std::uintptr_t>(place.address) - load_bias());
  if (named[0].line == 0) GTEST_SKIP() << "built without debug information";
  ASSERT_EQ(named.size(), 2u);
  EXPECT_EQ(named[0].function, "inlined_wrapper");
  EXPECT_EQ(named[1].function, "place_that_calls_by_wrapper");
  EXPECT_NE(named[1].qualified.find("penstock::analysis::"), std::string::npos) << named[1].qualified;
  EXPECT_EQ(std::filesystem::path(named[1].file).filename(), "call_sites_test.cpp");
  EXPECT_EQ(named[1].line, place.line);
}

TEST(CallSites, a_stripped_module_leaves_the_place_unnamed) {
  const SourcePlace named = CallSites().name("/bin/true", {}, 0x10);
  EXPECT_EQ(named.line, 0);
  EXPECT_TRUE(named.file.empty());
}

TEST(CallSites, a_module_that_is_gone_or_no_program_leaves_the_place_unnamed) {
  CallSites sites;
  EXPECT_TRUE(sites.name("/nowhere/app", {}, 0x1234).function.empty());
  EXPECT_TRUE(sites.name("/etc/passwd", {}, 0x1234).function.empty());
  EXPECT_TRUE(sites.name("", {}, 0).function.empty());
}

/// Of a file, as the recorder would find it where the file is loaded.
trace::ModuleBuild build_of(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_GE(descriptor, 0) << file;
  const trace::ModuleBuild build = build_of_file(descriptor);
  ::close(descriptor);
  return build;
}

/// This program after a command of the shell has made `$1` of `$0`.
std::filesystem::path changed_program(const TemporaryDirectory& directory, const std::string& command) {
  const std::filesystem::path changed = directory.path() / "changed";
  const std::string whole =
      "sh -c '" + command + "' '" + this_program().string() + "' '" + changed.string() + "'";
  EXPECT_EQ(std::system(whole.c_str()), 0) << whole;
  return changed;
}

std::uint64_t address_that_is_named() {
  return reinterpret_cast<std::uintptr_t>(place_that_calls().address) - load_bias();
}

TEST(CallSites, of_the_build_that_ran_are_named_wherever_it_has_been_copied) {
  const TemporaryDirectory directory;
  const trace::ModuleBuild build = build_of(this_program());
  EXPECT_EQ(build.by, trace::BuildBy::build_id);
  expect_named_in(this_program(), build);
  expect_named_in(changed_program(directory, "cp \"$0\" \"$1\""), build);
}

TEST(CallSites, of_the_build_that_ran_keep_their_functions_where_it_was_stripped_of_debug_information) {
  const TemporaryDirectory directory;
  const std::filesystem::path stripped = changed_program(directory, "strip --strip-debug -o \"$1\" \"$0\"");
  CallSites sites;
  const SourcePlace named = sites.name(stripped, build_of(this_program()), address_that_is_named());
  EXPECT_NE(named.function.find("place_that_calls"), std::string::npos) << named.function;
  EXPECT_EQ(sites.modules(), (NamedModules{{stripped.string(), NamedBy::same_build}}));
}

TEST(CallSites, of_another_build_than_the_file_are_not_named_and_it_is_said) {
  trace::ModuleBuild other = build_of(this_program());
  ++other.id[7];
  CallSites sites;
  for (int time = 0; time < 2; ++time) {
    const std::vector<SourcePlace> named = sites.places(this_program(), other, address_that_is_named());
    ASSERT_EQ(named.size(), 1u);
    EXPECT_TRUE(named[0].function.empty()) << named[0].function;
    EXPECT_TRUE(named[0].file.empty()) << named[0].file;
  }
  const std::vector<Flaw> flaws = flaws_of_other_builds(sites.modules());
  ASSERT_EQ(flaws.size(), 1u);
  EXPECT_EQ(flaws[0].file, this_program());
}

TEST(CallSites, of_a_build_that_is_not_known_are_named_by_the_file_that_is_there) {
  CallSites sites;
  EXPECT_FALSE(sites.name(this_program(), {}, address_that_is_named()).function.empty());
  EXPECT_EQ(sites.modules(), (NamedModules{{this_program().string(), NamedBy::unknown_build}}));
}

TEST(CallSites, of_a_program_without_a_build_id_are_named_where_the_layout_is_the_same) {
  const TemporaryDirectory directory;
  const std::filesystem::path without =
      changed_program(directory, "objcopy --remove-section .note.gnu.build-id \"$0\" \"$1\"");
  const trace::ModuleBuild layout = build_of(without);
  ASSERT_EQ(layout.by, trace::BuildBy::layout);
  expect_named_in(without, layout);
  CallSites sites;
  EXPECT_TRUE(sites.name(this_program(), layout, address_that_is_named()).function.empty())
      << "it has got a build-id since";
  trace::ModuleBuild other = layout;
  ++other.id[0];
  EXPECT_TRUE(sites.name(without, other, address_that_is_named()).function.empty());
  EXPECT_FALSE(sites.name(without, layout, address_that_is_named()).function.empty())
      << "on another host the same path had this build";
  EXPECT_EQ(flaws_of_other_builds(sites.modules()).size(), 2u);
}

TEST(CallSites, of_a_known_build_are_not_named_by_what_is_no_program_or_cut_off) {
  const TemporaryDirectory directory;
  const trace::ModuleBuild build = build_of(this_program());
  const std::filesystem::path program = directory.path() / "program";
  std::ofstream(program) << "#!/bin/sh\n";
  std::filesystem::path cut = changed_program(directory, "head -c 100 \"$0\" >\"$1\"");
  CallSites sites;
  EXPECT_TRUE(sites.name(program, build, 0x1234).function.empty());
  EXPECT_TRUE(sites.name(cut, build, 0x1234).function.empty());
  EXPECT_TRUE(sites.name(directory.path(), build, 0x1234).function.empty());
  EXPECT_TRUE(sites.name("/nowhere/app", build, 0x1234).function.empty());
  EXPECT_EQ(flaws_of_other_builds(sites.modules()).size(), 2u) << "nothing is said of what is not there";
}

TEST(CallSites, of_a_file_have_the_build_that_is_recorded_when_it_is_loaded) {
  trace::ModuleBuild loaded{};
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* out) {
        const std::span headers(object->dlpi_phdr, object->dlpi_phnum);
        const auto read = [object](const Elf64_Phdr& header, std::span<std::byte> to) {
          std::memcpy(to.data(), reinterpret_cast<const void*>(object->dlpi_addr + header.p_vaddr),
                      to.size());
          return true;
        };
        *static_cast<trace::ModuleBuild*>(out) = trace::build_of(headers, read);
        return 1;
      },
      &loaded);
  EXPECT_EQ(build_of(this_program()), loaded);
}

}  // namespace
}  // namespace penstock::analysis
