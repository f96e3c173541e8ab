! Heat in a periodic plane: `mpiexec -n 4 penstock run heat_mpich --grid 4096x4096`.
program heat
  use gpu
  use halo
  use options
  implicit none
  real(c_double), parameter :: rate = 0.2d0, pi = acos(-1d0)
  type(run_options) :: o
  type(halo_exchange) :: h
  type(MPI_Comm) :: plane
  real(c_double), pointer, contiguous :: now(:, :), next(:, :)
  integer :: ranks, rank, grid_of_ranks(2), place(2), cells(2), first(2), status
  real(c_double) :: seconds, error

  call MPI_Init()
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  status = 0
  if (.not. read_options(o, rank == 0)) then
    status = 2
  else if (o%help) then
    if (rank == 0) call print_help()
  else
    call run()
  end if
  call MPI_Finalize()
  if (status /= 0) call exit(status)  ! every compiler has it; before GCC 12 gfortran knows no quiet `stop`

contains

  subroutine run()
    call take_gpu()
    grid_of_ranks = 0
    call MPI_Dims_create(ranks, 2, grid_of_ranks)
    if (any(o%grid < grid_of_ranks)) then
      if (rank == 0) write (error_unit, '(a)') 'heat: more ranks than cells'
      status = 2
      return
    end if
    call MPI_Cart_create(MPI_COMM_WORLD, 2, grid_of_ranks, [.true., .true.], .false., plane)
    call MPI_Cart_coords(plane, rank, 2, place)
    first = o%grid*place/grid_of_ranks
    cells = o%grid*(place + 1)/grid_of_ranks - first
    call open_halo(h, plane, cells(1), cells(2), o%by_hand)
    now => device_field(cells(1), cells(2))
    next => device_field(cells(1), cells(2))
    call write_field(now, expected(0))
    call take_steps()
    error = 0
    if (o%verify) then
      error = largest_error()
      if (error > 1d-12) status = 1
    end if
    if (rank == 0) call print_result()
    call close_halo(h)
    call MPI_Comm_free(plane)
  end subroutine

  subroutine take_steps()
    real(c_double), pointer, contiguous :: last(:, :)
    integer :: step
    call MPI_Barrier(plane)
    seconds = MPI_Wtime()
    do step = 1, o%steps
      ! sends wait for the kernel that was queued before them, so the host need not
      call exchange(h, now)
      call check(heat_diffuse(c_loc(now), c_loc(next), int(cells(1), c_int64_t), int(cells(2), c_int64_t), rate), 'start a kernel')
      last => now
      now => next
      next => last
    end do
    call check(cuda_device_synchronize(), 'wait for the GPU')
    call MPI_Barrier(plane)
    seconds = MPI_Wtime() - seconds
  end subroutine

  ! Returns the solution of this rank's cells, and zeros as ghost cells. The start is an eigenvector of a step: its
  ! eigenvalue to the power of the steps remains of it.
  function expected(steps) result(field)
    integer, intent(in) :: steps
    real(c_double), allocatable :: field(:, :)
    real(c_double) :: remaining
    integer :: x, y
    remaining = (1 - 4*rate*(sin(pi/o%grid(1))**2 + sin(2*pi/o%grid(2))**2))**steps
    allocate (field(cells(1) + 2, cells(2) + 2), source=0d0)
    do y = 1, cells(2)
      do x = 1, cells(1)
        field(x + 1, y + 1) = 1 + remaining*sin(2*pi*(first(1) + x)/o%grid(1))*cos(4*pi*(first(2) + y)/o%grid(2))
      end do
    end do
  end function

  subroutine write_field(field, values)
    real(c_double), pointer, contiguous, intent(in) :: field(:, :)
    real(c_double), contiguous, target, intent(in) :: values(:, :)
    call check(cuda_memcpy(c_loc(field), c_loc(values), 8_c_size_t*size(values), host_to_device), 'copy to the device')
  end subroutine

  real(c_double) function largest_error()
    real(c_double), allocatable, target :: field(:, :), wanted(:, :)
    allocate (field(cells(1) + 2, cells(2) + 2))
    call check(cuda_memcpy(c_loc(field), c_loc(now), 8_c_size_t*size(field), device_to_host), 'copy to the host')
    wanted = expected(o%steps)
    associate (x => cells(1) + 1, y => cells(2) + 1)
      largest_error = maxval(abs(field(2:x, 2:y) - wanted(2:x, 2:y)))
    end associate
    call MPI_Allreduce(MPI_IN_PLACE, largest_error, 1, MPI_DOUBLE_PRECISION, MPI_MAX, plane)
  end function

  subroutine print_result()
    real(c_double) :: updates_per_ns
    character(:), allocatable :: way
    updates_per_ns = real(o%grid(1), c_double)*o%grid(2)*o%steps/(seconds*1d9)
    way = 'direct'
    if (o%by_hand) way = 'staged-by-hand'
    if (o%json) then
      print '(a, i0, a, i0, a, i0, 3a, i0, a, g0, a, g0, 3a)', '{"example": "heat", "parameters": {"grid": [', o%grid(1), ', ', &
        o%grid(2), '], "steps": ', o%steps, ', "exchange": "', way, '", "ranks": ', ranks, '}, "time_s": ', seconds, &
        ', "figure_of_merit": {"value": ', updates_per_ns, ', "unit": "cell updates/ns"}, "verified": ', verdict(), '}'
      return
    end if
    print '(i0, a, i0, a, i0, a, i0, a, i0, a)', o%grid(1), ' x ', o%grid(2), ' cells on ', grid_of_ranks(1), ' x ', &
      grid_of_ranks(2), ' ranks, ', o%steps, ' steps'
    print '(g0.4, a, g0.4, a)', updates_per_ns, ' cell updates/ns (', seconds, ' s)'
    if (o%verify .and. status == 0) print '(a, es8.1)', 'verified: the largest error is ', error
    if (status /= 0) print '(a, es8.1)', 'WRONG: the largest error is ', error
  end subroutine

  function verdict() result(text)
    character(:), allocatable :: text
    text = 'null'
    if (o%verify) text = trim(merge('true ', 'false', status == 0))
  end function

end program
