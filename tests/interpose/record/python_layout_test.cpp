// The table of CPython's structures against the headers of the CPython that is installed.
#include "interpose/record/python/python_layout.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "python_headers.h"

namespace penstock {
namespace {

TEST(PythonLayoutOfHeaders, is_that_of_the_table) {
  const record::PythonLayout* const layout = record::python_layout(python_of_headers);
  if (layout == nullptr) GTEST_SKIP() << "Python 3." << python_of_headers << " is not in the table";
  std::map<std::string, std::size_t> known{
      {"thread_id", layout->thread_id},
      {"frame", layout->frame},
      {"frame_of_cframe", layout->frame_of_cframe},
      {"previous", layout->previous},
      {"code", layout->code},
      {"position", layout->position},
      {"owner", layout->owner},
      {"first_line", layout->first_line},
      {"file", layout->file},
      {"function", layout->function},
      {"lines", layout->lines},
      {"instructions", layout->instructions},
      {"ascii", layout->ascii},
      {"compact", layout->compact},
      {"type", record::python_object::type},
      {"size", record::python_object::size},
      {"state", record::python_object::state},
      {"content", record::python_object::content},
  };
  bool has_cframe = false;
  for (const PythonOffset* each = python_offsets; each->name != nullptr; ++each) {
    has_cframe = has_cframe || std::string(each->name) == "frame_of_cframe";
    EXPECT_EQ(known.at(each->name), each->offset) << each->name;
  }
  EXPECT_EQ(layout->is_through_cframe, has_cframe);
}

}  // namespace
}  // namespace penstock
