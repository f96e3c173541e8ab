! The exchange of ghost cells with four neighbours. MPI gets the device's array as it is, and a type for each side of it:
! two sides are contiguous, two have a cell in each column.
module halo
  use gpu
  implicit none
  private
  public :: halo_exchange, open_halo, exchange, close_halo

  integer, parameter :: sides = 4
  integer, parameter :: opposite(sides) = [2, 1, 4, 3]

  type :: halo_exchange
    type(MPI_Comm) :: communicator
    integer :: nx, ny
    integer :: neighbours(sides)
    type(MPI_Datatype) :: edges(sides), ghosts(sides)
    logical :: by_hand                        ! through host memory, as for an MPI that knows no GPU
    real(c_double), pointer, contiguous :: host(:, :) => null()  ! for that: the array once more
  end type

contains

  subroutine open_halo(h, communicator, nx, ny, by_hand)
    type(halo_exchange), intent(out) :: h
    type(MPI_Comm), intent(in) :: communicator  ! Cartesian
    integer, intent(in) :: nx, ny
    logical, intent(in) :: by_hand
    h%communicator = communicator
    h%nx = nx
    h%ny = ny
    h%by_hand = by_hand
    if (by_hand) allocate (h%host(nx + 2, ny + 2))
    call MPI_Cart_shift(communicator, 0, 1, h%neighbours(1), h%neighbours(2))
    call MPI_Cart_shift(communicator, 1, 1, h%neighbours(3), h%neighbours(4))
    h%edges = [block_type(h, [1, ny], [1, 1]), block_type(h, [1, ny], [nx, 1]), &
               block_type(h, [nx, 1], [1, 1]), block_type(h, [nx, 1], [1, ny])]
    h%ghosts = [block_type(h, [1, ny], [0, 1]), block_type(h, [1, ny], [nx + 1, 1]), &
                block_type(h, [nx, 1], [1, 0]), block_type(h, [nx, 1], [1, ny + 1])]
  end subroutine

  function block_type(h, lengths, starts) result(datatype)
    type(halo_exchange), intent(in) :: h
    integer, intent(in) :: lengths(2), starts(2)
    type(MPI_Datatype) :: datatype
    call MPI_Type_create_subarray(2, [h%nx + 2, h%ny + 2], lengths, starts, MPI_ORDER_FORTRAN, MPI_DOUBLE_PRECISION, datatype)
    call MPI_Type_commit(datatype)
  end function

  subroutine exchange(h, field)
    type(halo_exchange), intent(inout) :: h
    real(c_double), pointer, contiguous, intent(in) :: field(:, :)  ! on the device
    if (h%by_hand) then
      call copy_sides(h, field, device_to_host, 1)
      call exchange_by_mpi(h, h%host)
      call copy_sides(h, field, host_to_device, 0)
    else
      call exchange_by_mpi(h, field)
    end if
  end subroutine

  subroutine exchange_by_mpi(h, field)
    type(halo_exchange), intent(in) :: h
    real(c_double), contiguous, intent(inout), asynchronous :: field(:, :)
    type(MPI_Request) :: requests(2*sides)
    integer :: side
    do side = 1, sides
      call MPI_Irecv(field, 1, h%ghosts(side), h%neighbours(side), opposite(side), h%communicator, requests(side))
    end do
    do side = 1, sides
      call MPI_Isend(field, 1, h%edges(side), h%neighbours(side), side, h%communicator, requests(sides + side))
    end do
    call MPI_Waitall(2*sides, requests, MPI_STATUSES_IGNORE)
  end subroutine

  ! Copies what is `inset` cells from the border of the array: 0, the ghost cells, or 1, the edges that are sent.
  subroutine copy_sides(h, field, direction, inset)
    type(halo_exchange), intent(inout), target :: h
    real(c_double), pointer, contiguous, intent(in) :: field(:, :)
    integer(c_int), intent(in) :: direction
    integer, intent(in) :: inset
    call copy(1 + inset, 2, 1, h%ny)
    call copy(h%nx + 2 - inset, 2, 1, h%ny)
    call copy(2, 1 + inset, h%nx, 1)
    call copy(2, h%ny + 2 - inset, h%nx, 1)

  contains

    subroutine copy(x, y, width, height)
      integer, intent(in) :: x, y, width, height
      integer(c_size_t) :: pitch
      type(c_ptr) :: on_host, on_device
      pitch = 8_c_size_t*(h%nx + 2)
      on_host = c_loc(h%host(x, y))
      on_device = c_loc(field(x, y))
      if (direction == device_to_host) then
        call check(cuda_memcpy_2d(on_host, pitch, on_device, pitch, 8_c_size_t*width, int(height, c_size_t), direction), 'copy')
      else
        call check(cuda_memcpy_2d(on_device, pitch, on_host, pitch, 8_c_size_t*width, int(height, c_size_t), direction), 'copy')
      end if
    end subroutine

  end subroutine

  subroutine close_halo(h)
    type(halo_exchange), intent(inout) :: h
    integer :: side
    do side = 1, sides
      call MPI_Type_free(h%edges(side))
      call MPI_Type_free(h%ghosts(side))
    end do
  end subroutine

end module
