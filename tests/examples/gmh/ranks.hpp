// Helpers that start GMH's threads from a test.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "examples/gmh/gmh.h"

namespace gmh_tests {

using Body = std::function<void(gmh_tasklist_t)>;

struct Outcome {
  int code;
  std::string line;
};

/// Runs `body` on a thread for each of `gpus` GPUs of this process.
inline Outcome run(int gpus, const Body& body) {
  Body called = body;
  const int code = gmh_init(
      nullptr, nullptr, gpus,
      [](gmh_tasklist_t list, void* argument) -> void* {
        (*static_cast<Body*>(argument))(list);
        return nullptr;
      },
      &called);
  return {code, gmh_error_string(code)};
}

/// Expects the same run to succeed.
inline void run_well(int gpus, const Body& body) {
  const Outcome outcome = run(gpus, body);
  EXPECT_EQ(outcome.code, GMH_OK) << outcome.line;
}

inline void expect_ok(int code) {
  EXPECT_EQ(code, GMH_OK) << gmh_error_string(code);
}

/// Expects that code, and a message with these words.
inline void expect_refusal(int code, gmh_error expected, const std::string& words) {
  EXPECT_EQ(code, expected) << gmh_error_string(code);
  EXPECT_NE(std::string(gmh_error_string(code)).find(words), std::string::npos) << gmh_error_string(code);
}
inline void expect_refusal(const Outcome& outcome, gmh_error expected, const std::string& words) {
  EXPECT_EQ(outcome.code, expected) << outcome.line;
  EXPECT_NE(outcome.line.find(words), std::string::npos) << outcome.line;
}

inline int rank_of(gmh_tasklist_t list) {
  int rank = -1;
  expect_ok(gmh_rank(list, &rank));
  return rank;
}
inline int size_of(gmh_tasklist_t list) {
  int size = -1;
  expect_ok(gmh_size(list, &size));
  return size;
}

inline gmh_stream_t new_stream(gmh_tasklist_t list) {
  gmh_stream_t stream = nullptr;
  expect_ok(gmh_create_command_stream(list, &stream, GMH_NORMAL));
  return stream;
}
inline gmh_mem_t new_memory(gmh_tasklist_t list, std::size_t bytes, int permission = GMH_READ | GMH_WRITE) {
  gmh_mem_t memory = nullptr;
  expect_ok(gmh_mem_create(list, bytes, permission, GMH_WITH_SHADOW, &memory));
  return memory;
}

}  // namespace gmh_tests
