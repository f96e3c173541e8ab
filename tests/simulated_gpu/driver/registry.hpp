// The live objects behind one kind of handle. A handle is the object's address; one that is not here (any
// more) is refused instead of dereferenced.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "call.hpp"

namespace simulated_gpu {

/// Owns: a share of each object. Thread: any.
template <typename Object, typename Handle>
class Registry {
 public:
  Handle add(std::shared_ptr<Object> object) {
    const std::scoped_lock lock(mutex_);
    const auto handle = reinterpret_cast<Handle>(object.get());
    objects_[handle] = std::move(object);
    return handle;
  }

  /// Null if there is none.
  [[nodiscard]] std::shared_ptr<Object> find(Handle handle) const {
    const std::scoped_lock lock(mutex_);
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second;
  }

  [[nodiscard]] std::shared_ptr<Object> get(Handle handle,
                                            CUresult otherwise = CUDA_ERROR_INVALID_HANDLE) const {
    auto object = find(handle);
    require(object != nullptr, otherwise);
    return object;
  }

  /// Removes and returns it.
  std::shared_ptr<Object> take(Handle handle, CUresult otherwise = CUDA_ERROR_INVALID_HANDLE) {
    const std::scoped_lock lock(mutex_);
    const auto found = objects_.find(handle);
    require(found != objects_.end(), otherwise);
    auto object = std::move(found->second);
    objects_.erase(found);
    return object;
  }

  [[nodiscard]] std::vector<std::shared_ptr<Object>> all() const {
    const std::scoped_lock lock(mutex_);
    std::vector<std::shared_ptr<Object>> copies;
    copies.reserve(objects_.size());
    for (const auto& [handle, object] : objects_) copies.push_back(object);
    return copies;
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<Handle, std::shared_ptr<Object>> objects_;
};

}  // namespace simulated_gpu
