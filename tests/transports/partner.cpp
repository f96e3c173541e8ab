#include "tests/transports/partner.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "tests/transports/partner_request.hpp"

namespace penstock::transports::test {

Layout Shape::layout() const {
  if (row_bytes == 0) return Layout::contiguous(bytes);
  Layout result;
  const std::size_t rows = bytes / row_bytes;
  if (rows > 0) result.append({0, row_bytes, rows, stride});
  if (bytes % row_bytes > 0) {
    result.append({static_cast<std::ptrdiff_t>(rows) * stride, bytes % row_bytes, 1, 0});
  }
  return result;
}

std::size_t Shape::extent() const noexcept {
  constexpr std::size_t guards = 64;
  if (row_bytes == 0) return bytes + guards;
  return (bytes / row_bytes + 1) * static_cast<std::size_t>(stride) + guards;
}

Partner::Partner(const std::vector<std::string>& environment) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) std::abort();
  process_ = fork();
  if (process_ == 0) {
    const std::string socket = std::to_string(dup(sockets[1]));
    for (const std::string& variable : environment) putenv(const_cast<char*>(variable.c_str()));
    execl("/proc/self/exe", "partner", partner_argument, socket.c_str(), nullptr);
    _exit(127);
  }
  close(sockets[1]);
  socket_ = sockets[0];
}

Partner::~Partner() {
  close(socket_);  // it ends by itself, and its checkers have their say
  if (process_ < 0) return;
  int status = 0;
  waitpid(process_, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "partner ended with status " << status;
}

void Partner::kill() {
  ::kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
  process_ = -1;
}

void Partner::send(const Request& request) {
  if (::send(socket_, &request, sizeof(request), MSG_NOSIGNAL) != sizeof(request)) {
    throw std::runtime_error("partner is gone");
  }
}

Answer Partner::receive_answer() {
  Answer answer;
  if (recv(socket_, &answer, sizeof(answer), 0) != sizeof(answer)) throw std::runtime_error("partner died");
  return answer;
}

Answer Partner::ask(const Request& request) {
  send(request);
  return receive_answer();
}

void Partner::allocate(unsigned slot, BufferKind kind, std::size_t bytes, int device) {
  ask({.what = What::allocate, .slot = slot, .kind = kind, .device = device, .shape = {bytes}});
}
void Partner::release(unsigned slot) {
  ask({.what = What::release, .slot = slot});
}
void Partner::fill(unsigned slot, const Shape& shape, std::uint64_t seed) {
  ask({.what = What::fill, .slot = slot, .shape = shape, .seed = seed});
}
std::ptrdiff_t Partner::check(unsigned slot, const Shape& shape, std::size_t payload_bytes,
                              std::uint64_t seed) {
  return ask({.what = What::check,
              .slot = slot,
              .shape = shape,
              .payload_bytes = payload_bytes,
              .seed = seed})
      .value;
}
Answer Partner::describe(unsigned slot, const Shape& shape) {
  return ask({.what = What::describe, .slot = slot, .shape = shape});
}
Answer Partner::stage(unsigned slot, const Shape& shape, Staging staging) {
  return ask({.what = What::stage, .slot = slot, .staging = staging, .shape = shape});
}
void Partner::serve() {
  send({.what = What::serve});
}
Answer Partner::served() {
  return receive_answer();
}
Answer Partner::produce() {
  return ask({.what = What::produce});
}
void Partner::drop_send(bool abandon) {
  ask({.what = What::drop_send, .flag = abandon});
}
Answer Partner::begin_push(unsigned slot, const Shape& shape, const Offer& target) {
  return ask({.what = What::begin_push, .slot = slot, .shape = shape, .offer = target});
}
Answer Partner::finish_push() {
  return ask({.what = What::finish_push});
}
void Partner::drop_push() {
  ask({.what = What::drop_push});
}
Answer Partner::push(unsigned slot, const Shape& shape, const Offer& target) {
  const Answer begun = begin_push(slot, shape, target);
  return begun.ok() ? finish_push() : begun;
}
Answer Partner::advance() {
  return ask({.what = What::advance});
}
Answer Partner::begin(unsigned slot, const Shape& shape, const Offer& offer) {
  return ask({.what = What::begin, .slot = slot, .shape = shape, .offer = offer});
}
Answer Partner::finish() {
  return ask({.what = What::finish});
}
void Partner::drop_pull() {
  ask({.what = What::drop_pull});
}
Answer Partner::receive(unsigned slot, const Shape& shape, const Offer& offer) {
  const Answer begun = begin(slot, shape, offer);
  if (!begun.ok()) return begun;
  Answer finished = finish();
  finished.transport = begun.transport;
  std::snprintf(finished.reason, sizeof(finished.reason), "%s", begun.reason);
  return finished;
}
void Partner::force_transport(TransportKind transport) {
  ask({.what = What::force_transport, .transport = transport});
}
void Partner::set_tuning(const Tuning& table) {
  ask({.what = What::set_tuning, .tuning = table});
}
void Partner::shut_down() {
  ask({.what = What::shut_down});
}
std::int64_t Partner::open_descriptors() {
  return ask({.what = What::open_descriptors}).value;
}
std::int64_t Partner::resident_bytes() {
  return ask({.what = What::resident_bytes}).value;
}
std::int64_t Partner::devices() {
  return ask({.what = What::devices}).value;
}
bool Partner::is_simulated() {
  return ask({.what = What::simulated}).value != 0;
}

int device_count_of_machine() {
  static const int count = static_cast<int>(Partner().devices());
  return count;
}

bool machine_is_simulated() {
  static const bool simulated = Partner().is_simulated();
  return simulated;
}

std::int64_t Partner::cached_ranges() {
  return ask({.what = What::cached_ranges}).value;
}

}  // namespace penstock::transports::test
