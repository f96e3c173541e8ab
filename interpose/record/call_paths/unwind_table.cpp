#include "interpose/record/call_paths/unwind_table.hpp"

#include <array>
#include <cstddef>

#include "interpose/record/call_paths/unwind_entry.hpp"

namespace penstock::record {
namespace {

// registers by their numbers in DWARF on x86-64
constexpr std::uint64_t frame_pointer = 6;
constexpr std::uint64_t stack_pointer = 7;

/// The state that the instructions of a table describe at one place of a function.
struct Row {
  FrameRule rule{};
  bool end_is_known = false;  ///< else `rule` has no end that can be followed
  bool returns_as_usual = false;
};

/// Follows the instructions of an entry up to one place of the function.
class RowMachine {
 public:
  RowMachine(const UnwindEntry& entry, std::uint64_t address) noexcept : entry_(entry), address_(address) {}

  /// Returns false where an instruction is not understood.
  bool run() noexcept {
    if (!follow(entry_.common_instructions)) return false;
    initial_ = row_;
    at_ = entry_.function;
    return follow(entry_.instructions);
  }
  [[nodiscard]] const Row& row() const noexcept { return row_; }

 private:
  bool follow(ByteRange range) noexcept {
    Bytes bytes(range.begin, range);
    while (!bytes.at_end()) {
      const auto byte = bytes.read<std::uint8_t>();
      const std::uint8_t low = byte & 0x3f;
      switch (byte & 0xc0) {
        case 0x40:  // DW_CFA_advance_loc
          if (!advance(low)) return true;
          break;
        case 0x80:  // DW_CFA_offset
          save(low, in_units(bytes.unsigned_leb()));
          break;
        case 0xc0:  // DW_CFA_restore
          restore(low);
          break;
        default: {
          bool goes_on = true;
          if (!follow_other(byte, bytes, goes_on)) return false;
          if (!goes_on) return bytes.ok();
        }
      }
    }
    return bytes.ok();
  }

  /// Follows an instruction that has a byte of its own. Returns false if it is unknown.
  bool follow_other(std::uint8_t byte, Bytes& bytes, bool& goes_on) noexcept {
    switch (byte) {
      case 0x00:  // DW_CFA_nop
        return true;
      case 0x01:  // DW_CFA_set_loc
        at_ = bytes.pointer(entry_.encoding);
        goes_on = at_ <= address_;
        return true;
      case 0x02:  // DW_CFA_advance_loc1, 2, 4
        goes_on = advance(bytes.read<std::uint8_t>());
        return true;
      case 0x03:
        goes_on = advance(bytes.read<std::uint16_t>());
        return true;
      case 0x04:
        goes_on = advance(bytes.read<std::uint32_t>());
        return true;
      case 0x05: {  // DW_CFA_offset_extended
        const std::uint64_t which = bytes.unsigned_leb();
        save(which, in_units(bytes.unsigned_leb()));
        return true;
      }
      case 0x11: {  // DW_CFA_offset_extended_sf
        const std::uint64_t which = bytes.unsigned_leb();
        save(which, in_units(static_cast<std::uint64_t>(bytes.signed_leb())));
        return true;
      }
      case 0x06:  // DW_CFA_restore_extended
        restore(bytes.unsigned_leb());
        return true;
      case 0x08:  // DW_CFA_same_value
        keep(bytes.unsigned_leb());
        return true;
      case 0x07:  // DW_CFA_undefined
        lose(bytes.unsigned_leb());
        return true;
      case 0x09:  // DW_CFA_register
      case 0x14:  // DW_CFA_val_offset, _sf
      case 0x15: {
        lose(bytes.unsigned_leb());
        bytes.unsigned_leb();
        return true;
      }
      case 0x0a:  // DW_CFA_remember_state
        if (depth_ == remembered_.size()) return false;
        remembered_[depth_++] = row_;
        return true;
      case 0x0b:  // DW_CFA_restore_state
        if (depth_ == 0) return false;
        row_ = remembered_[--depth_];
        return true;
      case 0x0c: {  // DW_CFA_def_cfa
        const std::uint64_t which = bytes.unsigned_leb();
        end_at(which, static_cast<std::int64_t>(bytes.unsigned_leb()));
        return true;
      }
      case 0x12: {  // DW_CFA_def_cfa_sf
        const std::uint64_t which = bytes.unsigned_leb();
        end_at(which, in_units(static_cast<std::uint64_t>(bytes.signed_leb())));
        return true;
      }
      case 0x0d:  // DW_CFA_def_cfa_register
        end_at(bytes.unsigned_leb(), row_.rule.offset);
        return true;
      case 0x0e:  // DW_CFA_def_cfa_offset
        row_.rule.offset = static_cast<std::int32_t>(bytes.unsigned_leb());
        return true;
      case 0x13:  // DW_CFA_def_cfa_offset_sf
        row_.rule.offset =
            static_cast<std::int32_t>(in_units(static_cast<std::uint64_t>(bytes.signed_leb())));
        return true;
      case 0x0f:  // DW_CFA_def_cfa_expression
        end_by_expression(bytes);
        return true;
      case 0x10:  // DW_CFA_expression
        save_by_expression(bytes);
        return true;
      case 0x16:  // DW_CFA_val_expression
        lose(bytes.unsigned_leb());
        bytes.skip(bytes.unsigned_leb());
        return true;
      case 0x2e:  // DW_CFA_GNU_args_size
        bytes.unsigned_leb();
        return true;
      default:
        return false;
    }
  }

  /// Returns a distance on the stack, which is any number if the table is damaged.
  [[nodiscard]] std::int64_t in_units(std::uint64_t number) const noexcept {
    return static_cast<std::int64_t>(number * static_cast<std::uint64_t>(entry_.data_unit));
  }
  /// Returns false if what follows is of places behind the one asked for.
  bool advance(std::uint64_t units) noexcept {
    at_ += units * entry_.code_unit;
    return at_ <= address_;
  }
  void end_at(std::uint64_t which, std::int64_t offset) noexcept {
    row_.end_is_known = which == stack_pointer || which == frame_pointer;
    row_.rule.end_by =
        which == frame_pointer ? FrameRule::EndBy::frame_pointer : FrameRule::EndBy::stack_pointer;
    row_.rule.offset = static_cast<std::int32_t>(offset);
  }
  void save(std::uint64_t which, std::int64_t offset) noexcept {
    if (which == frame_pointer) {
      row_.rule.callers = FrameRule::CallersFramePointer::at_end;
      row_.rule.saved_at = static_cast<std::int32_t>(offset);
    } else if (which == return_address_column) {
      row_.returns_as_usual = offset == -8;
    }
  }
  void keep(std::uint64_t which) noexcept {
    if (which == frame_pointer) row_.rule.callers = FrameRule::CallersFramePointer::unchanged;
    if (which == return_address_column) row_.returns_as_usual = false;
  }
  void lose(std::uint64_t which) noexcept {
    if (which == frame_pointer) row_.rule.callers = FrameRule::CallersFramePointer::lost;
    if (which == return_address_column) row_.returns_as_usual = false;
  }
  void restore(std::uint64_t which) noexcept {
    if (which == frame_pointer) {
      row_.rule.callers = initial_.rule.callers;
      row_.rule.saved_at = initial_.rule.saved_at;
    } else if (which == return_address_column) {
      row_.returns_as_usual = initial_.returns_as_usual;
    }
  }
  /// Reads an expression that begins with the frame pointer and a distance; -1 if it does not. Returns how
  /// many bytes of it follow.
  static std::int64_t behind_frame_pointer(Bytes& bytes, std::int32_t& distance) noexcept {
    constexpr std::uint8_t by_frame_pointer = 0x70 + frame_pointer;  // DW_OP_breg6
    const std::uint64_t length = bytes.unsigned_leb();
    Bytes inside = bytes;
    bytes.skip(length);
    if (inside.read<std::uint8_t>() != by_frame_pointer) return -1;
    distance = static_cast<std::int32_t>(inside.signed_leb());
    return static_cast<std::int64_t>(bytes.at()) - static_cast<std::int64_t>(inside.at());
  }
  /// Reads the one expression that compilers write, for functions that align their stack: the frame's end is
  /// saved beside the frame pointer.
  void end_by_expression(Bytes& bytes) noexcept {
    std::int32_t slot = 0;
    const std::uint64_t before = bytes.at();
    const std::int64_t left = behind_frame_pointer(bytes, slot);
    row_.end_is_known = left == 1;
    if (left != 1) return;
    Bytes last(bytes.at() - 1, {before, bytes.at()});
    constexpr std::uint8_t dereference = 0x06;  // DW_OP_deref
    row_.end_is_known = last.read<std::uint8_t>() == dereference;
    row_.rule.end_by = FrameRule::EndBy::saved_end;
    row_.rule.slot = slot;
    row_.rule.offset = 0;
  }
  void save_by_expression(Bytes& bytes) noexcept {
    const std::uint64_t which = bytes.unsigned_leb();
    std::int32_t distance = 0;
    const bool is_known = behind_frame_pointer(bytes, distance) == 0;
    if (which == frame_pointer && is_known) {
      row_.rule.callers = FrameRule::CallersFramePointer::at_frame_pointer;
      row_.rule.saved_at = distance;
    } else {
      lose(which);
    }
  }

  const UnwindEntry& entry_;
  const std::uint64_t address_;
  std::uint64_t at_ = 0;
  Row row_;
  Row initial_;
  std::array<Row, 8> remembered_{};  // one or two are usual
  std::size_t depth_ = 0;
};

}  // namespace

FrameRule rule_in_table(std::uint64_t index, ByteRange mapped, std::uint64_t address) noexcept {
  const std::uint64_t at = entry_for(index, mapped, address);
  UnwindEntry entry;
  if (at == 0 || !read_entry(at, mapped, entry) || address - entry.function >= entry.function_bytes)
    return {};
  RowMachine machine(entry, address);
  const bool is_usable = machine.run() && machine.row().end_is_known && machine.row().returns_as_usual;
  return is_usable && !entry.is_of_signal ? machine.row().rule : FrameRule{};
}

}  // namespace penstock::record
