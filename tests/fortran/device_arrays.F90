! Arrays of integers in device memory, which the host must not touch, and what the tests compare. Knows no MPI.
module device_arrays
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none

  integer :: failures = 0
  integer(c_int), parameter, private :: host_to_device = 1, device_to_host = 2

  interface
    integer(c_int) function cuda_get_device_count(count) bind(C, name='cudaGetDeviceCount')
      import :: c_int
      integer(c_int), intent(out) :: count
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
    integer(c_int) function cuda_free(address) bind(C, name='cudaFree')
      import :: c_int, c_ptr
      type(c_ptr), value :: address
    end function
    integer(c_int) function cuda_memcpy(destination, source, bytes, direction) bind(C, name='cudaMemcpy')
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: destination, source
      integer(c_size_t), value :: bytes
      integer(c_int), value :: direction
    end function
  end interface

contains

  integer function gpu_count()
    integer(c_int) :: count
    gpu_count = 0
    if (cuda_get_device_count(count) == 0) gpu_count = count
  end function

  ! Returns device memory with these values.
  function on_device(values) result(array)
    integer, intent(in) :: values(:)
    integer, pointer, contiguous :: array(:)
    type(c_ptr) :: address
    if (cuda_malloc(address, bytes_of(size(values))) /= 0) error stop 'no device memory'
    call c_f_pointer(address, array, [size(values)])
    call write_to(array, values)
  end function

  subroutine write_to(array, values)
    integer, pointer, contiguous, intent(in) :: array(:)
    integer, intent(in) :: values(:)
    integer, allocatable, target :: copy(:)
    copy = values
    if (cuda_memcpy(c_loc(array), c_loc(copy), bytes_of(size(copy)), host_to_device) /= 0) error stop 'no upload'
  end subroutine

  function values_of(array) result(values)
    integer, pointer, contiguous, intent(in) :: array(:)
    integer, allocatable, target :: values(:)
    allocate (values(size(array)))
    if (cuda_memcpy(c_loc(values), c_loc(array), bytes_of(size(array)), device_to_host) /= 0) error stop 'no download'
  end function

  subroutine free_device(array)
    integer, pointer, contiguous, intent(inout) :: array(:)
    if (cuda_free(c_loc(array)) /= 0) error stop 'cudaFree failed'
    nullify (array)
  end subroutine

  integer(c_size_t) function bytes_of(n)
    integer, intent(in) :: n
    bytes_of = 4_c_size_t*n
  end function

  ! Values that tell rank, message and place apart. They do not increase: such lists may travel as bitmaps.
  function numbers(n, seed) result(values)
    integer, intent(in) :: n, seed
    integer, allocatable :: values(:)
    integer :: i
    values = [(1000000*seed + mod(3499*i, 999983), i=1, n)]
  end function

  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    failures = failures + 1
    write (error_unit, '(2a)') 'FAILED: ', what
  end subroutine

  subroutine expect_values(array, values, what)
    integer, pointer, contiguous, intent(in) :: array(:)
    integer, intent(in) :: values(:)
    character(*), intent(in) :: what
    call expect(all(values_of(array) == values), what)
  end subroutine

end module
