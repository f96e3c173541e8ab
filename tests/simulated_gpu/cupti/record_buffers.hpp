// The buffers that a tool lends for activity records: asked for when one is needed, given back when full or
// flushed. Knows record sizes, not their meaning.
#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstring>
#include <mutex>

namespace simulated_gpu::activity {

/// Thread: any. The tool's callbacks run on the thread that writes or flushes, without a lock held at
/// completion.
class RecordBuffers {
 public:
  void use(CUpti_BuffersCallbackRequestFunc requested, CUpti_BuffersCallbackCompleteFunc completed);

  /// Appends a record; one that finds no room is counted as dropped.
  template <typename Record>
  void write(const Record& record) {
    static_assert(sizeof(Record) % alignof(Record) == 0);
    write_bytes(&record, sizeof record);
  }
  /// Gives the buffer in use back, if it has records.
  void flush();
  /// Records dropped since the last time.
  [[nodiscard]] std::size_t take_dropped();

 private:
  struct Buffer {
    uint8_t* begin = nullptr;
    std::size_t capacity = 0;
    std::size_t used = 0;
  };
  void write_bytes(const void* record, std::size_t bytes);
  void complete(const Buffer& buffer) const;

  std::mutex mutex_;
  CUpti_BuffersCallbackRequestFunc requested_ = nullptr;
  CUpti_BuffersCallbackCompleteFunc completed_ = nullptr;
  Buffer current_;
  std::size_t dropped_ = 0;
};

/// Bytes of a record by its kind; 0 for a kind that is not simulated.
[[nodiscard]] std::size_t record_bytes(CUpti_ActivityKind kind) noexcept;

}  // namespace simulated_gpu::activity
