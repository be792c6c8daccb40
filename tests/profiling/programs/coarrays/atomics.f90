! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) the Regroup authors
! Atomics: counters on the first image, by all images at once.
program atomics
  use, intrinsic :: iso_fortran_env, only: atomic_int_kind
  implicit none
  integer, parameter :: times = 500
  integer(atomic_int_kind) :: total[*], lock[*], drawn[*], old, value
  integer :: me, images, i, sum
  integer, volatile :: guarded[*]
  me = this_image()
  images = num_images()
  total = 0
  lock = 0
  drawn = 0
  guarded = 0
  sync all
  sum = 0
  do i = 1, times
    call atomic_add(total[1], me)
    call draw(old)
    sum = sum + old
  end do
  do i = 1, 20  ! a lock, by compare and swap
    do
      call atomic_cas(lock[1], old, 0, me)
      if (old == 0) exit
    end do
    guarded[1] = guarded[1] + 1
    sync memory
    call atomic_define(lock[1], 0)
  end do
  sync all
  call co_sum(sum)
  if (me == 1) then
    call atomic_ref(value, total)
    if (value /= times * images * (images + 1) / 2) error stop 'a wrong sum'
    if (guarded /= 20 * images) error stop 'the lock did not exclude'
    i = times * images
    if (sum /= i * (i - 1) / 2) error stop 'a number was drawn twice'
    print '(a)', 'right'
  end if
contains
  subroutine draw(number)
    integer(atomic_int_kind), intent(out) :: number
    integer(atomic_int_kind) :: seen
    call atomic_ref(number, drawn[1])
    do
      call atomic_cas(drawn[1], seen, number, number + 1)
      if (seen == number) return
      number = seen
    end do
  end subroutine
end program
