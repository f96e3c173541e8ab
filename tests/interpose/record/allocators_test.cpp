// Libraries that allocate GPU memory in pools, by their paths and as they are loaded.
#include "interpose/record/run/allocators.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/interpose/record/child_process.hpp"

namespace penstock::record {
namespace {

TEST(Allocators, are_known_by_their_libraries) {
  EXPECT_EQ(allocator_of("/venv/lib/python3.11/site-packages/torch/lib/libc10_cuda.so"), "PyTorch");
  EXPECT_EQ(allocator_of("/venv/lib/cupy/cuda/memory.cpython-311-x86_64-linux-gnu.so"), "CuPy");
  EXPECT_EQ(allocator_of("/venv/lib/cupy_backends/cuda/api/runtime.cpython-311-x86_64-linux-gnu.so"), "CuPy");
  EXPECT_EQ(allocator_of("/opt/conda/lib/librmm.so"), "RMM");
  EXPECT_EQ(allocator_of("librmm.so.25"), "RMM");
  EXPECT_EQ(allocator_of("/lib/x86_64-linux-gnu/libc.so.6"), "");
  EXPECT_EQ(allocator_of("/home/libc10_cuda.so/libother.so"), "");
  EXPECT_EQ(allocator_of(""), "");
}

TEST(Allocators, are_named_once_they_are_loaded) {
  EXPECT_EQ(loaded_allocators(), "");
  void* const library = ::dlopen(test::built_library("libc10_cuda.so").c_str(), RTLD_NOW);
  ASSERT_NE(library, nullptr) << ::dlerror();
  EXPECT_EQ(loaded_allocators(), "PyTorch");
  ::dlclose(library);
}

}  // namespace
}  // namespace penstock::record
