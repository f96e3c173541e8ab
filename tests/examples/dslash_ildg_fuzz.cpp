// Searches for gauge configurations that break their reader, with libFuzzer (preset `fuzz`): any bytes are
// read, or refused with words.
//   cmake --preset fuzz && cmake --build --preset fuzz --target dslash_ildg_fuzz
//   build-fuzz/tests/examples/dslash_ildg_fuzz -max_len=16384 -max_total_time=600
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/examples/dslash_ildg_input.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

/// Random bytes hardly ever have headers: what is searched are changes to a whole file.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  if (size < 256 || seed % 64 == 0) {
    const std::string whole = dslash::test::small_configuration(seed % 2 == 0 ? 32 : 64);
    if (whole.size() <= most) {
      std::memcpy(data, whole.data(), whole.size());
      size = whole.size();
    }
  }
  return LLVMFuzzerMutate(data, size, most);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string outcome =
      dslash::test::outcome_of_reading(std::string(reinterpret_cast<const char*>(data), size));
  if (!outcome.empty() && outcome.find(", at offset ") == std::string::npos) {
    std::fprintf(stderr, "refused without an offset: %s\n", outcome.c_str());
    std::abort();
  }
  return 0;
}
