// Structures of an interpreter of Python as a version has them, in memory of the test's own, which it may
// damage.
#pragma once

#include <sys/mman.h>

#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "interpose/record/python/python_layout.hpp"
#include "interpose/record/python/python_stack.hpp"

namespace penstock::test {

/// A page of structures between two that cannot be read.
class FakePython {
 public:
  explicit FakePython(const record::PythonLayout& layout) : layout_(layout) {
    memory_ = static_cast<std::byte*>(
        mmap(nullptr, bytes + 2 * guard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(memory_ + guard, bytes, PROT_READ | PROT_WRITE);
    types = {take(64), take(64), take(64)};
    thread_state = take(256);
    put(thread_state + layout.thread_id, static_cast<std::uint64_t>(pthread_self()));
  }
  ~FakePython() { munmap(memory_, bytes + 2 * guard); }
  FakePython(const FakePython&) = delete;
  FakePython& operator=(const FakePython&) = delete;

  template <typename Number>
  void put(std::uint64_t at, Number number) {
    std::memcpy(reinterpret_cast<void*>(at), &number, sizeof number);
  }
  std::uint64_t str(std::string_view ascii) {
    const std::uint64_t at = object(layout_.ascii + ascii.size() + 1, types.str);
    put(at + record::python_object::size, std::uint64_t{ascii.size()});
    put(at + record::python_object::state, 1u << 2 | 1u << 5 | 1u << 6);
    std::memcpy(reinterpret_cast<void*>(at + layout_.ascii), ascii.data(), ascii.size());
    return at;
  }
  template <typename Character>
  std::uint64_t wide_str(const std::vector<Character>& characters) {
    const std::uint64_t at = object(layout_.compact + (characters.size() + 1) * sizeof(Character), types.str);
    put(at + record::python_object::size, std::uint64_t{characters.size()});
    put(at + record::python_object::state, static_cast<std::uint32_t>(sizeof(Character)) << 2 | 1u << 5);
    std::memcpy(reinterpret_cast<void*>(at + layout_.compact), characters.data(),
                characters.size() * sizeof(Character));
    return at;
  }
  /// The whole code is one line's.
  std::uint64_t code(std::uint64_t function, std::uint64_t file, int first_line) {
    using Lines = record::PythonLayout::Lines;
    std::vector<std::uint8_t> table{200, 0};
    if (layout_.lines_in == Lines::locations) table = {0x80 | 13 << 3 | 7, 0, 0x80 | 13 << 3 | 7, 2};
    const std::uint64_t lines = object(record::python_object::content + table.size() + 1, types.bytes);
    put(lines + record::python_object::size, std::uint64_t{table.size()});
    std::memcpy(reinterpret_cast<void*>(lines + record::python_object::content), table.data(), table.size());
    const std::uint64_t at = object(320, types.code);
    put(at + layout_.first_line, first_line);
    put(at + layout_.function, function);
    put(at + layout_.file, file);
    put(at + layout_.lines, lines);
    return at;
  }
  /// `offset`: of the instruction, in bytes.
  std::uint64_t frame(std::uint64_t code, std::uint64_t previous, std::int32_t offset) {
    using Position = record::PythonLayout::Position;
    const std::uint64_t at = take(160);
    put(at + layout_.code, code);
    put(at + layout_.previous, previous);
    if (layout_.position_in == Position::address) {
      put(at + layout_.position,
          code + layout_.instructions + static_cast<std::uint64_t>(std::int64_t{offset}));
    } else {
      put(at + layout_.position, layout_.position_in == Position::units ? offset / 2 : offset);
    }
    return at;
  }
  /// A frame that stands for C code.
  std::uint64_t frame_of_c(std::uint64_t previous) {
    const std::uint64_t at = frame(types.code, previous, 0);
    put(at + layout_.owner, record::python_object::owned_by_c_stack);
    return at;
  }
  void run(std::uint64_t frame) {
    if (layout_.is_through_cframe) {
      const std::uint64_t cframe = take(64);
      put(cframe + layout_.frame_of_cframe, frame);
      frame = cframe;
    }
    put(thread_state + layout_.frame, frame);
  }
  [[nodiscard]] std::uint64_t begin() const { return reinterpret_cast<std::uint64_t>(memory_ + guard); }
  [[nodiscard]] std::uint64_t used() const { return used_; }

  static constexpr std::size_t bytes = 16384;
  record::PythonTypes types;
  std::uint64_t thread_state = 0;

 private:
  static constexpr std::size_t guard = 4096;

  std::uint64_t take(std::size_t size) {
    const std::uint64_t at = begin() + used_;
    used_ += (size + 15) / 16 * 16;
    return at;
  }
  std::uint64_t object(std::size_t size, std::uint64_t type) {
    const std::uint64_t at = take(size);
    put(at + record::python_object::type, type);
    return at;
  }

  const record::PythonLayout& layout_;
  std::byte* memory_ = nullptr;
  std::uint64_t used_ = 0;
};

}  // namespace penstock::test
