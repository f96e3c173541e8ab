#include "tests/support/watchdog.hpp"

#include <execinfo.h>
#include <signal.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <initializer_list>

namespace penstock::test_support {

namespace {

// Written by the main thread, read by the handler, which runs when the main thread no longer moves.
char note[512] = "the start";
char rank_label[32] = "rank ?";
unsigned limit_seconds = 0;

void say(const char* text) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, std::strlen(text));
}

// Only what is safe in a signal handler; backtrace() was called once before, so that it loads nothing here.
void tell_place(const char* what) {
  say(rank_label);
  say(what);
  say("; it last came to: ");
  say(note);
  say("\n");
  void* frames[48];
  backtrace_symbols_fd(frames, backtrace(frames, 48), STDERR_FILENO);
}

void bark(int) {
  tell_place(" is stuck");
  ::sleep(1);  // the launcher ends all ranks when one exits: let the others speak
  ::_exit(stuck_exit_code);
}

// Installed to run once: the fault happens again on return and ends the process as it would have.
void tell_crash(int) {
  tell_place(" crashed");
}

}  // namespace

void watch(int rank, unsigned seconds) {
  std::snprintf(rank_label, sizeof rank_label, "rank %d", rank);
  limit_seconds = seconds;
  void* frame = nullptr;
  backtrace(&frame, 1);
  struct sigaction action {};
  action.sa_handler = bark;
  ::sigaction(SIGALRM, &action, nullptr);
  action.sa_handler = tell_crash;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::sigaction(fault, &action, nullptr);
  ::alarm(seconds);
}

void progress(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(note, sizeof note, format, arguments);
  va_end(arguments);
  ::alarm(limit_seconds);
}

}  // namespace penstock::test_support
