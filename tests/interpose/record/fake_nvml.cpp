#include "fake_nvml.hpp"

#include <time.h>
#include <unistd.h>

#include <cstring>

using penstock::test::FakeNvmlBehaviour;
using penstock::test::FakeNvmlControl;

namespace {

constexpr int success = 0;
constexpr int not_supported = 3;
constexpr int not_found = 6;
constexpr int driver_not_loaded = 9;

bool is(FakeNvmlBehaviour behaviour);

}  // namespace

extern "C" {

FakeNvmlControl fake_nvml_control;

int nvmlInit_v2() {
  return is(FakeNvmlBehaviour::refuses) ? driver_not_loaded : success;
}

const char* nvmlErrorString(int result) {
  return result == driver_not_loaded ? "Driver Not Loaded" : "Not Found";
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** device) {
  if (is(FakeNvmlBehaviour::knows_no_gpu) || std::strlen(bus_id) < 7) return not_found;
  *device = &fake_nvml_control;
  return success;
}

int nvmlDeviceGetIndex(void*, unsigned* index) {
  *index = 5;
  return success;
}

int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  ++fake_nvml_control.asked_for_power;
  while (is(FakeNvmlBehaviour::never_answers)) pause();
  *milliwatts = fake_nvml_control.power_mw;
  return success;
}

/// Counts as if the power had always been what it is now.
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
  if (is(FakeNvmlBehaviour::has_no_energy_counter)) return not_supported;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const double seconds = static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
  *millijoules = static_cast<unsigned long long>(seconds * fake_nvml_control.power_mw);
  return success;
}

int nvmlDeviceGetClockInfo(void*, unsigned which, unsigned* mhz) {
  *mhz = which == 1 ? fake_nvml_control.sm_mhz.load() : 2619u;
  return success;
}

int nvmlDeviceGetMaxClockInfo(void*, unsigned, unsigned* mhz) {
  *mhz = 1980;
  return success;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  *reasons = fake_nvml_control.throttle_reasons;
  return success;
}

int nvmlDeviceGetTemperature(void*, unsigned, unsigned* celsius) {
  *celsius = 61;
  return success;
}
}

namespace {

bool is(FakeNvmlBehaviour behaviour) {
  return fake_nvml_control.behaviour.load() == behaviour;
}

}  // namespace
