// What the simulated GPU's tests share: a current context, memory that frees itself, work that takes until it
// is told otherwise, and child processes with an environment of their own.
#pragma once

#include <cuda.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace simulated_gpu::test {

/// A test with a context on device 0 of its own.
class WithContext : public testing::Test {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");  // workers are about
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxCreate(&context_, nullptr, 0, 0), CUDA_SUCCESS);
  }
  void TearDown() override { EXPECT_EQ(cuCtxDestroy(context_), CUDA_SUCCESS); }

  CUcontext context_ = nullptr;
};

inline CUdeviceptr allocate(std::size_t bytes) {
  CUdeviceptr address = 0;
  EXPECT_EQ(cuMemAlloc(&address, bytes), CUDA_SUCCESS);
  return address;
}

/// Bytes 0, 1, 2, …
inline std::vector<unsigned char> pattern(std::size_t bytes) {
  std::vector<unsigned char> values(bytes);
  for (std::size_t i = 0; i < bytes; ++i) values[i] = static_cast<unsigned char>(i * 7 + i / 256);
  return values;
}

inline std::vector<unsigned char> download(CUdeviceptr address, std::size_t bytes) {
  std::vector<unsigned char> values(bytes);
  EXPECT_EQ(cuMemcpyDtoH(values.data(), address, bytes), CUDA_SUCCESS);
  return values;
}

inline CUdeviceptr upload(const std::vector<unsigned char>& values) {
  const CUdeviceptr address = allocate(values.size());
  EXPECT_EQ(cuMemcpyHtoD(address, values.data(), values.size()), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);  // for other streams and processes
  return address;
}

/// Holds a stream up until `open` is called: a host function that waits.
class Gate {
 public:
  void close(CUstream stream) {
    EXPECT_EQ(cuLaunchHostFunc(
                  stream, [](void* gate) { static_cast<Gate*>(gate)->wait(); }, this),
              CUDA_SUCCESS);
  }
  void open() {
    open_ = true;
    open_.notify_all();
  }

 private:
  void wait() { open_.wait(false); }
  std::atomic<bool> open_{false};
};

/// A child process that runs `body` with these variables set; tells whether it ended with 0. The parent must
/// not have initialised the driver, which a child does not inherit.
class Child {
 public:
  Child(const std::map<std::string, std::string>& environment, const std::function<void()>& body)
      : id_(fork()) {
    if (id_ != 0) return;
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    body();
    std::fflush(nullptr);
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  ~Child() {
    if (id_ > 0) {
      EXPECT_EQ(wait(), 0);
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  [[nodiscard]] pid_t id() const { return id_; }
  /// For a child that is meant to die: by which signal it did.
  int wait_for_signal() {
    const int status = wait();
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }

 private:
  int wait() {
    int status = 0;
    waitpid(id_, &status, 0);
    id_ = -1;
    return status;
  }

  pid_t id_;
};

inline void in_child(const std::map<std::string, std::string>& environment,
                     const std::function<void()>& body) {
  Child child(environment, body);
}

/// One way between processes.
template <typename Value>
class Pipe {
 public:
  Pipe() { EXPECT_EQ(pipe(ends_), 0); }
  void send(const Value& value) { EXPECT_EQ(write(ends_[1], &value, sizeof value), ssize_t{sizeof value}); }
  Value receive() {
    Value value{};
    EXPECT_EQ(read(ends_[0], &value, sizeof value), ssize_t{sizeof value});
    return value;
  }

 private:
  int ends_[2] = {-1, -1};
};

}  // namespace simulated_gpu::test
