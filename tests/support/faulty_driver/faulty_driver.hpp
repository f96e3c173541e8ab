// A CUDA driver, real or simulated, whose functions fail on demand: for Penstock only, as the program under
// test does not look them up in this way. Preloaded behind the library under test. The text is that of
// fault_table.hpp, at start from the variable DRIVER_FAULTS.
#pragma once

extern "C" {
/// From now on, in this process. Null unless the library is loaded.
[[gnu::weak]] void faulty_driver_fail(const char* faults);
}
