// Exchanges device memory between ranks, in either way. Knows nothing of what is sent.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "examples/support/exchange.hpp"
#include "examples/support/gpu.hpp"

namespace example {

/// Words in device memory that go to a rank or come from it.
struct Message {
  std::uint32_t* words;
  int count;
  int peer;
  int tag;
};

class Exchanger {
 public:
  Exchanger(Exchange exchange, MPI_Comm communicator) : exchange_(exchange), communicator_(communicator) {}

  [[nodiscard]] MPI_Comm communicator() const { return communicator_; }

  /// Returns once all has been sent and received. What is sent must be complete in memory; what is received
  /// may be used by work that is queued on `stream` from now on.
  void operator()(const Stream& stream, std::span<const Message> sends, std::span<const Message> receives) {
    if (exchange_ == Exchange::device) {
      transfer(sends, receives);
      return;
    }
    std::size_t words = 0;
    for (const auto& messages : {sends, receives}) {
      for (const Message& message : messages) {
        words += static_cast<std::size_t>(message.count);
      }
    }
    reserve(words);
    std::uint32_t* next = host_words_.get();
    const std::vector<Message> host_sends = on_host(sends, next);
    const std::vector<Message> host_receives = on_host(receives, next);
    for (std::size_t i = 0; i < sends.size(); ++i) {
      copy(stream, host_sends[i].words, sends[i].words, static_cast<std::size_t>(sends[i].count));
    }
    stream.synchronize();
    transfer(host_sends, host_receives);
    for (std::size_t i = 0; i < receives.size(); ++i) {
      copy(stream, receives[i].words, host_receives[i].words, static_cast<std::size_t>(receives[i].count));
    }
    stream.synchronize();  // the host's memory is used again by the next exchange
  }

  /// What MPI may send instead of those words in device memory: they themselves, or a copy in host memory
  /// that lives until the next call.
  [[nodiscard]] const std::uint32_t* sendable(const Stream& stream, const std::uint32_t* words,
                                              std::size_t count) {
    if (exchange_ == Exchange::device) {
      return words;
    }
    reserve(count);
    copy(stream, host_words_.get(), words, count);
    stream.synchronize();
    return host_words_.get();
  }

 private:
  void reserve(std::size_t words) {
    if (words > host_words_.count()) {
      host_words_ = PinnedArray<std::uint32_t>(words);
    }
  }

  [[nodiscard]] static std::vector<Message> on_host(std::span<const Message> messages, std::uint32_t*& next) {
    std::vector<Message> moved(messages.begin(), messages.end());
    for (Message& message : moved) {
      message.words = next;
      next += message.count;
    }
    return moved;
  }

  static void copy(const Stream& stream, std::uint32_t* to, const std::uint32_t* from, std::size_t words) {
    check(cudaMemcpyAsync(to, from, words * sizeof(std::uint32_t), cudaMemcpyDefault, stream.get()),
          "copy words");
  }

  void transfer(std::span<const Message> sends, std::span<const Message> receives) {
    requests_.clear();
    for (const Message& message : receives) {
      MPI_Irecv(message.words, message.count, MPI_UINT32_T, message.peer, message.tag, communicator_,
                &requests_.emplace_back());
    }
    for (const Message& message : sends) {
      MPI_Isend(message.words, message.count, MPI_UINT32_T, message.peer, message.tag, communicator_,
                &requests_.emplace_back());
    }
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

  Exchange exchange_;
  MPI_Comm communicator_;
  PinnedArray<std::uint32_t> host_words_;
  std::vector<MPI_Request> requests_;
};

}  // namespace example
