// Handles of a thread's objects. A handle is a number that is never reused, so that handles of freed objects
// and of other threads are detected without a lock.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>

#include "examples/gmh/library/error.hpp"

namespace gmh {

/// Thread: that of the virtual GPU.
template <typename Object, typename Handle>
class Table {
 public:
  /// `what` names the kind of object in error messages, as in "memory".
  Table(const char* what, int vgpu) : what_(what), vgpu_(vgpu) {}

  [[nodiscard]] Handle add(std::shared_ptr<Object> object) {
    const std::uint64_t id = (static_cast<std::uint64_t>(vgpu_) + 1) << vgpu_shift | (last_ + 1);
    objects_.emplace(id, std::move(object));
    ++last_;
    return reinterpret_cast<Handle>(id);
  }

  [[nodiscard]] const std::shared_ptr<Object>& get(Handle handle) const {
    const auto id = reinterpret_cast<std::uint64_t>(handle);
    const auto found = objects_.find(id);
    if (found == objects_.end()) refuse(id);
    return found->second;
  }

  void remove(Handle handle) { objects_.erase(reinterpret_cast<std::uint64_t>(handle)); }
  void clear() { objects_.clear(); }
  template <typename Function>
  void for_each(Function function) const {
    for (const auto& [id, object] : objects_) function(*object);
  }

 private:
  static constexpr int vgpu_shift = 48;

  [[noreturn]] void refuse(std::uint64_t id) const {
    const std::uint64_t serial = id & ((std::uint64_t{1} << vgpu_shift) - 1);
    const auto owner = static_cast<std::int64_t>(id >> vgpu_shift) - 1;
    if (owner == vgpu_ && serial >= 1 && serial <= last_)
      fail(GMH_ERR_HANDLE, "this %s was freed before", what_);
    constexpr std::int64_t most_vgpus = 1024;
    if (owner != vgpu_ && owner >= 0 && owner < most_vgpus)
      fail(GMH_ERR_THREAD, "the thread of virtual GPU %d was given a handle (%s) of virtual GPU %d's", vgpu_,
           what_, static_cast<int>(owner));
    fail(GMH_ERR_HANDLE, "this is no %s: 0x%llx", what_, static_cast<unsigned long long>(id));
  }

  const char* what_;
  int vgpu_;
  std::uint64_t last_ = 0;
  std::unordered_map<std::uint64_t, std::shared_ptr<Object>> objects_;
};

}  // namespace gmh
