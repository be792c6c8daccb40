! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) the Regroup authors
!
! Jacobi's iteration on a square, by columns. Every few iterations all members gather the whole
! square; after deaths the survivors go on from the latest square that one of them has. The result is
! compared with that of one process, bit by bit. The arguments are those of mortal.h. With -DF08 by
! mpi_f08, which has the extension's calls in MPICH.
#ifdef F08
#define COMM_HANDLE type(MPI_Comm)
#define NUMBER_OF(comm) comm%MPI_VAL
#else
#define COMM_HANDLE integer
#define NUMBER_OF(comm) comm
#endif
program fault_jacobi
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  use, intrinsic :: iso_c_binding
  implicit none

  interface
    integer(c_int) function c_raise(sign) bind(C, name='raise')
      import :: c_int
      integer(c_int), value :: sign
    end function
    ! The signal after that time ends a process that does not handle it.
    integer(c_int) function c_ualarm(after, again) bind(C, name='ualarm')
      import :: c_int
      integer(c_int), value :: after, again
    end function
    ! MPICH's own subroutine gives the flag to nobody. Its handles are the same in both languages.
    integer(c_int) function c_agree(comm, flag) bind(C, name='MPIX_Comm_agree')
      import :: c_int
      integer(c_int), value :: comm
      integer(c_int), intent(inout) :: flag
    end function
  end interface

  integer, parameter :: n = 60, every = 7, sigkill = 9
  integer, parameter :: failed_class = 101, revoked_class = 103
#ifndef F08
  external :: MPIX_Comm_revoke, MPIX_Comm_shrink
#endif
  double precision :: square(0:n+1, 0:n+1), saved(0:n+1, 0:n+1), right(0:n+1, 0:n+1)
  COMM_HANDLE :: comm
  integer :: world_rank, error, rounds, seed, deaths, wrong
  integer :: now, saved_at, points, last_point
  logical :: failed

  call begin()
  call start_square(square)
  saved = square
  now = 0
  saved_at = 0
  do
    call iterate(failed)
    if (settled(failed)) exit
  end do
  call check()
  call MPI_Finalize(error)
  if (wrong > 0) stop 1

contains

  subroutine begin()
    character(len=200) :: word
    call MPI_Init(error)
    comm = MPI_COMM_WORLD
    call MPI_Comm_rank(comm, world_rank, error)
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, error)
    call get_command_argument(1, word)
    read (word, *) seed
    call get_command_argument(2, word)
    read (word, *) rounds
    deaths = 0
    wrong = 0
    points = 0
    last_point = 0
    call MPI_Barrier(comm, error)
    call get_command_argument(3, word)
    call read_plan(word)
  end subroutine

  subroutine read_plan(plan)
    character(len=*), intent(in) :: plan
    character(len=200) :: rest, item
    integer :: comma, colon, unit, rank, moment
    rest = plan
    do while (index(rest, ':') > 0)
      comma = index(rest, ',')
      if (comma == 0) comma = len_trim(rest) + 1
      item = rest(:comma - 1)
      rest = rest(comma + 1:)
      colon = index(item, ':')
      unit = index(item, 'us')
      read (item(:colon - 1), *) rank
      if (unit > 0) item(unit:) = ' '
      read (item(colon + 1:), *) moment
      if (rank /= world_rank) cycle
      if (unit == 0) then
        last_point = moment
      else
        error = c_ualarm(moment + 1, 0)
      end if
    end do
  end subroutine

  subroutine point()
    points = points + 1
    if (points == last_point) error = c_raise(sigkill)
  end subroutine

  subroutine fail(what, number)
    character(len=*), intent(in) :: what
    integer, intent(in) :: number
    print '(A,I0,3A,I0,A)', 'WRONG rank ', world_rank, ': ', what, ' (', number, ')'
    wrong = wrong + 1
  end subroutine

  logical function is_error(code, call)
    integer, intent(in) :: code
    character(len=*), intent(in) :: call
    is_error = code /= MPI_SUCCESS
    if (is_error .and. code /= failed_class .and. code /= revoked_class) call fail(call, code)
  end function

  subroutine start_square(s)
    double precision, intent(out) :: s(0:n+1, 0:n+1)
    integer :: i, j
    do j = 0, n + 1
      do i = 0, n + 1
        s(i, j) = modulo(i * 31 + j * 17 + seed, 101) / 101d0
      end do
    end do
  end subroutine

  ! A member's columns.
  subroutine share(rank, first, last)
    integer, intent(in) :: rank
    integer, intent(out) :: first, last
    integer :: members
    call MPI_Comm_size(comm, members, error)
    first = n * rank / members + 1
    last = n * (rank + 1) / members
  end subroutine

  subroutine step(s, first, last)
    double precision, intent(inout) :: s(0:n+1, 0:n+1)
    integer, intent(in) :: first, last
    double precision :: t(1:n, first:last)
    integer :: i, j
    do j = first, last
      do i = 1, n
        t(i, j) = 0.25d0 * (s(i-1, j) + s(i+1, j) + s(i, j-1) + s(i, j+1))
      end do
    end do
    s(1:n, first:last) = t
  end subroutine

  ! With the neighbours.
  logical function exchanged(first, last)
    integer, intent(in) :: first, last
    integer :: me, members, left, after
    exchanged = .false.
    call MPI_Comm_rank(comm, me, error)
    call MPI_Comm_size(comm, members, error)
    left = merge(MPI_PROC_NULL, me - 1, me == 0)
    after = merge(MPI_PROC_NULL, me + 1, me == members - 1)
    call point()
    call MPI_Sendrecv(square(1, last), n, MPI_DOUBLE_PRECISION, after, 1, square(1, first-1), n, &
                      MPI_DOUBLE_PRECISION, left, 1, comm, MPI_STATUS_IGNORE, error)
    if (is_error(error, 'MPI_Sendrecv')) return
    call point()
    call MPI_Sendrecv(square(1, first), n, MPI_DOUBLE_PRECISION, left, 2, square(1, last+1), n, &
                      MPI_DOUBLE_PRECISION, after, 2, comm, MPI_STATUS_IGNORE, error)
    exchanged = .not. is_error(error, 'MPI_Sendrecv')
  end function

  logical function saved_well()
    double precision :: whole(0:n+1, 0:n+1)
    integer :: members, rank, me, first, last
    integer, allocatable :: counts(:), displacements(:)
    call MPI_Comm_rank(comm, me, error)
    call MPI_Comm_size(comm, members, error)
    allocate (counts(members), displacements(members))
    do rank = 0, members - 1
      call share(rank, first, last)
      counts(rank + 1) = (last - first + 1) * (n + 2)
      displacements(rank + 1) = first * (n + 2)
    end do
    call share(me, first, last)
    whole = square
    call point()
    call MPI_Allgatherv(square(0, first), counts(me + 1), MPI_DOUBLE_PRECISION, whole, counts, &
                        displacements, MPI_DOUBLE_PRECISION, comm, error)
    saved_well = .not. is_error(error, 'MPI_Allgatherv')
    if (.not. saved_well) return
    saved = whole
    saved_at = now
  end function

  subroutine iterate(failed)
    logical, intent(out) :: failed
    integer :: me, first, last
    call MPI_Comm_rank(comm, me, error)
    call share(me, first, last)
    failed = .true.
    do while (now < rounds)
      if (.not. exchanged(first, last)) return
      call step(square, first, last)
      now = now + 1
      if (modulo(now, every) == 0 .or. now == rounds) then
        if (.not. saved_well()) return
      end if
    end do
    failed = .false.
  end subroutine

  ! From the member that has the latest square.
  logical function restored()
    integer :: me, mine(2), latest(2)
    restored = .false.
    call MPI_Comm_rank(comm, me, error)
    mine = [saved_at, me]
    call point()
    call MPI_Allreduce(mine, latest, 1, MPI_2INTEGER, MPI_MAXLOC, comm, error)
    if (is_error(error, 'MPI_Allreduce')) return
    square = saved
    call point()
    call MPI_Bcast(square, size(square), MPI_DOUBLE_PRECISION, latest(2), comm, error)
    if (is_error(error, 'MPI_Bcast')) return
    saved = square
    saved_at = latest(1)
    now = saved_at
    restored = .true.
  end function

  logical function agreed(failed)
    logical, intent(in) :: failed
    integer :: flag
    if (failed) call MPIX_Comm_revoke(comm, error)
    flag = merge(0, 1, failed)
    call point()
    error = c_agree(NUMBER_OF(comm), flag)
    agreed = .not. is_error(error, 'MPIX_Comm_agree') .and. flag == 1
  end function

  ! Whether all are at the end.
  logical function settled(failed)
    logical, intent(in) :: failed
    COMM_HANDLE :: next
    integer :: before, after
    logical :: vain
    settled = agreed(failed)
    vain = .not. settled
    do while (vain)
      call point()
      call MPIX_Comm_shrink(comm, next, error)
      if (is_error(error, 'MPIX_Comm_shrink')) call MPI_Abort(MPI_COMM_WORLD, 1, error)
      call MPI_Comm_size(comm, before, error)
      call MPI_Comm_size(next, after, error)
      deaths = deaths + before - after
      if (comm /= MPI_COMM_WORLD) call MPI_Comm_free(comm, error)
      comm = next
      vain = .not. agreed(.not. restored())
    end do
  end function

  subroutine check()
    integer :: i
    integer(c_int64_t) :: hash
    call start_square(right)
    do i = 1, rounds
      call step(right, 1, n)
    end do
    if (any(saved /= right)) call fail('points', count(saved /= right))
    hash = 0
    do i = 1, n
      hash = ieor(ishftc(hash, 7), transfer(right(i, modulo(i * 7, n) + 1), hash))
    end do
    print '(A,Z16.16,3(A,I0))', 'RESULT ', hash, ' ', deaths, ' ', wrong, ' ', points
    flush (6)
  end subroutine

end program
