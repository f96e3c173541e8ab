/* What a program asks before it hands device pointers to MPI: compile with -I<here>, include <mpi-ext.h>.
 * Stands in for, and goes on to, the MPI library's own header of that name (Open MPI has one, MPICH has not).
 */
#ifndef PENSTOCK_MPI_EXT_H
#define PENSTOCK_MPI_EXT_H

#ifdef __GNUC__
#pragma GCC system_header /* #include_next is an extension, and -pedantic would say so */
#endif

#include <mpi.h> /* Open MPI's header needs it, and does not say so */

#if defined(__has_include_next)
#if __has_include_next(<mpi-ext.h>)
#include_next <mpi-ext.h>
#endif
#endif

/* The program may pass device pointers; whether they are served is known when it runs. */
#undef MPIX_CUDA_AWARE_SUPPORT
#define MPIX_CUDA_AWARE_SUPPORT 1

#ifdef __cplusplus
extern "C" {
#endif

/* 1 when device buffers are served in this process: by Penstock, or by the MPI library itself; else 0.
 * Under Penstock it may be called at any time; MPICH's own aborts before MPI_Init. */
int MPIX_Query_cuda_support(void);

#ifdef __cplusplus
}
#endif

#endif
