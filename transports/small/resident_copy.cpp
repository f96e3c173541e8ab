#include "transports/small/resident_copy.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <utility>

#include "transports/cuda/kernels.hpp"
#include "transports/host/in_call.hpp"
#include "transports/host/processor_copy.hpp"

namespace penstock::transports {
namespace {

std::uint32_t read(std::uint32_t& word) noexcept {
  return std::atomic_ref(word).load(std::memory_order_acquire);
}

std::uint64_t address_of(const void* memory) noexcept {
  return reinterpret_cast<std::uint64_t>(memory);
}

/// Returns the order word that also carries where the program's thread is (caller_bits).
std::atomic<std::uint64_t>& caller_word(kernels::ResidentMailbox& mailbox) noexcept {
  using Word = std::atomic<std::uint64_t>;
  static_assert(sizeof(Word) == sizeof(mailbox.line.order.from) && Word::is_always_lock_free);
  return reinterpret_cast<Word&>(mailbox.line.order.from);
}

std::uint64_t stamped(std::uint32_t data, std::uint32_t count) noexcept {
  return std::uint64_t{count} << kernels::stamp_shift | data;
}

using Beside = std::uint32_t[kernels::words_beside];
void put_wide(Beside& words, std::uint32_t at, std::uint64_t number) noexcept {
  words[at] = static_cast<std::uint32_t>(number);
  words[at + 1] = static_cast<std::uint32_t>(number >> 32);
}

static_assert(kernels::stamp_shift == 32 && kernels::stamped_bytes == ProcessorCopy::data_bytes);

/// After this many orders, all traces of earlier ones are erased: counts repeat after twice as many.
constexpr std::uint32_t most_remembered = 1u << 31;

/// The size up to which each thread of one block has one line of a one-shot collective; several blocks share
/// larger ones.
constexpr std::uint32_t one_line_each = kernels::resident_threads * kernels::one_shot_line_bytes;

/// Returns the size in the order itself, by which the kernel knows whether a warp is enough. It is at least
/// 1, as there is no order of 0 bytes. The words beside the order carry the real sizes.
std::uint32_t order_bytes(const OneShotOrder& collective) noexcept {
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(largest_of(collective.parts), 1, kernels::largest_order));
}

using OneShotWords = kernels::OneShotWords;
static_assert(OneShotWords::parts + kernels::most_sources <= kernels::words_beside);

/// Returns the largest unit, as a power of two, that divides all parts.
unsigned unit_shift_of(const OneShotParts& parts) noexcept {
  std::uint64_t all = kernels::one_shot_line_bytes;
  for (const std::uint64_t bytes : parts.sent) all |= bytes;
  for (const std::uint64_t bytes : parts.received) all |= bytes;
  return static_cast<unsigned>(std::countr_zero(all));
}

}  // namespace

Status ResidentCopy::launch(const void* known, const kernels::ResidentLimits& stay, Size size) noexcept {
  if (Status usable = cuda::Kernels::ready_in(*context_); !usable.ok()) return usable;
  const cuda::Kernels& all = cuda::Kernels::of_process();
  if (has_failed_) return {Code::declined, "the resident kernel has failed before"};
  const cuda::Driver* driver = cuda::driver();
  if (driver == nullptr) return cuda::no_driver();
  const cuda::ContextScope scope(*context_);
  if (!scope.status().ok()) return scope.status();
  const cuda::FlagPage* page = nullptr;
  if (Status pinned = context_->flags(page); !pinned.ok()) return pinned;
  if (Status made = context_->stream(cuda::StreamUse::resident, stream_); !made.ok()) return made;
  if (mailbox_ == nullptr) {
    if (Status taken = cuda::CompletionFlag::take(context_, counters_); !taken.ok()) return taken;
    mailbox_ = page->mailbox();
    bounce_ = page->bounce();
    // another object may have used the mailbox before
    launch_ = read(mailbox_->running);
    from_ = mailbox_->line.order.from & ~kernels::caller_bits;
    orders_ = static_cast<std::uint32_t>(from_ & kernels::number_mask);
    forget_earlier_orders();
  }
  page->keep_mapped();
  show_calls({&caller_word(*mailbox_), kernels::caller_inside, kernels::caller_changed});
  kernels::ResidentKernel parameters{};
  parameters.mailbox = page->device_mailbox();
  parameters.slot = counters_.slot();
  parameters.launch = launch_ + 1;
  parameters.done = orders_;
  parameters.stay = stay;
  parameters.bounce = page->device_bounce();
  parameters.known = known;
  parameters.known_inverted = ~reinterpret_cast<std::uint64_t>(known);
  void* arguments[] = {&parameters};
  const unsigned blocks = size == Size::one_block ? 1 : kernels::resident_blocks;
  Status launched =
      cuda::check(driver->cuLaunchKernel(all[cuda::Kernel::resident], blocks, 1, 1, kernels::resident_threads,
                                         1, 1, 0, stream_, arguments, nullptr),
                  "cuLaunchKernel");
  if (!launched.ok()) {
    has_failed_ = true;
    return launched;
  }
  ++launch_;
  orders_of_launch_ = 0;
  watch_.progress();
  return {};
}

bool ResidentCopy::is_ready() const noexcept {
  return mailbox_ != nullptr && !is_pending_ && !has_failed_ && orders_of_launch_ < kernels::most_orders &&
         read(mailbox_->running) == launch_ && read(mailbox_->leaving) != launch_;
}

bool ResidentCopy::is_over() noexcept {
  if (mailbox_ == nullptr || has_failed_ || read(mailbox_->ended) == launch_) return true;
  bool ended = false;
  return !look_for_end(ended).ok() || ended;
}

bool ResidentCopy::shares() const noexcept {
  return read(mailbox_->sharing) == launch_;
}

bool ResidentCopy::is_shared(const void* to, const void* from, std::uint64_t bytes) noexcept {
  return bytes >= kernels::least_shared_order && bytes <= kernels::largest_shared_order &&
         address_of(to) % kernels::shared_alignment == 0 && address_of(from) % kernels::shared_alignment == 0;
}

bool ResidentCopy::takes(const void* to, const void* from, std::uint64_t bytes) noexcept {
  return bytes > 0 && (bytes <= kernels::largest_order || is_shared(to, from, bytes)) &&
         address_of(to) < kernels::addresses_end && address_of(from) < kernels::addresses_end;
}

bool ResidentCopy::is_shared(const CopyItem& item) noexcept {
  return item.bytes >= kernels::least_shared_strided_order &&
         item.bytes <= kernels::largest_shared_strided_order;
}

bool ResidentCopy::takes(const CopyItem& item) noexcept {
  const auto is_told = [](const CopySide& side) {
    return side.begin == 0 && side.loops.depth <= kernels::StridedWords::most_loops &&
           (side.is_contiguous() || side.loops.row_bytes <= kernels::largest_shared_strided_order);
  };
  return item.bytes > 0 && item.bytes <= kernels::largest_shared_strided_order && is_told(item.to_side) &&
         is_told(item.from_side) && address_of(item.to) < kernels::addresses_end &&
         address_of(item.from) < kernels::addresses_end;
}

bool ResidentCopy::is_ready_for(const CopyItem& item) const noexcept {
  return is_ready() && takes(item) && (item.bytes <= kernels::largest_order || shares());
}

bool ResidentCopy::is_ready_for(const void* to, const void* from, std::uint64_t bytes) const noexcept {
  return is_ready() && takes(to, from, bytes) && (bytes <= kernels::largest_order || shares());
}

bool ResidentCopy::is_ready_for(const OneShotOrder& collective) const noexcept {
  const std::uint64_t largest = largest_of(collective.parts);
  const bool can_be_said = largest >> unit_shift_of(collective.parts) <= OneShotWords::most_units;
  return can_be_said && is_ready_for(collective.to, collective.own, order_bytes(collective)) &&
         (largest <= largest_unshared_one_shot_order || shares());
}

bool ResidentCopy::is_ready_for_host(const void* device, std::uint64_t bytes) const noexcept {
  return bytes <= kernels::bounce_bytes && is_ready_for(device, device, bytes);
}

void ResidentCopy::order(void* to, const void* from, std::uint32_t bytes) noexcept {
  count();
  if (is_shared(to, from, bytes) && shares()) {
    order_shared(address_of(to), address_of(from), bytes);
  } else {
    order_between(address_of(to), address_of(from), bytes);
  }
}

void ResidentCopy::order_download(void* to, const void* from, std::uint32_t bytes) noexcept {
  count();
  download_ = {static_cast<char*>(to), bytes, 0, bytes <= kernels::largest_down};
  order_between(download_.is_stamped ? kernels::down_address : kernels::bounce_address, address_of(from),
                bytes);
}

void ResidentCopy::order_upload(void* to, const void* from, std::uint32_t bytes) noexcept {
  count();
  if (bytes > kernels::largest_beside) {
    std::memcpy(bounce_, from, bytes);
    order_between(address_of(to), kernels::bounce_address, bytes);
    return;
  }
  std::uint32_t words[kernels::words_beside] = {};
  std::memcpy(words, from, bytes);
  write_beside(words, (bytes - 1) / kernels::stamped_bytes + 1);
  order_between(address_of(to), kernels::beside_address, bytes);
}

void ResidentCopy::order(const OneShotOrder& collective) noexcept {
  using Words = OneShotWords;
  count();
  Beside words = {};
  put_wide(words, Words::to, address_of(collective.to));
  put_wide(words, Words::route, address_of(collective.route));
  words[Words::stamp] = collective.stamp;
  const std::uint32_t bytes = order_bytes(collective);
  const OneShotParts& parts = collective.parts;
  const unsigned unit_shift = unit_shift_of(parts);
  for (std::uint32_t rank = 0; rank < kernels::most_sources; ++rank)
    words[Words::parts + rank] =
        static_cast<std::uint32_t>(parts.sent[rank] >> unit_shift | parts.received[rank] >> unit_shift << 16);
  const auto flag = [](bool is_set, std::uint32_t position) {
    return static_cast<std::uint32_t>(is_set) << position;
  };
  words[Words::what] = static_cast<std::uint32_t>(collective.type) << Words::type |
                       static_cast<std::uint32_t>(collective.operation) << Words::operation |
                       collective.combined << Words::combined | unit_shift << Words::unit_shift |
                       flag(parts.is_for_each, Words::is_for_each) |
                       flag(parts.is_checked, Words::is_checked) |
                       flag(bytes > one_line_each && shares(), Words::is_shared);
  write_beside(words, kernels::words_beside);
  order_between(kernels::one_shot_address, address_of(collective.own), bytes);
}

bool ResidentCopy::is_ready_for(const UpdateOrder& update) const noexcept {
  return update.bytes > 0 && update.bytes <= kernels::largest_update && is_ready();
}

void ResidentCopy::order(const UpdateOrder& update) noexcept {
  using Words = kernels::UpdateWords;
  count();
  Beside words = {};
  const auto put_operand = [&](std::uint32_t word, const UpdateOrder::Operand& operand) {
    put_wide(words, word, operand.address != nullptr ? address_of(operand.address) : operand.value);
  };
  put_wide(words, Words::target, address_of(update.target));
  put_wide(words, Words::result,
           update.host_result != nullptr ? kernels::bounce_address : address_of(update.result));
  put_operand(Words::operand, update.operand);
  put_operand(Words::compared, update.compared);
  const auto flag = [](bool is_set, std::uint32_t position) {
    return static_cast<std::uint32_t>(is_set) << position;
  };
  words[Words::what] = static_cast<std::uint32_t>(update.type) << Words::type |
                       static_cast<std::uint32_t>(update.operation) << Words::operation |
                       static_cast<std::uint32_t>(update.kind) << Words::kind |
                       static_cast<std::uint32_t>(std::countr_zero(update.element_bytes))
                           << Words::element_shift |
                       flag(update.operand.address == nullptr, Words::has_operand) |
                       flag(update.compared.address == nullptr, Words::has_compared);
  write_beside(words, kernels::words_beside);
  if (update.host_result != nullptr) download_ = {static_cast<char*>(update.host_result), update.bytes};
  order_between(kernels::update_address, 0, update.bytes);
}

bool ResidentCopy::was_incomplete() const noexcept {
  return read(mailbox_->incomplete) == orders_;
}

void ResidentCopy::order(const CopyItem& item) noexcept {
  using Words = kernels::StridedWords;
  count();
  Beside words = {};
  const auto put_side = [&](std::uint32_t at, const StridedLoops& loops) {
    words[at + Words::row_bytes] = loops.row_bytes;
    words[at + Words::count] = loops.counts[0];
    if (loops.depth > 0) put_wide(words, at + Words::stride, static_cast<std::uint64_t>(loops.strides[0]));
    if (loops.depth > 1)
      put_wide(words, at + Words::outer_stride, static_cast<std::uint64_t>(loops.strides[1]));
  };
  put_wide(words, Words::to, address_of(item.to));
  put_side(Words::from_side, item.from_side.loops);
  put_side(Words::to_side, item.to_side.loops);
  words[Words::from_side + Words::row_bytes] |= unit_shift_of(item) << Words::unit_position;
  write_beside(words, kernels::words_beside);
  const std::uint32_t upper_size = (item.bytes - 1) >> 16;
  order_between(kernels::strided_address | upper_size << kernels::strided_size_shift, address_of(item.from),
                item.bytes, is_shared(item) && shares());
}

void ResidentCopy::write_beside(const std::uint32_t (&words)[kernels::words_beside],
                                std::uint32_t count) noexcept {
  for (std::uint32_t word = 0; word < count; ++word) {
    std::atomic_ref(mailbox_->line.beside[word])
        .store(stamped(words[word], orders_), std::memory_order_relaxed);
  }
}

void ResidentCopy::order_between(std::uint64_t to, std::uint64_t from, std::uint32_t bytes,
                                 bool is_shared) noexcept {
  sharers_ = is_shared ? kernels::resident_blocks : 1;
  give(to << kernels::address_shift | ((bytes - 1) & 0xffff),
       from << kernels::address_shift | (is_shared ? kernels::shared_bit : 0));
}

void ResidentCopy::order_shared(std::uint64_t to, std::uint64_t from, std::uint32_t bytes) noexcept {
  const std::uint32_t last_byte = bytes - 1;
  order_between(to | (last_byte >> 20 & (kernels::shared_alignment - 1)),
                from | (last_byte >> 16 & (kernels::shared_alignment - 1)), bytes, true);
}

void ResidentCopy::dismiss() noexcept {
  if (mailbox_ == nullptr || is_pending_ || has_failed_ || read(mailbox_->leaving) == launch_) return;
  count();
  tell(0, 0);
}

void ResidentCopy::count() noexcept {
  if (orders_ % most_remembered == 0) forget_earlier_orders();
  ++orders_;
  download_ = {};
}

void ResidentCopy::give(std::uint64_t to, std::uint64_t from) noexcept {
  tell(to, from);
  ++orders_of_launch_;
  is_pending_ = true;
  watch_.progress();
}

void ResidentCopy::tell(std::uint64_t to, std::uint64_t from) noexcept {
  const std::uint64_t number = orders_ & kernels::number_mask;
  to |= (number & 1) << 16;  // shows that both words belong together
  from |= number;
  std::atomic_ref(mailbox_->line.order.to).store(to, std::memory_order_relaxed);
  // keeps the caller's bits, which its thread may flip at any moment
  caller_word(*mailbox_).fetch_xor(std::exchange(from_, from) ^ from, std::memory_order_release);
}

void ResidentCopy::forget_earlier_orders() noexcept {
  for (std::uint32_t& done : mailbox_->done) std::atomic_ref(done).store(orders_, std::memory_order_relaxed);
  std::atomic_ref(mailbox_->incomplete).store(orders_, std::memory_order_relaxed);
  for (std::uint64_t& word : mailbox_->line.beside)
    std::atomic_ref(word).store(stamped(0, orders_), std::memory_order_relaxed);
  for (std::uint64_t& word : mailbox_->down)
    std::atomic_ref(word).store(stamped(0, orders_), std::memory_order_relaxed);
}

bool ResidentCopy::is_done() noexcept {
  if (download_.is_stamped) return has_come_down();
  const auto executed = [&](std::uint32_t& done) { return read(done) == orders_; };
  if (!std::all_of(mailbox_->done, mailbox_->done + sharers_, executed)) return false;
  if (download_.bytes > 0) std::memcpy(download_.to, bounce_, download_.bytes);
  return true;
}

bool ResidentCopy::has_come_down() noexcept {
  // locals, not members: the compiler must assume that writes to the target change members
  std::uint64_t* const words = mailbox_->down;
  const std::uint32_t count = orders_;
  char* const to = download_.to;
  const std::uint32_t bytes = download_.bytes;
  std::uint32_t come = download_.come;
  constexpr std::uint32_t step_bytes = ProcessorCopy::words_a_look * kernels::stamped_bytes;
  while (bytes - come >= step_bytes &&
         ProcessorCopy::take_words(words + come / kernels::stamped_bytes, count, to + come))
    come += step_bytes;
  while (bytes - come < step_bytes && come != bytes) {
    const std::uint64_t word =
        std::atomic_ref(words[come / kernels::stamped_bytes]).load(std::memory_order_relaxed);
    if (word >> kernels::stamp_shift != count) break;
    const std::uint32_t data_bytes = std::min(kernels::stamped_bytes, bytes - come);
    const auto data = static_cast<std::uint32_t>(word);
    std::memcpy(to + come, &data, data_bytes);
    come += data_bytes;
  }
  download_.come = come;
  return come == bytes;
}

Status ResidentCopy::query(Outcome& outcome) noexcept {
  outcome = Outcome::pending;
  bool ended = read(mailbox_->ended) == launch_;  // read before the last look at what was done
  if (is_done()) {
    outcome = Outcome::copied;
  } else if (ended) {
    outcome = Outcome::missed;
    --orders_of_launch_;
  } else {
    return look_for_end(ended);
  }
  is_pending_ = false;
  return {};
}

Status ResidentCopy::look_for_end(bool& ended) noexcept {
  ended = false;
  if (!watch_.is_due()) return {};
  const cuda::ContextScope scope(*context_);
  const cuda::Driver* driver = cuda::driver();
  Status state = scope.status();
  if (state.ok() && driver != nullptr) {
    const CUresult result = driver->cuStreamQuery(stream_);
    if (result == CUDA_ERROR_NOT_READY) return {};
    state = cuda::check(result, "cuStreamQuery");
  }
  ended = read(mailbox_->ended) == launch_;
  if (ended) return {};
  has_failed_ = true;
  is_pending_ = false;
  return state.ok() ? Status{Code::cuda_failed, "the resident kernel did not signal its end"} : state;
}

}  // namespace penstock::transports
