// What python_headers.c tells.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct PythonOffset {
  const char* name;  // as in python_layout.hpp; null behind the last one
  size_t offset;
};
extern const unsigned python_of_headers;  // 3.minor
extern const struct PythonOffset python_offsets[];

#ifdef __cplusplus
}
#endif
