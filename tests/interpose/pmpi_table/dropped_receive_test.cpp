// A receive that is dropped while its sender's GPU may be writing to its buffer.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <memory>
#include <thread>

#include "interpose/node/node_directory.hpp"
#include "interpose/protocol/rendezvous_receive.hpp"
#include "tests/support/memory.hpp"

namespace penstock::interpose {
namespace {

/// A process in the place of the sender, whose GPU is pushing.
class DroppedReceive : public testing::Test {
 protected:
  void SetUp() override {
    sender_ = ::fork();
    if (sender_ == 0) {
      for (;;) ::pause();
    }
    std::uint32_t index = 0;
    slot_ = node_directory().take_slot(&index);
    ASSERT_NE(slot_, nullptr);
    slot_->offer = {};
    slot_->offer.process_id = sender_;
    slot_->offer.payload_bytes = memory_.size();
    slot_->request = SlotRequest::push;
    Envelope envelope{};
    envelope.nonce = node_directory().nonce();
    envelope.payload_bytes = memory_.size();
    envelope.row = node_directory().own_index();
    envelope.slot = index;
    envelope.generation = slot_->generation();
    delivery_ = std::make_unique<RendezvousReceive>(
        envelope,
        transports::BufferView{transports::inspect(memory_.data()),
                               transports::Layout::contiguous(memory_.size())},
        memory_.size());
  }
  void TearDown() override {
    ::kill(sender_, SIGKILL);
    ::waitpid(sender_, nullptr, 0);
    if (slot_ != nullptr) node_directory().free_slot(slot_);
  }

  /// Drops it, while `then` is done on another thread. Whether it was over before that began.
  template <typename Then>
  bool is_over_before(Then then) {
    std::atomic<bool> is_over{false};
    bool was_over = false;
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(150));  // else the test sees less
      was_over = is_over;
      then();
    });
    delivery_.reset();
    is_over = true;
    other.join();
    return was_over;
  }

  test_support::Memory memory_{test_support::MemoryKind::device, 4096};
  pid_t sender_ = -1;
  Slot* slot_ = nullptr;
  std::unique_ptr<RendezvousReceive> delivery_;
};

TEST_F(DroppedReceive, keeps_its_buffer_until_the_sender_says_that_the_payload_is_there) {
  EXPECT_FALSE(is_over_before(
      [this] { EXPECT_TRUE((slot_->move<Side::sender, SlotState::preparing, SlotState::offered>())); }));
  EXPECT_EQ(slot_->get(), SlotState::failed);
}

TEST_F(DroppedReceive, keeps_its_buffer_until_the_sender_does_something_else_with_the_payload) {
  EXPECT_FALSE(is_over_before([this] { slot_->request = SlotRequest::stage; }));
  EXPECT_EQ(slot_->get(), SlotState::failed);
}

TEST_F(DroppedReceive, keeps_its_buffer_until_the_sender_is_gone) {
  EXPECT_FALSE(is_over_before([this] { ::kill(sender_, SIGKILL); }));
  EXPECT_EQ(slot_->get(), SlotState::failed);
}

TEST_F(DroppedReceive, of_a_payload_whose_sender_cannot_go_on_says_what_the_sender_met) {
  slot_->failure = SenderFailure{static_cast<std::uint32_t>(Code::out_of_memory), ENOSPC};
  slot_->fail();
  ASSERT_TRUE(delivery_->advance());
  EXPECT_EQ(delivery_->status().code(), Code::out_of_memory);
  EXPECT_STREQ(delivery_->status().where(), "its sender");
}

TEST_F(DroppedReceive, of_a_payload_whose_sender_gives_up_without_a_word_says_that_it_is_closed) {
  slot_->fail();
  ASSERT_TRUE(delivery_->advance());
  EXPECT_EQ(delivery_->status().code(), Code::peer_lost);
}

}  // namespace
}  // namespace penstock::interpose
