// The small vector types of kernels and launches, with CUDA's names and layouts.
#ifndef SIMULATED_GPU_VECTOR_TYPES_H
#define SIMULATED_GPU_VECTOR_TYPES_H

struct uint3 {
  unsigned int x, y, z;
};
struct int2 {
  int x, y;
};
struct float2 {
  float x, y;
};
struct double2 {
  double x, y;
};
struct float4 {
  float x, y, z, w;
};

struct dim3 {
  unsigned int x, y, z;
#ifdef __cplusplus
  constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1) : x(vx), y(vy), z(vz) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const {
    return uint3{x, y, z};
  }
#endif
};
#ifndef __cplusplus
typedef struct dim3 dim3;
#endif

#endif
