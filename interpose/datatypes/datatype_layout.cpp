#include "interpose/datatypes/datatype_layout.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "interpose/datatypes/datatype_contents.hpp"
#include "interpose/datatypes/datatype_element.hpp"
#include "transports/device_memory/parts.hpp"
#include "transports/machine.hpp"

namespace penstock::interpose {
namespace {

using transports::Layout;
using transports::OffsetRange;

/// A layout whose first byte lies at the address itself, and the offset of that byte in the user's buffer.
struct PlacedLayout {
  Layout layout;
  std::ptrdiff_t first_offset = 0;
  OffsetRange span;  ///< of the layout
};

PlacedLayout placed(const Layout& layout) {
  PlacedLayout made{layout.shifted(-layout.first_offset()), layout.first_offset(), {}};
  made.span = made.layout.span();
  return made;
}

/// The data that a derived type keeps: its element, and the layout of its last message, as the next one
/// probably has the same count. Thread: any.
class KeptElement {
 public:
  explicit KeptElement(DatatypeElement element) : element_(std::move(element)) {}

  [[nodiscard]] const DatatypeElement& element() const noexcept { return element_; }
  [[nodiscard]] PlacedLayout message(MPI_Count count) const {
    {
      const std::lock_guard lock(mutex_);
      if (count == last_count_) return last_;
    }
    PlacedLayout made = placed(element_.of(count));
    const std::lock_guard lock(mutex_);
    last_count_ = count;
    last_ = made;
    return made;
  }

 private:
  const DatatypeElement element_;
  mutable std::mutex mutex_;
  mutable MPI_Count last_count_ = -1;
  mutable PlacedLayout last_;
};

/// Returns the attribute key under which a derived type keeps its KeptElement. A duplicate of the type makes
/// its own.
int attribute_key() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    PMPI_Type_create_keyval(
        [](MPI_Datatype, int, void*, void*, void*, int* flag) -> int {
          *flag = 0;
          return MPI_SUCCESS;
        },
        [](MPI_Datatype, int, void* value, void*) -> int {
          delete static_cast<KeptElement*>(value);
          return MPI_SUCCESS;
        },
        &made, nullptr);
    return made;
  }();
  return key;
}

const KeptElement* kept_element(MPI_Datatype datatype) noexcept {
  void* value = nullptr;
  int found = 0;
  if (attribute_key() == MPI_KEYVAL_INVALID) return nullptr;
  PMPI_Type_get_attr(datatype, attribute_key(), &value, &found);
  return found != 0 ? static_cast<const KeptElement*>(value) : nullptr;
}

/// The KeptElement of a derived type: the one that the type keeps, or its own if the MPI library keeps no
/// attribute. Valid as long as the datatype.
class DerivedElement {
 public:
  explicit DerivedElement(MPI_Datatype datatype) : element_(kept_element(datatype)) {
    if (element_ != nullptr) return;
    own_ = std::make_unique<KeptElement>(element_of(datatype));
    element_ = own_.get();
    if (attribute_key() == MPI_KEYVAL_INVALID) return;
    // two threads may use a type for the first time at once
    static std::mutex lock;
    const std::lock_guard guard(lock);
    if (const KeptElement* const kept = kept_element(datatype)) {
      element_ = kept;
    } else if (PMPI_Type_set_attr(datatype, attribute_key(), own_.get()) == MPI_SUCCESS) {
      static_cast<void>(own_.release());
    }
  }
  const DatatypeElement* operator->() const noexcept { return &element_->element(); }
  [[nodiscard]] PlacedLayout message(MPI_Count count) const { return element_->message(count); }

 private:
  std::unique_ptr<KeptElement> own_;
  const KeptElement* element_;
};

/// Sizes of predefined types that lie in one piece, which every message needs. Handles of predefined types
/// never change, so an entry never becomes stale.
struct KnownSize {
  std::uintptr_t handle;
  std::size_t bytes;
};
constexpr std::size_t known_sizes_count = 16;
[[gnu::tls_model("initial-exec")]] constinit thread_local std::array<KnownSize, known_sizes_count>
    known_sizes{};

/// Returns the size of a predefined type that lies in one piece; false for all others.
bool is_simple(MPI_Datatype datatype, std::size_t& bytes) {
  const auto handle = (std::uintptr_t)datatype;  // NOLINT: an int in MPICH, a pointer in Open MPI
  KnownSize& known = known_sizes[(handle ^ (handle >> 4) ^ (handle >> 8)) % known_sizes_count];
  if (known.handle != handle) {
    if (datatype == MPI_DATATYPE_NULL || !DatatypeContents::is_predefined(datatype)) return false;
    const std::size_t size = size_of(datatype);
    if (readable_extent_of(datatype) != static_cast<std::ptrdiff_t>(size)) return false;
    known = {.handle = handle, .bytes = size};
  }
  bytes = known.bytes;
  return true;
}

PlacedLayout message_of(MPI_Datatype datatype, MPI_Count count) {
  if (std::size_t bytes = 0; is_simple(datatype, bytes))
    return {Layout::contiguous(bytes * as_size(count)),
            0,
            {0, static_cast<std::ptrdiff_t>(bytes * as_size(count))}};
  if (datatype == MPI_DATATYPE_NULL || count <= 0) return {};
  if (DatatypeContents::is_predefined(datatype)) return placed(layout_of(datatype, count));
  return DerivedElement(datatype).message(count);
}

/// Computes with integers: MPI_BOTTOM is null, and the sum may lie outside the object that `buffer` points
/// to.
const void* address_of_first_byte(const void* buffer, const PlacedLayout& message) noexcept {
  const auto address =
      reinterpret_cast<std::uintptr_t>(buffer) + static_cast<std::uintptr_t>(message.first_offset);
  return reinterpret_cast<const void*>(address);
}

/// Returns whether the bytes may lie in several allocations. MPI rules it out without absolute addresses, but
/// such programs work as long as the library copies piece by piece.
bool may_be_scattered(const void* buffer, const transports::Buffer& first, const PlacedLayout& message) {
  const auto bytes = static_cast<std::uint64_t>(message.span.end - message.span.begin);
  if (bytes == 0 || first.holds(message.span.begin, bytes)) return false;
  if (buffer != MPI_BOTTOM)
    return !message.layout.is_contiguous() && transports::lives_on_device(first.kind) &&
           first.range_bytes != 0;
  return transports::cuda_in_use() &&
         (transports::lives_on_device(first.kind) || first.kind == transports::BufferKind::unknown ||
          transports::reaches_device(first.pointer, message.layout));
}

}  // namespace

Layout layout_of(MPI_Datatype datatype, MPI_Count count) {
  if (std::size_t bytes = 0; is_simple(datatype, bytes)) return Layout::contiguous(bytes * as_size(count));
  if (datatype == MPI_DATATYPE_NULL || count <= 0) return {};
  if (DatatypeContents::is_predefined(datatype)) {
    return layout_of_named(datatype).repeated(as_size(count), readable_extent_of(datatype));
  }
  return DerivedElement(datatype)->of(count);
}

bool is_contiguous(MPI_Datatype datatype, MPI_Count count, std::ptrdiff_t* offset, std::size_t* bytes) {
  *offset = 0;
  *bytes = 0;
  if (std::size_t size = 0; is_simple(datatype, size)) {
    *bytes = size * as_size(count);
    return true;
  }
  if (datatype == MPI_DATATYPE_NULL || count <= 0) return true;
  if (DatatypeContents::is_predefined(datatype)) return false;
  const DerivedElement element(datatype);
  const std::size_t one = element->layout.bytes();
  if (!element->layout.is_contiguous()) return false;
  if (count > 1 && one > 0 && element->extent != static_cast<std::ptrdiff_t>(one)) return false;
  *offset = element->layout.first_offset();
  *bytes = one * as_size(count);
  return true;
}

transports::BufferView view_of(const void* buffer, MPI_Count count, MPI_Datatype datatype) {
  PlacedLayout message = message_of(datatype, count);
  transports::BufferView view{.buffer = transports::inspect(address_of_first_byte(buffer, message))};
  const bool may_be_in_parts = may_be_scattered(buffer, view.buffer, message);
  view.layout = std::move(message.layout);
  if (may_be_in_parts) [[unlikely]]
    transports::find_parts(view);
  return view;
}

bool touches_device(const void* buffer, MPI_Count count, MPI_Datatype datatype) {
  if (is_refused(count, datatype)) return false;
  if (buffer != MPI_BOTTOM) return transports::is_on_device(buffer);
  if (!transports::cuda_in_use()) return false;
  if (std::size_t bytes = 0; is_simple(datatype, bytes)) return false;  // it holds no address
  const PlacedLayout message = message_of(datatype, count);
  return transports::reaches_device(address_of_first_byte(buffer, message), message.layout);
}

}  // namespace penstock::interpose
