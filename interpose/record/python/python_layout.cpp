#include "interpose/record/python/python_layout.hpp"

#include <algorithm>
#include <iterator>

namespace penstock::record {
namespace {

using Position = PythonLayout::Position;
using Lines = PythonLayout::Lines;

// clang-format off
constexpr PythonLayout layouts[] = {
    // minor   thread id, frame, cframe …    previous, code, position, owner   first line, file, function, lines, instructions   str
    {8,        176, 24, false, 0,            24, 32, 104, 0,                   40, 104, 112, 120, 0,                             48, 72, Position::bytes, Lines::steps},
    {9,        176, 24, false, 0,            24, 32, 104, 0,                   40, 104, 112, 120, 0,                             48, 72, Position::bytes, Lines::steps},
    {10,       176, 24, false, 0,            24, 32, 96, 0,                    40, 104, 112, 120, 0,                             48, 72, Position::units, Lines::ranges},
    {11,       152, 56, true, 8,             48, 32, 56, 69,                   72, 112, 128, 136, 184,                           48, 72, Position::address, Lines::locations},
    {12,       136, 56, true, 0,             8, 0, 56, 70,                     68, 112, 128, 136, 192,                           40, 56, Position::address, Lines::locations},
    {13,       152, 72, false, 0,            8, 0, 56, 70,                     68, 112, 128, 136, 200,                           40, 56, Position::address, Lines::locations},
};
// clang-format on

}  // namespace

const PythonLayout* python_layout(unsigned minor) noexcept {
  const PythonLayout* const found =
      std::find_if(std::begin(layouts), std::end(layouts),
                   [minor](const PythonLayout& each) { return each.minor == minor; });
  return found == std::end(layouts) ? nullptr : found;
}

}  // namespace penstock::record
