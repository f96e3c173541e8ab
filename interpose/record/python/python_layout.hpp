// Tells where CPython keeps what a thread runs, by version: its structures are not part of its interface, and
// change with each minor version, but not within one. Source: CPython's headers, by offsetof() (a test
// compares them where the headers are).
#pragma once

#include <cstdint>

namespace penstock::record {

/// Offsets in bytes, of builds for 64 bits without Py_TRACE_REFS and with the global lock. Those of others
/// are told by the types of objects, which then are not where they should be.
struct PythonLayout {
  /// How a frame tells the instruction that it is at.
  enum class Position : std::uint8_t {
    bytes,    ///< an int: the distance from the code's begin, in bytes
    units,    ///< the same in units of two bytes
    address,  ///< its address, in the code object
  };
  /// How a code object tells lines by instructions.
  enum class Lines : std::uint8_t {
    steps,      ///< co_lnotab, to 3.9 ("Objects/lnotab_notes.txt")
    ranges,     ///< co_linetable of 3.10 (PEP 626)
    locations,  ///< co_linetable from 3.11 on ("Objects/locations.md")
  };

  unsigned minor;           ///< 3.minor
  std::uint16_t thread_id;  ///< in PyThreadState, as are the next ones
  std::uint16_t frame;      ///< the innermost frame, or …
  bool is_through_cframe;   ///< … what has the innermost frame
  std::uint16_t frame_of_cframe;
  std::uint16_t previous;  ///< in a frame, as are the next ones
  std::uint16_t code;
  std::uint16_t position;
  std::uint16_t owner;       ///< a byte; 0: frames have none
  std::uint16_t first_line;  ///< in PyCodeObject, as are the next ones
  std::uint16_t file;
  std::uint16_t function;
  std::uint16_t lines;
  std::uint16_t instructions;  ///< 0: they lie elsewhere, and `position` is no address
  std::uint16_t ascii;         ///< size of the head of a str, if it is ASCII, …
  std::uint16_t compact;       ///< … and if not
  Position position_in;
  Lines lines_in;
};

/// Of all versions.
namespace python_object {
inline constexpr std::uint16_t type = 8;      ///< in PyObject
inline constexpr std::uint16_t size = 16;     ///< in PyVarObject and str
inline constexpr std::uint16_t state = 32;    ///< in str
inline constexpr std::uint16_t content = 32;  ///< of bytes
/// The owner of frames that stand for C code between two Python functions (3.12 and later).
inline constexpr std::uint8_t owned_by_c_stack = 3;
}  // namespace python_object

/// Returns nullptr for a version that is not known.
[[nodiscard]] const PythonLayout* python_layout(unsigned minor) noexcept;

}  // namespace penstock::record
