// Serialises data for another process of the same program on a machine of the same kind. Types have a member
// exchange(archive) that lists their parts once for both directions, or members(), which returns a tuple of
// references to them. Must not know what the data mean.
#pragma once

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace penstock::analysis {

/// Numbers, and structures of numbers that own nothing.
template <typename Item>
concept PlainData = std::is_trivially_copyable_v<Item> && !std::is_pointer_v<Item>;

class Writer {
 public:
  static constexpr bool reads = false;

  template <typename... Items>
  void operator()(const Items&... items) {
    (write(items), ...);
  }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }

 private:
  void write_bytes(const void* from, std::size_t count) {
    const auto* const first = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), first, first + count);
  }
  template <typename Item>
  void write(const Item& item) {
    if constexpr (requires { const_cast<Item&>(item).members(); }) {
      std::apply([this](const auto&... members) { (*this)(members...); }, const_cast<Item&>(item).members());
    } else if constexpr (PlainData<Item>) {
      write_bytes(&item, sizeof item);
    } else {
      const_cast<Item&>(item).exchange(*this);  // exchange() lists the parts and changes them only when it
                                                // reads
    }
  }
  void write(const std::string& text) {
    write(text.size());
    write_bytes(text.data(), text.size());
  }
  void write(const std::filesystem::path& path) { write(path.string()); }
  template <typename Item>
  void write(const std::vector<Item>& items) {
    write(items.size());
    if constexpr (PlainData<Item>) {
      write_bytes(items.data(), items.size() * sizeof(Item));
    } else {
      for (const Item& each : items) write(each);
    }
  }
  template <typename First, typename Second>
  void write(const std::pair<First, Second>& pair) {
    write(pair.first);
    write(pair.second);
  }
  template <typename Key, typename Value>
  void write(const std::map<Key, Value>& map) {
    write(map.size());
    for (const auto& each : map) write(each);
  }

  std::vector<std::byte> bytes_;
};

/// Errors: std::runtime_error if the bytes end too early.
class Reader {
 public:
  static constexpr bool reads = true;

  /// The bytes must outlive the reader.
  explicit Reader(const std::vector<std::byte>& bytes) : bytes_(bytes) {}
  template <typename... Items>
  void operator()(Items&... items) {
    (read(items), ...);
  }
  [[nodiscard]] bool is_at_end() const noexcept { return next_ == bytes_.size(); }

 private:
  void read_bytes(void* to, std::size_t count) {
    if (count > bytes_.size() - next_) {
      throw std::runtime_error("what another process sent is cut off");
    }
    if (count != 0) {
      std::memcpy(to, bytes_.data() + next_, count);
    }
    next_ += count;
  }
  [[nodiscard]] std::size_t read_size(std::size_t least_bytes_each) {
    std::size_t size = 0;
    read_bytes(&size, sizeof size);
    if (size > (bytes_.size() - next_) / least_bytes_each) {
      throw std::runtime_error("what another process sent is cut off");
    }
    return size;
  }
  template <typename Item>
  void read(Item& item) {
    if constexpr (requires { item.members(); }) {
      std::apply([this](auto&... members) { (*this)(members...); }, item.members());
    } else if constexpr (PlainData<Item>) {
      read_bytes(&item, sizeof item);
    } else {
      item.exchange(*this);
    }
  }
  void read(std::string& text) {
    text.resize(read_size(1));
    read_bytes(text.data(), text.size());
  }
  void read(std::filesystem::path& path) {
    std::string text;
    read(text);
    path = text;
  }
  template <typename Item>
  void read(std::vector<Item>& items) {
    if constexpr (PlainData<Item>) {
      items.resize(read_size(sizeof(Item)));
      read_bytes(items.data(), items.size() * sizeof(Item));
    } else {
      items.resize(read_size(1));
      for (Item& each : items) read(each);
    }
  }
  template <typename First, typename Second>
  void read(std::pair<First, Second>& pair) {
    read(pair.first);
    read(pair.second);
  }
  template <typename Key, typename Value>
  void read(std::map<Key, Value>& map) {
    map.clear();
    for (std::size_t left = read_size(1); left != 0; --left) {
      std::pair<Key, Value> each;
      read(each);
      map.insert(map.end(), std::move(each));
    }
  }

  const std::vector<std::byte>& bytes_;
  std::size_t next_ = 0;
};

}  // namespace penstock::analysis
