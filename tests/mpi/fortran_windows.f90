! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) the Regroup authors
!
! Windows, and collectives from MPI_BOTTOM, by Fortran's three interfaces: mpif.h, mpi, mpi_f08. In each, C code (fortran_windows.c)
! accumulates to the window that Fortran has made, and Fortran to one that C has made. Prints, on
! rank 0, how many results were wrong on all processes.
module counting
  implicit none
  integer :: wrong = 0, deleted = 0, handled = 0, tried = 0 ! tried: the window's handle
  integer, parameter :: n = 8
  interface
    subroutine add_by_c(win, target, number) bind(C)
      use iso_c_binding
      integer(c_int), value :: win, target
      real(c_double), value :: number
    end subroutine
    function make_by_c(count) bind(C) result(win)
      use iso_c_binding
      integer(c_int), value :: count
      integer(c_int) :: win
    end function
    function read_by_c(win, i) bind(C) result(number)
      use iso_c_binding
      integer(c_int), value :: win, i
      real(c_double) :: number
    end function
  end interface
contains
  subroutine check(good)
    logical, intent(in) :: good
    if (.not. good) wrong = wrong + 1
  end subroutine

  subroutine delete_value(win, key, value, extra, ierror)
    include 'mpif.h'
    integer :: win, key, ierror
    integer(kind=MPI_ADDRESS_KIND) :: value, extra
    call check(win == tried)
    deleted = deleted + int(value)
    ierror = MPI_SUCCESS
  end subroutine

  subroutine handle_error(win, code)
    integer :: win, code
    call check(win == tried)
    handled = handled + 1
  end subroutine
end module

! What is the same in mpif.h and in module mpi.
module by_integers
  use counting
  implicit none
contains
  subroutine try_attributes(win, bytes, flavor)
    include 'mpif.h'
    integer, intent(in) :: win, flavor
    integer(kind=MPI_ADDRESS_KIND), intent(in) :: bytes
    integer(kind=MPI_ADDRESS_KIND) :: value
    integer :: ierr, key, length
    logical :: flag
    character(len=MPI_MAX_OBJECT_NAME) :: name
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag, ierr)
    call check(flag .and. value == bytes)
    call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag, ierr)
    call check(flag .and. value == 8)
    call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, value, flag, ierr)
    call check(flag .and. value == flavor)
    call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_value, key, 0_MPI_ADDRESS_KIND, ierr)
    tried = win
    call MPI_Win_set_attr(win, key, 1_MPI_ADDRESS_KIND, ierr)
    call MPI_Win_set_attr(win, key, 3_MPI_ADDRESS_KIND, ierr)
    call MPI_Win_get_attr(win, key, value, flag, ierr)
    call check(flag .and. value == 3)
    call MPI_Win_free_keyval(key, ierr)
    call MPI_Win_set_name(win, 'by Fortran', ierr)
    call MPI_Win_get_name(win, name, length, ierr)
    call check(name(1:length) == 'by Fortran')
  end subroutine

  subroutine try_errors(win, size)
    include 'mpif.h'
    integer, intent(in) :: win, size
    integer :: ierr, handler
    double precision :: x
    x = 0
    call MPI_Win_create_errhandler(handle_error, handler, ierr)
    call MPI_Win_set_errhandler(win, handler, ierr)
    call MPI_Errhandler_free(handler, ierr)
    handled = 0
    tried = win
    call MPI_Win_unlock(0, win, ierr)
    call check(ierr /= MPI_SUCCESS .and. handled == 1)
    call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN, ierr)
    call MPI_Win_unlock_all(win, ierr)
    call check(ierr /= MPI_SUCCESS .and. handled == 1)
  end subroutine
end module

subroutine with_mpif(rank, size)
  use counting
  use by_integers
  implicit none
  include 'mpif.h'
  integer, intent(in) :: rank, size
  integer :: win, ierr, next, i
  integer(kind=MPI_ADDRESS_KIND) :: bytes, disp
  double precision :: memory(n), sent, got
  pointer (base, memory)
  bytes = 8 * n
  next = mod(rank + 1, size)
  call MPI_Alloc_mem(bytes, MPI_INFO_NULL, base, ierr)
  memory = rank
  call MPI_Win_create(memory, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
  call MPI_Win_fence(0, win, ierr)
  disp = 1
  sent = 10 + rank
  call MPI_Put(sent, 1, MPI_DOUBLE_PRECISION, next, disp, 1, MPI_DOUBLE_PRECISION, win, ierr)
  call MPI_Win_fence(MPI_MODE_NOSUCCEED, win, ierr)
  call check(memory(2) == 10 + mod(rank + size - 1, size))
  call MPI_Win_lock_all(0, win, ierr)
  disp = 0
  sent = 1
  do i = 0, size - 1
    call MPI_Accumulate(sent, 1, MPI_DOUBLE_PRECISION, i, disp, 1, MPI_DOUBLE_PRECISION, MPI_SUM, &
                        win, ierr)
    call add_by_c(win, i, 2d0)
  end do
  call MPI_Win_unlock_all(win, ierr)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win, ierr)
  call MPI_Get(got, 1, MPI_DOUBLE_PRECISION, next, disp, 1, MPI_DOUBLE_PRECISION, win, ierr)
  call MPI_Win_unlock(next, win, ierr)
  call check(got == next + 3 * size)
  call try_attributes(win, bytes, MPI_WIN_FLAVOR_CREATE)
  call try_errors(win, size)
  deleted = 0
  call MPI_Win_free(win, ierr)
  call check(win == MPI_WIN_NULL .and. deleted == 3)
  call MPI_Free_mem(memory, ierr)
end subroutine

subroutine with_mpi(rank, size)
  use mpi
  use iso_c_binding
  use counting
  use by_integers
  implicit none
  integer, intent(in) :: rank, size
  integer :: win, ierr, next, i, request
  integer(kind=MPI_ADDRESS_KIND) :: bytes, disp
  integer(kind=8) :: one, before, sum
  type(c_ptr) :: base
  integer(kind=8), pointer :: memory(:)
  bytes = 8 * n
  next = mod(rank + 1, size)
  call MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierr)
  call c_f_pointer(base, memory, [n])
  memory = 0
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  one = 1
  sum = 0
  disp = 3
  call MPI_Win_lock_all(0, win, ierr)
  do i = 1, 10
    call MPI_Fetch_and_op(one, before, MPI_INTEGER8, 0, disp, MPI_SUM, win, ierr)
    call MPI_Win_flush(0, win, ierr)
    sum = sum + before
  end do
  disp = 5
  call MPI_Rput(one, 1, MPI_INTEGER8, next, disp, 1, MPI_INTEGER8, win, request, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  call MPI_Win_flush_all(win, ierr)
  call MPI_Rget(before, 1, MPI_INTEGER8, next, disp, 1, MPI_INTEGER8, win, request, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  call check(before == 1)
  call MPI_Win_unlock_all(win, ierr)
  call MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD, ierr)
  call check(sum == 10_8 * size * (10_8 * size - 1) / 2)
  call try_attributes(win, bytes, MPI_WIN_FLAVOR_ALLOCATE)
  call try_errors(win, size)
  deleted = 0
  call MPI_Win_free(win, ierr)
  call check(win == MPI_WIN_NULL .and. deleted == 3)
end subroutine

subroutine with_f08(rank, size)
  use mpi_f08
  use iso_c_binding
  use counting
  implicit none
  integer, intent(in) :: rank, size
  type(MPI_Win) :: win
  type(MPI_Group) :: group
  integer :: next, i
  integer(kind=MPI_ADDRESS_KIND) :: disp, value
  integer(c_int) :: mine, other, found
  double precision :: sent(n), got(n)
  logical :: flag
  next = mod(rank + 1, size)
  win%MPI_VAL = make_by_c(n)
  call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag)
  call check(flag .and. value == 8 * n)
  sent = [(rank + i / 4d0, i = 1, n)]
  call MPI_Win_get_group(win, group)
  call MPI_Win_post(group, 0, win)
  call MPI_Win_start(group, 0, win)
  disp = 1
  call MPI_Put(sent(1:4:2), 2, MPI_DOUBLE_PRECISION, next, disp, 2, MPI_DOUBLE_PRECISION, win)
  call MPI_Win_complete(win)
  call MPI_Win_wait(win)
  call MPI_Group_free(group)
  i = mod(rank + size - 1, size)
  call check(read_by_c(win%MPI_VAL, 1) == i + 1 / 4d0 .and. read_by_c(win%MPI_VAL, 2) == i + 3 / 4d0)
  call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win)
  disp = 0
  sent = 4
  call MPI_Get_accumulate(sent, 1, MPI_DOUBLE_PRECISION, got, 1, MPI_DOUBLE_PRECISION, next, disp, &
                          1, MPI_DOUBLE_PRECISION, MPI_SUM, win)
  call MPI_Win_flush(next, win)
  call add_by_c(win%MPI_VAL, next, 3d0)
  call MPI_Win_unlock(next, win)
  call MPI_Barrier(MPI_COMM_WORLD)
  call check(got(1) == 0 .and. read_by_c(win%MPI_VAL, 0) == 7)
  mine = rank + 1
  other = 0
  call MPI_Win_fence(0, win)
  disp = n - 1
  call MPI_Compare_and_swap(mine, other, found, MPI_INTEGER, next, disp, win)
  call MPI_Win_fence(MPI_MODE_NOSUCCEED, win)
  call check(found == 0)
  call MPI_Win_free(win)
  call check(win == MPI_WIN_NULL)
end subroutine

! Collectives on a type of absolute addresses: two numbers of an array, from root 0 to all, and their
! maxima.
subroutine bottom_of_mpif(rank, size)
  use counting
  implicit none
  include 'mpif.h'
  integer, intent(in) :: rank, size
  integer :: type, ierr
  integer(kind=MPI_ADDRESS_KIND) :: at(2)
  integer, volatile :: x(9)
  x = rank
  call MPI_Get_address(x(2), at(1), ierr)
  call MPI_Get_address(x(7), at(2), ierr)
  call MPI_Type_create_hindexed_block(2, 1, at, MPI_INTEGER, type, ierr)
  call MPI_Type_commit(type, ierr)
  call MPI_Bcast(MPI_BOTTOM, 1, type, size - 1, MPI_COMM_WORLD, ierr)
  call check(x(2) == size - 1 .and. x(7) == size - 1 .and. x(3) == rank)
  call MPI_Type_free(type, ierr)
end subroutine

subroutine bottom_of_f08(rank, size)
  use mpi_f08
  use counting
  implicit none
  integer, intent(in) :: rank, size
  type(MPI_Datatype) :: type
  integer(kind=MPI_ADDRESS_KIND) :: at(2)
  integer, volatile :: x(9), all(2 * size)
  x = rank
  call MPI_Get_address(x(2), at(1))
  call MPI_Get_address(x(7), at(2))
  call MPI_Type_create_hindexed_block(2, 1, at, MPI_INTEGER, type)
  call MPI_Type_commit(type)
  all = -1
  call MPI_Allgather(MPI_BOTTOM, 1, type, all, 2, MPI_INTEGER, MPI_COMM_WORLD)
  call check(all(1) == 0 .and. all(2 * size) == size - 1)
  call MPI_Bcast(MPI_BOTTOM, 1, type, size - 1, MPI_COMM_WORLD)
  call check(x(2) == size - 1 .and. x(7) == size - 1 .and. x(3) == rank)
  call MPI_Type_free(type)
end subroutine

program fortran_windows
  use mpi
  use counting
  implicit none
  integer :: rank, size, ierr, all
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  call with_mpif(rank, size)
  call with_mpi(rank, size)
  call with_f08(rank, size)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call bottom_of_mpif(rank, size)
  call bottom_of_f08(rank, size)
  call MPI_Reduce(wrong, all, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(a, i0)', 'wrong ', all
  call MPI_Finalize(ierr)
end program
