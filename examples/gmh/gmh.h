/* GMH: message passing for threads that own GPUs, after its paper (README.md). C11 and C++20. A program links
 * MPI, CUDA and this library. All functions except gmh_error_string return a gmh_error. Handles are opaque
 * and belong to the thread that created them. Only threads that gmh_init has started may call the functions
 * other than gmh_init and gmh_error_string. */
#ifndef GMH_H
#define GMH_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef enum gmh_error {
  GMH_OK = 0,
  GMH_ERR_ARGUMENT = 1,     /* an invalid argument */
  GMH_ERR_HANDLE = 2,       /* a handle that was freed, or never created */
  GMH_ERR_THREAD = 3,       /* a handle of another thread, or a thread that GMH has not started */
  GMH_ERR_THREAD_LEVEL = 4, /* MPI runs below MPI_THREAD_MULTIPLE */
  GMH_ERR_GPUS = 5,         /* fewer GPUs than requested */
  GMH_ERR_PEER = 6,         /* no such GMH rank */
  GMH_ERR_TAG = 7,          /* a tag that is negative, or above the bound */
  GMH_ERR_PERMISSION = 8,   /* memory without the permission to be read, or written */
  GMH_ERR_MEMORY = 9,       /* out of memory, on the GPU or the host */
  GMH_ERR_CUDA = 10,        /* CUDA failed; the GPU may be lost */
  GMH_ERR_MPI = 11,         /* MPI failed */
  GMH_ERR_TASK = 12,        /* a function of the program returned an error */
  GMH_ERR_STUCK = 13,       /* no command of the list can ever start */
  GMH_ERR_UNFINISHED = 14,  /* a thread function returned with messages pending */
  GMH_ERR_INTERNAL = 15     /* an exception in the program's functions, or a bug in GMH */
} gmh_error;

/* Returns the meaning of a code. If the calling thread's last failed call returned it, the string includes
 * the details of that failure. Valid until the thread's next failure. */
const char* gmh_error_string(int error);

typedef struct gmh_tasklist* gmh_tasklist_t; /* commands on several streams */
typedef struct gmh_stream* gmh_stream_t;
typedef struct gmh_event* gmh_event_t; /* completion of a command or a message */
typedef struct gmh_mem* gmh_mem_t;     /* GPU memory with a pinned shadow in host memory */

/* ---- Environment (paper III.B.1) ---- */

typedef void* (*gmh_thread_func_t)(gmh_tasklist_t list, void* argument);

/* Starts `gpus` threads in this process, each with a GPU of its own, and waits until all have returned.
 * Returns the first error of any. Collective over MPI_COMM_WORLD; processes may request different numbers, at
 * least one each. Initialises MPI unless the program has, which finalises MPI in any case. */
int gmh_init(int* argc, char*** argv, int gpus, gmh_thread_func_t function, void* argument);

int gmh_rank(gmh_tasklist_t list, int* rank); /* of this thread, from 0 */
int gmh_size(gmh_tasklist_t list, int* size); /* number of ranks */
int gmh_rank_of(gmh_tasklist_t list, int mpi_rank, int vgpu, int* rank);
int gmh_mpi_rank(gmh_tasklist_t list, int rank, int* mpi_rank);
int gmh_vgpu(gmh_tasklist_t list, int rank, int* vgpu); /* virtual GPU: counts from 0 in each process */

/* ---- Memory (III.B.2) ---- */

enum gmh_permission { GMH_READ = 1, GMH_WRITE = 2 }; /* for messages and copies */
enum gmh_mem_option { GMH_WITH_SHADOW = 0, GMH_NO_SHADOW = 1 };

int gmh_mem_create(gmh_tasklist_t list, size_t bytes, int permission, int option, gmh_mem_t* mem);
/* Creates a handle of a part of a memory, for messages from and into the middle of an array. */
int gmh_mem_part(gmh_mem_t mem, size_t offset, size_t bytes, gmh_mem_t* part);
/* Fails while the memory is in use by parts or by commands of a list. */
int gmh_mem_free(gmh_mem_t mem);
int gmh_mem_pointers(gmh_mem_t mem, void** gpu, void** host, size_t* bytes); /* each may be NULL */
int gmh_mem_to_host(gmh_mem_t mem, gmh_stream_t stream); /* into the shadow; asynchronous */
int gmh_mem_to_gpu(gmh_mem_t mem, gmh_stream_t stream);  /* from the shadow; asynchronous */

/* ---- Command lists (III.B.3, III.B.6) ---- */

enum gmh_priority { GMH_NORMAL = 0, GMH_URGENT = 1 }; /* urgent: the highest CUDA priority */
enum gmh_direction { GMH_TO_HOST = 0, GMH_TO_GPU = 1 };
enum gmh_control { GMH_EXIT = 0, GMH_RERUN = 1 };

typedef int (*gmh_kernel_t)(cudaStream_t stream, void* argument); /* queues work; returns 0, or an error */
typedef int (*gmh_cpu_task_t)(void* argument);                    /* returns 0, or an error */
typedef int (*gmh_control_task_t)(void* argument);                /* returns GMH_EXIT or GMH_RERUN */

/* Creates another list of the calling thread. Streams and events are freed together with their list. */
int gmh_create_tasklist(gmh_tasklist_t list, gmh_tasklist_t* other);
int gmh_free_tasklist(gmh_tasklist_t list);
int gmh_create_command_stream(gmh_tasklist_t list, gmh_stream_t* stream, int priority);
int gmh_stream_cuda(gmh_stream_t stream, cudaStream_t* cuda);

/* A command starts when the previous one on its stream has completed and the events that it waits for are
 * done; GPU work is queued earlier, and ordered by CUDA. `event` may be NULL. It is reset by each run of the
 * list. */
int gmh_add_gpu_kernel(gmh_tasklist_t list, gmh_stream_t stream, gmh_kernel_t function, void* argument,
                       int nevs, const gmh_event_t* evs_wait, gmh_event_t* event);
int gmh_add_cpu_task(gmh_tasklist_t list, gmh_stream_t stream, gmh_cpu_task_t function, void* argument,
                     int nevs, const gmh_event_t* evs_wait, gmh_event_t* event);
int gmh_add_copy(gmh_tasklist_t list, gmh_stream_t stream, gmh_mem_t mem, int direction, int nevs,
                 const gmh_event_t* evs_wait, gmh_event_t* event);
/* If `block` is not 0, the next command of the stream waits until the message has completed, else until it
 * has started. */
int gmh_add_send_buffer(gmh_tasklist_t list, gmh_stream_t stream, gmh_mem_t mem, int block, int peer, int tag,
                        int nevs, const gmh_event_t* evs_wait, gmh_event_t* event);
int gmh_add_recv_buffer(gmh_tasklist_t list, gmh_stream_t stream, gmh_mem_t mem, int block, int peer, int tag,
                        int nevs, const gmh_event_t* evs_wait, gmh_event_t* event);
/* Adds the list's last command. It runs after all others and decides whether they run again. */
int gmh_add_control_task(gmh_tasklist_t list, gmh_control_task_t function, void* argument);
/* Waits for what is queued on the legacy default stream, then runs all commands until the control task
 * returns GMH_EXIT, or once without control task. All commands have completed when it returns. */
int gmh_start(gmh_tasklist_t list);

/* ---- Events ---- */

/* The event of gmh_Isend or gmh_Irecv is freed once it is done, and the handle becomes NULL. The event of a
 * command stays valid. NULL is done. */
int gmh_wait(gmh_event_t* event);
int gmh_waitall(int nevs, gmh_event_t* events);
int gmh_test(gmh_event_t* event, int* done);
/* Names the event's command in profiles and error messages. */
int gmh_name(gmh_event_t event, const char* name);

/* ---- Point to point, the conventional form (III.B.4) ---- */

typedef enum gmh_datatype_t { GMH_BYTE, GMH_INT, GMH_INT64, GMH_FLOAT, GMH_DOUBLE } gmh_datatype_t;

/* Buffers are in GPU or host memory. A message starts when the work that is on the stream has completed, or
 * at once if `stream` is NULL. */
int gmh_Isend(gmh_tasklist_t list, gmh_stream_t stream, const void* buffer, int count, gmh_datatype_t type,
              int peer, int tag, gmh_event_t* event);
int gmh_Irecv(gmh_tasklist_t list, gmh_stream_t stream, void* buffer, int count, gmh_datatype_t type,
              int peer, int tag, gmh_event_t* event);
int gmh_Send(gmh_tasklist_t list, gmh_stream_t stream, const void* buffer, int count, gmh_datatype_t type,
             int peer, int tag);
int gmh_Recv(gmh_tasklist_t list, gmh_stream_t stream, void* buffer, int count, gmh_datatype_t type, int peer,
             int tag);

/* ---- Collectives (III.B.5): all ranks call them in the same order ---- */

typedef enum gmh_op_t { GMH_SUM, GMH_MIN, GMH_MAX } gmh_op_t;

/* Each starts after all previous commands of the list have completed, and completes before the next ones
 * start. */
int gmh_add_barrier(gmh_tasklist_t list, gmh_event_t* event);
int gmh_add_bcast(gmh_tasklist_t list, gmh_mem_t mem, int root, gmh_event_t* event);
int gmh_add_reduce(gmh_tasklist_t list, gmh_mem_t send, gmh_mem_t receive, gmh_datatype_t type, gmh_op_t op,
                   int root, gmh_event_t* event);
int gmh_add_allreduce(gmh_tasklist_t list, gmh_mem_t send, gmh_mem_t receive, gmh_datatype_t type,
                      gmh_op_t op, gmh_event_t* event);
/* Buffers are in GPU memory. The list's streams are idle before the call starts. */
int gmh_Barrier(gmh_tasklist_t list);
int gmh_Bcast(gmh_tasklist_t list, void* buffer, int count, gmh_datatype_t type, int root);
int gmh_Reduce(gmh_tasklist_t list, const void* send, void* receive, int count, gmh_datatype_t type,
               gmh_op_t op, int root);
int gmh_Allreduce(gmh_tasklist_t list, const void* send, void* receive, int count, gmh_datatype_t type,
                  gmh_op_t op);
int gmh_Gather(gmh_tasklist_t list, const void* send, void* receive, int count, gmh_datatype_t type,
               int root);
int gmh_Allgather(gmh_tasklist_t list, const void* send, void* receive, int count, gmh_datatype_t type);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
