#include "tests/matrix/case.hpp"

#include <fmt/format.h>

#include "tests/support/random.hpp"

namespace penstock::matrix {

namespace {

constexpr std::array style_names = {"blocking",
                                    "nonblocking",
                                    "sendrecv",
                                    "sendrecv_replace",
                                    "persistent",
                                    "synchronous",
                                    "synchronous_nonblocking",
                                    "synchronous_persistent",
                                    "buffered",
                                    "buffered_nonblocking",
                                    "buffered_persistent",
                                    "ready",
                                    "ready_nonblocking",
                                    "ready_persistent"};
constexpr std::array match_names = {"exact",       "any_source",   "any_tag",      "any_source_any_tag",
                                    "after_probe", "after_iprobe", "after_mprobe", "after_improbe"};
constexpr std::array placement_names = {"two_devices", "same_device", "self"};
constexpr std::array form_names = {"contiguous", "vector"};
constexpr std::array arrival_names = {"receiver_first", "sender_first", "together"};
constexpr std::array room_names = {"exact", "more_elements", "larger_element"};
constexpr std::array completion_names = {"wait",    "test",    "waitall",  "testall",
                                         "waitany", "testany", "waitsome", "testsome"};

template <typename Enum, std::size_t count>
const char* name_in(const std::array<const char*, count>& names, Enum value) {
  return names.at(static_cast<std::size_t>(value));
}

/// Takes the next digit of a number in a mixed radix system.
template <typename Enum, std::size_t count>
Enum take(std::size_t& number, const std::array<const char*, count>&) {
  const auto digit = static_cast<Enum>(number % count);
  number /= count;
  return digit;
}

bool is_ready(Style style) {
  return style == Style::ready || style == Style::ready_nonblocking || style == Style::ready_persistent;
}

/// Which sends return or may be completed before a receive is posted, so that one thread may send to itself
/// first and receive afterwards.
bool may_precede_receive(Style style) {
  return style != Style::blocking && style != Style::synchronous && !is_ready(style);
}

}  // namespace

std::size_t case_count() {
  return test_support::memory_kinds.size() * test_support::memory_kinds.size() * message_sizes.size() *
         style_names.size() * match_names.size() * placement_names.size() * form_names.size() *
         form_names.size();
}

Case make_case(std::size_t number) {
  Case test;
  test.number = number;
  std::size_t rest = number;
  test.sender_form = take<Form>(rest, form_names);
  test.receiver_form = take<Form>(rest, form_names);
  test.sender_kind = static_cast<MemoryKind>(rest % test_support::memory_kinds.size());
  rest /= test_support::memory_kinds.size();
  test.receiver_kind = static_cast<MemoryKind>(rest % test_support::memory_kinds.size());
  rest /= test_support::memory_kinds.size();
  test.match = take<Match>(rest, match_names);
  test.style = take<Style>(rest, style_names);
  test.placement = take<Placement>(rest, placement_names);
  test.bytes = message_sizes.at(rest);

  test_support::Random random(number);
  test.seed = random.next();
  test.arrival = static_cast<Arrival>(random.below(arrival_names.size()));
  test.room = static_cast<Room>(random.below(room_names.size()));
  test.completion = static_cast<Completion>(random.below(completion_names.size()));
  test.tag = random.between(0, 32767);
  test.probes_by_wildcard = random.chance(50);
  test.fresh_memory = random.chance(3);
  // send and receive in place share a buffer and its type
  if (test.style != Style::sendrecv_replace) {
    test.sender_is_absolute = random.chance(12);
    test.receiver_is_absolute = random.chance(12);
  }
  if (is_ready(test.style)) test.arrival = Arrival::receiver_first;
  if (test.exchanges()) test.arrival = Arrival::together;
  if (test.style == Style::sendrecv_replace || test.bytes > (1 << 20)) test.room = Room::exact;
  if (test.placement == Placement::self) {
    // one thread does both in turn: whichever may come first does
    const bool send_first = test.probes() || (may_precede_receive(test.style) && random.chance(50));
    test.arrival = send_first ? Arrival::sender_first : Arrival::receiver_first;
  }
  return test;
}

bool is_legal(const Case& test) {
  if (test.probes() && (test.exchanges() || is_ready(test.style))) return false;
  if (test.placement == Placement::self && test.probes() && !may_precede_receive(test.style)) return false;
  if (test.style == Style::sendrecv_replace &&
      (test.sender_kind != test.receiver_kind || test.sender_form != test.receiver_form)) {
    return false;
  }
  // which device only matters where both sides are on one
  return test.placement != Placement::same_device ||
         (lives_on_device(test.sender_kind) && lives_on_device(test.receiver_kind));
}

bool is_in_short_run(const Case& test) {
  const bool plain_form = test.sender_form == Form::contiguous && test.receiver_form == Form::contiguous;
  const bool large = test.bytes > (1 << 20);
  // plane 1: every kind to every kind at every size
  if (plain_form && test.match == Match::exact && test.placement == Placement::two_devices &&
      (test.style == Style::blocking || (test.style == Style::nonblocking && !large))) {
    return true;
  }
  // plane 2: every way to send and match between two GPUs, below and above the envelope's size
  if (test.sender_kind == MemoryKind::device && test.receiver_kind == MemoryKind::device && plain_form &&
      (test.bytes == 64 || test.bytes == 4096 || test.bytes == 65544)) {
    return true;
  }
  // plane 3: every pair of forms at every placement
  if (test.sender_kind == MemoryKind::device && lives_on_device(test.receiver_kind) && !large &&
      test.style == Style::nonblocking && test.match == Match::exact) {
    return true;
  }
  // and a sample of all the rest
  return test.seed % (large ? 1499 : 151) == 0;
}

std::string describe(const Case& test) {
  return fmt::format(
      "{} bytes from {} ({}) to {} ({}), {}, {}, {}, arrival {}, room {}, completion {}, tag {}{}{}{}{}",
      test.bytes, name_of(test.sender_kind), name_in(form_names, test.sender_form),
      name_of(test.receiver_kind), name_in(form_names, test.receiver_form), name_in(style_names, test.style),
      name_in(match_names, test.match), name_in(placement_names, test.placement),
      name_in(arrival_names, test.arrival), name_in(room_names, test.room),
      name_in(completion_names, test.completion), test.tag,
      test.probes() && test.probes_by_wildcard ? ", probe by wildcards" : "",
      test.fresh_memory ? ", fresh memory" : "", test.sender_is_absolute ? ", sent from MPI_BOTTOM" : "",
      test.receiver_is_absolute ? ", received from MPI_BOTTOM" : "");
}

}  // namespace penstock::matrix
