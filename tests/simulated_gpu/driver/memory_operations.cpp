// Single words in stream order: cuStreamWriteValue and cuStreamWaitValue, on device or mapped host memory.
#include <atomic>
#include <type_traits>

#include "call.hpp"
#include "memory.hpp"
#include "poll.hpp"
#include "stream.hpp"

namespace simulated_gpu {
namespace {

template <typename Word>
Word* word_at(CUdeviceptr address) {
  require(address % sizeof(Word) == 0 && find_allocation(address) != nullptr, CUDA_ERROR_INVALID_VALUE);
  return reinterpret_cast<Word*>(accessible(address, sizeof(Word)));
}

template <typename Word>
CUresult write_value(CUstream stream, CUdeviceptr address, Word value, unsigned flags) {
  require((flags & ~static_cast<unsigned>(CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER)) == 0,
          CUDA_ERROR_INVALID_VALUE);
  Word* const word = word_at<Word>(address);
  stream_of(stream)->submit([=] { std::atomic_ref(*word).store(value, std::memory_order_release); });
  return CUDA_SUCCESS;
}

template <typename Word>
bool satisfied(Word word, Word value, unsigned condition) {
  switch (condition) {
    case CU_STREAM_WAIT_VALUE_EQ:
      return word == value;
    case CU_STREAM_WAIT_VALUE_AND:
      return (word & value) != 0;
    case CU_STREAM_WAIT_VALUE_NOR:
      return ~(word | value) != 0;
    default:
      return static_cast<std::make_signed_t<Word>>(word - value) >= 0;  // GEQ is cyclic
  }
}

template <typename Word>
CUresult wait_value(CUstream stream, CUdeviceptr address, Word value, unsigned flags) {
  const unsigned condition = flags & ~static_cast<unsigned>(CU_STREAM_WAIT_VALUE_FLUSH);
  require(condition <= CU_STREAM_WAIT_VALUE_NOR, CUDA_ERROR_INVALID_VALUE);
  Word* const word = word_at<Word>(address);
  stream_of(stream)->submit([=] {
    poll_until(
        [&] { return satisfied(std::atomic_ref(*word).load(std::memory_order_acquire), value, condition); });
  });
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace simulated_gpu

using namespace simulated_gpu;

CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags) {
  return driver_call(__func__, [&] { return write_value(stream, address, value, flags); });
}

CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned flags) {
  return driver_call(__func__, [&] { return write_value(stream, address, value, flags); });
}

CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags) {
  return driver_call(__func__, [&] { return wait_value(stream, address, value, flags); });
}

CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned flags) {
  return driver_call(__func__, [&] { return wait_value(stream, address, value, flags); });
}
