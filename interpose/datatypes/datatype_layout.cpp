#include "interpose/datatypes/datatype_layout.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "interpose/calls/errors.hpp"
#include "interpose/datatypes/datatype_contents.hpp"
#include "transports/device_memory/parts.hpp"
#include "transports/machine.hpp"

namespace penstock::interpose {
namespace {

using transports::Block;
using transports::Layout;
using transports::OffsetRange;

constexpr std::size_t as_size(std::ptrdiff_t number) noexcept {
  return static_cast<std::size_t>(std::max<std::ptrdiff_t>(number, 0));
}

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

/// One element of a datatype. `extent` is the distance from one element to the next.
struct Element {
  Layout layout;
  std::ptrdiff_t extent = 0;

  [[nodiscard]] Layout of(MPI_Count count) const {
    return count == 1 ? layout : layout.repeated(as_size(count), extent);
  }
};

/// The data that a derived type keeps: its element, and the layout of its last message, as the next one
/// probably has the same count. Thread: any.
class KeptElement {
 public:
  explicit KeptElement(Element element) : element_(std::move(element)) {}

  [[nodiscard]] const Element& element() const noexcept { return element_; }
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
  const Element element_;
  mutable std::mutex mutex_;
  mutable MPI_Count last_count_ = -1;
  mutable PlacedLayout last_;
};

void append(Layout& layout, const Layout& more, std::ptrdiff_t offset) {
  for (Block block : more.blocks()) {
    block.offset += offset;
    layout.append(block);
  }
}

std::size_t size_of(MPI_Datatype datatype) {
  MPI_Count size = 0;
  const int code = PMPI_Type_size_x(datatype, &size);
  if (code != MPI_SUCCESS) throw UnreadableDatatype("MPI_Type_size", code);
  return as_size(size);
}

std::ptrdiff_t readable_extent_of(MPI_Datatype datatype) {
  MPI_Count lower_bound = 0;
  MPI_Count extent = 0;
  const int code = PMPI_Type_get_extent_x(datatype, &lower_bound, &extent);
  if (code != MPI_SUCCESS) throw UnreadableDatatype("MPI_Type_get_extent", code);
  return extent;
}

/// Returns the layout of a predefined type. All lie in one piece except the pairs of MPI_MINLOC and
/// MPI_MAXLOC: a value and an int after it, laid out as a C struct of the two.
Layout layout_of_named(MPI_Datatype datatype) {
  const std::size_t size = size_of(datatype);
  const auto extent = readable_extent_of(datatype);
  if (extent == static_cast<std::ptrdiff_t>(size) || size <= sizeof(int)) return Layout::contiguous(size);
  const std::size_t value_bytes = size - sizeof(int);
  constexpr std::size_t alignment = alignof(int);
  Layout layout = Layout::contiguous(value_bytes);
  layout.append({.offset = static_cast<std::ptrdiff_t>((value_bytes + alignment - 1) / alignment * alignment),
                 .bytes = sizeof(int)});
  return layout;
}

Element element_of(MPI_Datatype datatype);

/// Returns the layout of blocks of one type: `lengths` and `offsets` return the n-th block's length and first
/// byte.
template <typename Lengths, typename Offsets>
Layout blocks_of(const Element& inner, std::ptrdiff_t count, Lengths lengths, Offsets offsets) {
  Layout layout;
  for (std::ptrdiff_t index = 0; index < count; ++index) {
    append(layout, inner.layout.repeated(as_size(lengths(index)), inner.extent), offsets(index));
  }
  return layout;
}

Layout layout_of_struct(DatatypeContents& contents) {
  const std::ptrdiff_t count = contents.next_count();
  const std::vector<std::ptrdiff_t> lengths = contents.next_counts(count);
  const std::vector<std::ptrdiff_t> offsets = contents.next_addresses(count);
  Layout layout;
  for (std::size_t index = 0; index < lengths.size(); ++index) {
    const Element inner = element_of(contents.next_type());
    append(layout, inner.layout.repeated(as_size(lengths[index]), inner.extent), offsets[index]);
  }
  return layout;
}

/// Returns the dimensions of an array, from the one that varies fastest to the slowest.
std::vector<std::size_t> fastest_first(std::size_t dimensions, int order) {
  std::vector<std::size_t> indices(dimensions);
  for (std::size_t index = 0; index < dimensions; ++index) {
    indices[index] = order == MPI_ORDER_C ? dimensions - 1 - index : index;
  }
  return indices;
}

Layout layout_of_subarray(DatatypeContents& contents) {
  const int dimensions = contents.next_integer();
  const std::vector<std::ptrdiff_t> sizes = contents.next_counts(dimensions);
  const std::vector<std::ptrdiff_t> subsizes = contents.next_counts(dimensions);
  const std::vector<std::ptrdiff_t> starts = contents.next_counts(dimensions);
  const int order = contents.next_integer();
  auto [layout, step] = element_of(contents.next_type());
  for (const std::size_t dimension : fastest_first(sizes.size(), order)) {
    layout = layout.repeated(as_size(subsizes[dimension]), step).shifted(starts[dimension] * step);
    step *= sizes[dimension];
  }
  return layout;
}

/// One dimension of a distributed array: the `inner` things, `step` bytes apart, that belong to one process.
struct Distribution {
  int kind;
  std::ptrdiff_t argument;
  std::ptrdiff_t processes;
  std::ptrdiff_t coordinate;  ///< of the process
};

Layout layout_of_share(const Layout& inner, std::ptrdiff_t step, std::ptrdiff_t size, Distribution share) {
  if (share.kind == MPI_DISTRIBUTE_NONE) return inner.repeated(as_size(size), step);
  const bool cyclic = share.kind == MPI_DISTRIBUTE_CYCLIC;
  std::ptrdiff_t block = share.argument;
  if (block == MPI_DISTRIBUTE_DFLT_DARG) block = cyclic ? 1 : (size + share.processes - 1) / share.processes;
  const std::ptrdiff_t round = cyclic ? block * share.processes : size;
  Layout layout;
  for (std::ptrdiff_t start = share.coordinate * block; start < size && round > 0; start += round) {
    append(layout, inner.repeated(as_size(std::min(block, size - start)), step), start * step);
  }
  return layout;
}

Layout layout_of_darray(DatatypeContents& contents) {
  std::ptrdiff_t processes_left = contents.next_integer();
  std::ptrdiff_t rank_left = contents.next_integer();
  const int dimensions = contents.next_integer();
  const std::vector<std::ptrdiff_t> sizes = contents.next_counts(dimensions);
  const std::vector<int> kinds = contents.next_integers(dimensions);
  const std::vector<int> arguments = contents.next_integers(dimensions);
  const std::vector<int> processes = contents.next_integers(dimensions);
  const int order = contents.next_integer();
  auto [layout, step] = element_of(contents.next_type());

  // the process grid has ranks in row-major order, whatever the order of the array (MPI-4 §5.1.4)
  std::vector<std::ptrdiff_t> coordinates;
  for (const int along : processes) {
    processes_left /= std::max(along, 1);
    coordinates.push_back(processes_left > 0 ? rank_left / processes_left : 0);
    rank_left = processes_left > 0 ? rank_left % processes_left : 0;
  }
  for (const std::size_t dimension : fastest_first(sizes.size(), order)) {
    layout = layout_of_share(
        layout, step, sizes[dimension],
        {kinds[dimension], arguments[dimension], processes[dimension], coordinates[dimension]});
    step *= sizes[dimension];
  }
  return layout;
}

Layout layout_of_derived(DatatypeContents& contents) {
  switch (contents.combiner()) {
    case Combiner::structure:
      return layout_of_struct(contents);
    case Combiner::subarray:
      return layout_of_subarray(contents);
    case Combiner::darray:
      return layout_of_darray(contents);
    default:
      break;
  }
  // The others are made of one type, which is their last argument but the only one of its kind.
  const Element inner = element_of(contents.next_type());
  const auto in_elements = [&](std::ptrdiff_t number) { return number * inner.extent; };
  switch (contents.combiner()) {
    case Combiner::contiguous:
      return inner.layout.repeated(as_size(contents.next_count()), inner.extent);
    case Combiner::vector:
    case Combiner::hvector: {
      const std::ptrdiff_t count = contents.next_count();
      const std::ptrdiff_t length = contents.next_count();
      const std::ptrdiff_t stride = contents.combiner() == Combiner::vector
                                        ? in_elements(contents.next_count())
                                        : contents.next_address();
      return inner.layout.repeated(as_size(length), inner.extent).repeated(as_size(count), stride);
    }
    case Combiner::indexed:
    case Combiner::hindexed: {
      const std::ptrdiff_t count = contents.next_count();
      const std::vector<std::ptrdiff_t> lengths = contents.next_counts(count);
      const bool by_element = contents.combiner() == Combiner::indexed;
      return blocks_of(
          inner, count, [&](std::ptrdiff_t index) { return lengths[as_size(index)]; },
          [&](std::ptrdiff_t) {
            return by_element ? in_elements(contents.next_count()) : contents.next_address();
          });
    }
    case Combiner::indexed_block:
    case Combiner::hindexed_block: {
      const std::ptrdiff_t count = contents.next_count();
      const std::ptrdiff_t length = contents.next_count();
      const bool by_element = contents.combiner() == Combiner::indexed_block;
      return blocks_of(
          inner, count, [&](std::ptrdiff_t) { return length; },
          [&](std::ptrdiff_t) {
            return by_element ? in_elements(contents.next_count()) : contents.next_address();
          });
    }
    default:  // dup, resized: other bounds, the same bytes
      return inner.layout;
  }
}

Element element_of(MPI_Datatype datatype) {
  Element element;
  element.extent = readable_extent_of(datatype);
  if (DatatypeContents::is_predefined(datatype)) {
    element.layout = layout_of_named(datatype);
  } else {
    DatatypeContents contents(datatype);
    element.layout = layout_of_derived(contents);
  }
  return element;
}

/// Returns the attribute key under which a derived type keeps its KeptElement. A duplicate of the type makes
/// its own.
int attribute_key() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    PMPI_Type_create_keyval(
        [](MPI_Datatype, int, void*, void*, void*, int* flag) {
          *flag = 0;
          return MPI_SUCCESS;
        },
        [](MPI_Datatype, int, void* value, void*) {
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
  const Element* operator->() const noexcept { return &element_->element(); }
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
  if (buffer != MPI_BOTTOM) return transports::is_on_device(buffer);
  if (!transports::cuda_in_use()) return false;
  if (std::size_t bytes = 0; is_simple(datatype, bytes)) return false;  // it holds no address
  const PlacedLayout message = message_of(datatype, count);
  return transports::reaches_device(address_of_first_byte(buffer, message), message.layout);
}

}  // namespace penstock::interpose
