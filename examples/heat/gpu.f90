! What the example needs of CUDA: the runtime's functions and its own kernel, by iso_c_binding.
module gpu
  use, intrinsic :: iso_c_binding
  use mpi_f08
  implicit none

  integer(c_int), parameter :: host_to_device = 1, device_to_host = 2

  interface
    integer(c_int) function cuda_get_device_count(devices) bind(C, name='cudaGetDeviceCount')
      import :: c_int
      integer(c_int), intent(out) :: devices
    end function
    integer(c_int) function cuda_set_device(device) bind(C, name='cudaSetDevice')
      import :: c_int
      integer(c_int), value :: device
    end function
    integer(c_int) function cuda_malloc(address, bytes) bind(C, name='cudaMalloc')
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), intent(out) :: address
      integer(c_size_t), value :: bytes
    end function
    integer(c_int) function cuda_memcpy(to, from, bytes, direction) bind(C, name='cudaMemcpy')
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: to, from
      integer(c_size_t), value :: bytes
      integer(c_int), value :: direction
    end function
    integer(c_int) function cuda_memcpy_2d(to, to_pitch, from, from_pitch, width, height, direction) bind(C, name='cudaMemcpy2D')
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: to, from
      integer(c_size_t), value :: to_pitch, from_pitch, width, height
      integer(c_int), value :: direction
    end function
    integer(c_int) function cuda_device_synchronize() bind(C, name='cudaDeviceSynchronize')
      import :: c_int
    end function
    integer(c_int) function heat_diffuse(from, to, nx, ny, rate) bind(C)
      import :: c_int, c_ptr, c_int64_t, c_double
      type(c_ptr), value :: from, to
      integer(c_int64_t), value :: nx, ny
      real(c_double), value :: rate
    end function
  end interface

contains

  ! An error of CUDA ends the job.
  subroutine check(error, what)
    integer(c_int), intent(in) :: error
    character(*), intent(in) :: what
    if (error == 0) return
    print '(3a, i0)', 'heat: cannot ', what, ': CUDA error ', error
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine

  ! Gives this rank one of its node's GPUs.
  subroutine take_gpu()
    type(MPI_Comm) :: node
    integer :: rank
    integer(c_int) :: devices
    call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, node)
    call MPI_Comm_rank(node, rank)
    call MPI_Comm_free(node)
    call check(cuda_get_device_count(devices), 'find a GPU')
    call check(cuda_set_device(mod(rank, devices)), 'use a GPU')
  end subroutine

  ! Returns uninitialised device memory for nx x ny cells and a ghost cell on each side. The host must not touch it.
  function device_field(nx, ny) result(field)
    integer, intent(in) :: nx, ny
    real(c_double), pointer, contiguous :: field(:, :)
    type(c_ptr) :: address
    call check(cuda_malloc(address, 8_c_size_t*(nx + 2)*(ny + 2)), 'allocate device memory')
    call c_f_pointer(address, field, [nx + 2, ny + 2])
  end function

end module
