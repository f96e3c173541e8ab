#include "interpose/record/run/nvtx_names.hpp"

#include "interpose/record/utf8.hpp"

namespace penstock::record {

std::string to_utf8(const wchar_t* wide) {
  std::string text;
  for (; *wide != 0; ++wide) append_utf8(text, static_cast<std::uint32_t>(*wide));
  return text;
}

std::uint32_t id_of(const char* text) noexcept {
  return text == nullptr ? trace::no_string : intern(text);
}

std::uint32_t id_of(const wchar_t* text) noexcept try {
  return text == nullptr ? trace::no_string : intern(to_utf8(text));
} catch (...) {
  return trace::no_string;
}

std::uint32_t id_of(const nvtx::EventAttributes* attributes) noexcept {
  if (attributes == nullptr) return trace::no_string;
  switch (attributes->message_type) {
    case nvtx::message_ascii:
      return id_of(attributes->message.ascii);
    case nvtx::message_unicode:
      return id_of(attributes->message.unicode);
    case nvtx::message_registered: {
      auto* named = static_cast<Named*>(const_cast<void*>(attributes->message.registered));
      return named == nullptr ? trace::no_string : named->id();
    }
    default:
      return trace::no_string;
  }
}

std::uint32_t id_of_domain(void* domain) noexcept {
  return domain == nullptr ? trace::no_string : static_cast<Named*>(domain)->id();
}

NcclSchemas* nccl_schemas_of(void* domain) noexcept {
  return domain == nullptr ? nullptr : static_cast<Named*>(domain)->nccl_schemas();
}

}  // namespace penstock::record
