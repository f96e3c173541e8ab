// Tells NVTX of calls as NCCL 2.25 and later do, without NCCL: a domain, registered layouts, a range around
// each call with a payload. Does nothing where no tool is named, or NCCL_NVTX_DISABLE is set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/interpose/record/fake_program.hpp"

namespace penstock::nccl_steps {

class ToldNccl {
 public:
  ToldNccl();

  void communicator_is_made(std::uint64_t communicator, int ranks, int rank) const;
  void begin_all_reduce(std::uint64_t communicator, std::size_t bytes) const;
  void begin_message(const char* function, std::uint64_t communicator, std::size_t bytes, int peer) const;
  void begin(const char* function) const;
  void end() const;

 private:
  void begin(const char* function, std::uint64_t schema, const void* payload, std::size_t size) const;

  void* domain_ = nullptr;  ///< null: nobody is told
};

}  // namespace penstock::nccl_steps
