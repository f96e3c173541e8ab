! The command line.
module options
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none

  type :: run_options
    integer :: grid(2) = [2048, 2048]
    integer :: steps = 500
    logical :: by_hand = .false., verify = .false., json = .false., help = .false.
  end type

contains

  ! Returns false, and says why if `speaks`, where the command line cannot be used.
  logical function read_options(o, speaks)
    type(run_options), intent(out) :: o
    logical, intent(in) :: speaks
    integer :: i, error, more, unused(3)
    character(64) :: name, value
    read_options = .false.
    i = 1
    do while (i <= command_argument_count())
      call get_command_argument(i, name)
      value = ''
      if (i < command_argument_count()) call get_command_argument(i + 1, value)
      error = 0
      select case (name)
      case ('--verify')
        o%verify = .true.
      case ('--json')
        o%json = .true.
      case ('--help')
        o%help = .true.
      case ('--grid')
        value = replaced(value, 'x', ' ')
        read (value, *, iostat=error) o%grid
        read (value, *, iostat=more) unused
        if (more == 0) error = 1  ! a third number
        i = i + 1
      case ('--steps')
        read (value, *, iostat=error) o%steps
        i = i + 1
      case ('--exchange')
        o%by_hand = value == 'staged-by-hand'
        if (.not. o%by_hand .and. value /= 'direct') error = 1
        i = i + 1
      case default
        error = 1
      end select
      if (error /= 0) then
        if (speaks) write (error_unit, '(4a)') 'heat: not understood: ', trim(name), ' ', trim(value)
        return
      end if
      i = i + 1
    end do
    read_options = all(o%grid > 0) .and. o%steps >= 0
    if (.not. speaks) return
    if (any(o%grid <= 0)) write (error_unit, '(a)') 'heat: the grid needs cells'
    if (o%steps < 0) write (error_unit, '(a)') 'heat: --steps cannot be negative'
  end function

  function replaced(text, old, new) result(changed)
    character(*), intent(in) :: text
    character(1), intent(in) :: old, new
    character(len(text)) :: changed
    integer :: i
    changed = text
    do i = 1, len(text)
      if (text(i:i) == old) changed(i:i) = new
    end do
  end function

  subroutine print_help()
    print '(a)', 'usage: heat [--grid XxY] [--steps N] [--exchange direct|staged-by-hand] [--verify] [--json]', &
      '  heat in a periodic plane, by explicit steps, on the GPUs of an MPI job'
  end subroutine

end module
