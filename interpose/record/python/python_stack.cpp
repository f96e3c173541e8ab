#include "interpose/record/python/python_stack.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "interpose/record/python/python_lines.hpp"
#include "interpose/record/utf8.hpp"

namespace penstock::record {
namespace {

/// Limits of what is plausible; a longer text is cut.
constexpr std::uint64_t most_characters = 1024;
constexpr std::uint64_t most_table_bytes = std::uint64_t{1} << 20;
/// Frames of C code between those of Python; there is one for each call from C.
constexpr std::size_t most_frames_of_c = 64;

template <typename Number>
Number number_at(std::span<const std::byte> bytes, std::size_t at) noexcept {
  Number number{};
  if (at <= bytes.size() && sizeof number <= bytes.size() - at)
    std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

/// Lines and control characters end no text, and what is no character becomes a question mark.
void append_character(std::string& text, std::uint32_t character) {
  if (character < 0x20 || character == 0x7f) character = ' ';
  const bool is_surrogate = character >= 0xd800 && character < 0xe000;
  append_utf8(text, is_surrogate || character >= 0x110000 ? '?' : character);
}

}  // namespace

template <typename Number>
bool PythonStack::read(std::uint64_t at, Number& number) {
  return log_.read(at, std::as_writable_bytes(std::span(&number, 1)));
}

std::optional<PythonFrameHead> PythonStack::innermost(std::uint64_t thread_state) {
  std::uint64_t thread = 0;
  std::uint64_t frame = 0;
  if (!read(thread_state + layout_.thread_id, thread) ||
      thread != static_cast<std::uint64_t>(pthread_self()) || !read(thread_state + layout_.frame, frame) ||
      frame == 0)
    return std::nullopt;
  if (layout_.is_through_cframe && (!read(frame + layout_.frame_of_cframe, frame) || frame == 0))
    return std::nullopt;
  if (!read_frame(frame)) return std::nullopt;
  return PythonFrameHead{frame, in_frame(layout_.position)};
}

std::vector<PythonFrame> PythonStack::frames(std::uint64_t frame, std::size_t most) {
  std::vector<PythonFrame> found;
  std::size_t of_c = 0;
  while (frame != 0 && found.size() < most && read_frame(frame)) {
    const std::uint64_t previous = in_frame(layout_.previous);
    if (previous == frame) break;
    const bool is_of_c = layout_.owner != 0 && static_cast<std::uint8_t>(in_frame(layout_.owner)) ==
                                                   python_object::owned_by_c_stack;
    if (is_of_c) {
      if (++of_c > most_frames_of_c) break;
    } else {
      std::optional<PythonFrame> function = function_at(in_frame(layout_.code), in_frame(layout_.position));
      if (!function) break;
      found.push_back(std::move(*function));
    }
    frame = previous;
  }
  return found;
}

/// Reads the part of a frame that is needed into `frame_`, as if it began at the frame's begin.
bool PythonStack::read_frame(std::uint64_t at) {
  const std::uint16_t begin = std::min({layout_.previous, layout_.code, layout_.position});
  const std::uint16_t end = std::max({layout_.previous, layout_.code, layout_.position, layout_.owner});
  frame_.assign(end + sizeof(std::uint64_t), std::byte{});
  const bool has_owner = end == layout_.owner;  // a byte, behind which there may be another's memory
  const std::size_t bytes = end - begin + (has_owner ? 1 : sizeof(std::uint64_t));
  return log_.read(at + begin, std::span(frame_).subspan(begin, bytes));
}

std::uint64_t PythonStack::in_frame(std::uint16_t offset) const noexcept {
  return number_at<std::uint64_t>(frame_, offset);
}

/// An object's type need not be looked at again where all that was read of it is the same.
bool PythonStack::is_of_type(std::uint64_t object, std::uint64_t type) const noexcept {
  std::uint64_t found = 0;
  return object != 0 &&
         read_own_memory(object + python_object::type, std::as_writable_bytes(std::span(&found, 1))) &&
         found == type;
}

/// Reads a code object into `code_`, which is none if it cannot be read.
bool PythonStack::read_code(std::uint64_t at) {
  if (at == code_.at) return true;
  code_.at = 0;
  std::array<std::byte, 128> part;
  const std::uint16_t begin = layout_.first_line;
  const std::span read_part =
      std::span(part).first(std::min(part.size(), layout_.lines + sizeof(std::uint64_t) - begin));
  if (!is_of_type(at, types_.code) || !log_.read(at + begin, read_part)) return false;
  const auto in_code = [&](std::uint16_t offset) {
    return number_at<std::uint64_t>(read_part, offset - begin);
  };
  code_.first_line = number_at<std::int32_t>(read_part, 0);
  if (const std::uint64_t file = in_code(layout_.file); file != code_.file_at) {
    std::optional<std::string> known = text(file);
    if (!known) return false;
    code_.file_at = file;
    code_.file = std::move(*known);
  }
  std::optional<std::string> function = text(in_code(layout_.function));
  if (!function) return false;
  code_.function = std::move(*function);
  code_.table.clear();
  code_.table_at = in_code(layout_.lines);
  code_.table_bytes = 0;
  const bool has_table = is_of_type(code_.table_at, types_.bytes) &&
                         read_own_memory(code_.table_at + python_object::size,
                                         std::as_writable_bytes(std::span(&code_.table_bytes, 1)));
  if (!has_table || code_.table_bytes > most_table_bytes) code_.table_bytes = 0;
  code_.at = at;
  return true;
}

std::optional<PythonFrame> PythonStack::function_at(std::uint64_t code, std::uint64_t position) {
  if (!read_code(code)) return std::nullopt;
  std::int64_t offset = 0;
  switch (layout_.position_in) {
    case PythonLayout::Position::bytes:
      offset = static_cast<std::int32_t>(position);
      break;
    case PythonLayout::Position::units:
      offset = std::int64_t{static_cast<std::int32_t>(position)} * 2;
      break;
    case PythonLayout::Position::address:
      offset = static_cast<std::int64_t>(position - code - layout_.instructions);
      break;
  }
  // a function that has not begun is before its first instruction
  const int line = offset < 0 ? code_.first_line : this->line(static_cast<std::uint64_t>(offset));
  return PythonFrame{code_.function, code_.file, line};
}

std::optional<std::string> PythonStack::text(std::uint64_t str) {
  std::array<std::byte, python_object::state + sizeof(std::uint32_t)> head;
  if (!is_of_type(str, types_.str) || !read_own_memory(str, head)) return std::nullopt;
  const auto length = number_at<std::uint64_t>(head, python_object::size);
  const auto state = number_at<std::uint32_t>(head, python_object::state);
  const std::uint32_t width = state >> 2 & 7;
  const bool is_compact = (state >> 5 & 1) != 0;
  const bool is_ascii = (state >> 6 & 1) != 0;
  if (!is_compact || (width != 1 && width != 2 && width != 4) || length > (std::uint64_t{1} << 32))
    return std::nullopt;
  // in one piece with the length, which costs less to compare later
  const std::size_t begin = (is_ascii ? layout_.ascii : layout_.compact) - python_object::size;
  std::vector<std::byte> content(begin + std::min(length, most_characters) * width);
  if (!log_.read(str + python_object::size, content)) return std::nullopt;
  std::string text;
  for (std::size_t at = begin; at < content.size(); at += width) {
    append_character(text, width == 1   ? number_at<std::uint8_t>(content, at)
                           : width == 2 ? number_at<std::uint16_t>(content, at)
                                        : number_at<std::uint32_t>(content, at));
  }
  return text;
}

/// Reads as much of the table as it takes: that of a long function has thousands of bytes. Its size is read
/// with it, in one piece.
int PythonStack::line(std::uint64_t offset) {
  constexpr std::size_t head = python_object::content - python_object::size;
  for (std::uint64_t wanted = std::max<std::uint64_t>(code_.table.size(), head + 512);; wanted *= 4) {
    const std::uint64_t bytes = std::min(head + code_.table_bytes, wanted);
    if (const std::size_t known = code_.table.size(); bytes > known) {
      code_.table.resize(bytes);
      if (!log_.read(code_.table_at + python_object::size + known, std::span(code_.table).subspan(known))) {
        code_.table_bytes = 0;
        code_.table.resize(head);
        return 0;
      }
    }
    const bool is_whole = code_.table.size() == head + code_.table_bytes;
    const auto found = line_in_table(layout_.lines_in, std::span(code_.table).subspan(head), is_whole,
                                     code_.first_line, offset);
    if (found || is_whole) return found.value_or(0);
  }
}

}  // namespace penstock::record
