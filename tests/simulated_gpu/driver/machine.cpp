#include "machine.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace simulated_gpu {
namespace {

constexpr int default_device_count = 2;
constexpr int most_devices = 64;

}  // namespace

long environment_number(const char* name, long otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr || *text == '\0' ? otherwise : std::strtol(text, nullptr, 10);
}

int devices_of_machine() {
  return static_cast<int>(std::clamp(environment_number("SIMULATED_GPU_DEVICES", default_device_count), 0L,
                                     static_cast<long>(most_devices)));
}

CUuuid uuid_of(int number) {
  CUuuid uuid{};
  std::memcpy(uuid.bytes, "simulated GPU", 13);
  uuid.bytes[15] = static_cast<char>(number);
  return uuid;
}

std::string text_of(const CUuuid& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x",
                  static_cast<unsigned>(static_cast<unsigned char>(uuid.bytes[i])));
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += digits;
  }
  return text;
}

bool peer_access_exists() {
  static const bool exists = environment_number("SIMULATED_GPU_PEER", 1) != 0;
  return exists;
}

bool nvlink_exists() {
  static const bool exists = peer_access_exists() && environment_number("SIMULATED_GPU_NVLINK", 1) != 0;
  return exists;
}

}  // namespace simulated_gpu
