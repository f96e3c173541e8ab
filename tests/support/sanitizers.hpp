// Whether this program was built with a sanitizer that keeps freed memory aside or notes accesses beside it.
#pragma once

namespace penstock::test_support {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)  // GCC
inline constexpr bool built_with_a_sanitizer = true;
#elif defined(__has_feature)  // Clang
inline constexpr bool built_with_a_sanitizer =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool built_with_a_sanitizer = false;
#endif

}  // namespace penstock::test_support
