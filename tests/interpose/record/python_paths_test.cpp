// Which interpreters of Python are found in a process, and what is said of those that cannot be read.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "child_process.hpp"
#include "interpose/record/recorder.hpp"
#include "recording_reader.hpp"

namespace penstock {
namespace {

using test::count_of;
using test::in_child;
using test::ReadRecording;
using test::TemporaryFolder;

constexpr const char* not_known = "call paths have no functions of Python: Python 3.99 is not known";

bool has_frames(const TemporaryFolder& folder) {
  return (ReadRecording(folder.recording()).header().features & trace::feature::python_frames) != 0;
}

void record(const record::Identity& identity) {
  ASSERT_TRUE(record::begin(identity));
  EXPECT_NE(record::call_site_of(__builtin_return_address(0)), 0u);
  record::end();
}

TEST(PythonPaths, of_a_program_without_python_are_not_looked_for_and_nothing_is_said) {
  const TemporaryFolder folder;
  const auto result = in_child([&] { record(folder.identity()); });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(count_of("Python", result.errors), 0u) << result.errors;
  EXPECT_FALSE(has_frames(folder));
}

TEST(PythonPaths, of_an_interpreter_that_is_not_known_are_missing_and_one_rank_says_so) {
  for (const bool is_first : {true, false}) {
    for (const int visibility : {RTLD_GLOBAL, RTLD_LOCAL}) {
      const TemporaryFolder folder;
      const auto result = in_child([&] {
        ASSERT_NE(dlopen(test::built_library("libpython3.99.so").c_str(), RTLD_NOW | visibility), nullptr)
            << dlerror();
        record::Identity identity = folder.identity();
        identity.is_first_to_record = is_first;
        record(identity);
      });
      EXPECT_EQ(result.exit_code, 0) << result.errors;
      EXPECT_EQ(count_of(not_known, result.errors), is_first ? 1u : 0u) << result.errors;
      EXPECT_FALSE(has_frames(folder));
    }
  }
}

}  // namespace
}  // namespace penstock
