#include "tests/interpose/recorder_double/recorder_double.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

#include "interpose/record/recorder.hpp"

namespace penstock {
namespace {

struct Kept {
  std::mutex lock;
  std::vector<trace::MpiCall> calls;
  std::vector<trace::Communicator> communicators;
  std::vector<trace::MessageHalf> messages;
  std::vector<std::string> notices;
  std::vector<std::string> strings;
};

Kept& kept() {
  static Kept& the_kept = *new Kept;
  return the_kept;
}

std::atomic<std::uint64_t> clock_ns{1'000'000};

}  // namespace

namespace test {

void RecorderDouble::start() {
  const std::lock_guard guard(kept().lock);
  kept().calls.clear();
  kept().communicators.clear();
  kept().messages.clear();
  kept().notices.clear();
  record::detail::is_on = true;
}

void RecorderDouble::stop() {
  record::detail::is_on = false;
}

void RecorderDouble::set_clock(std::uint64_t now_ns) {
  clock_ns = now_ns;
}

std::vector<trace::MpiCall> RecorderDouble::calls() {
  const std::lock_guard guard(kept().lock);
  return kept().calls;
}

std::vector<trace::Communicator> RecorderDouble::communicators() {
  const std::lock_guard guard(kept().lock);
  return kept().communicators;
}

std::vector<trace::MessageHalf> RecorderDouble::messages() {
  const std::lock_guard guard(kept().lock);
  return kept().messages;
}

std::vector<std::string> RecorderDouble::notices() {
  const std::lock_guard guard(kept().lock);
  return kept().notices;
}

std::string RecorderDouble::text(std::uint32_t id) {
  const std::lock_guard guard(kept().lock);
  return id == trace::no_string ? "" : kept().strings.at(id - 1);
}

}  // namespace test

namespace record {

std::uint64_t now_ns() noexcept {
  return clock_ns;
}

trace::OpenCall& open_call() noexcept {
  static thread_local trace::OpenCall call{};
  return call;
}

std::uint64_t call_site_of(const void* return_address) noexcept {
  return reinterpret_cast<std::uintptr_t>(return_address);
}

std::uint32_t intern(std::string_view text) noexcept {
  const std::lock_guard guard(kept().lock);
  auto& strings = kept().strings;
  auto found = std::find(strings.begin(), strings.end(), text);
  if (found == strings.end()) found = strings.emplace(strings.end(), text);
  return static_cast<std::uint32_t>(found - strings.begin()) + 1;
}

void write_to_stay(const trace::Communicator& communicator) noexcept {
  write_bytes(&communicator);
}

void write_bytes(const void* record) noexcept {
  const std::lock_guard guard(kept().lock);
  trace::MpiCall call;
  std::memcpy(&call, record, sizeof(call));
  if (call.kind == trace::RecordKind::mpi_call) kept().calls.push_back(call);
  if (call.kind == trace::RecordKind::communicator) {
    std::memcpy(&kept().communicators.emplace_back(), record, trace::record_bytes);
  }
  if (call.kind == trace::RecordKind::message_half) {
    std::memcpy(&kept().messages.emplace_back(), record, trace::record_bytes);
  }
}

void notice(std::string_view text) noexcept {
  const std::lock_guard guard(kept().lock);
  kept().notices.emplace_back(text);
}

}  // namespace record
}  // namespace penstock
