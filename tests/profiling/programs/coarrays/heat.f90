! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) the Regroup authors
! Heat conduction in a rod: each image owns a piece and reads its neighbours' ends. The eigenmode
! sin(pi x) of n points decays by a known factor in each step.
program heat
  implicit none
  integer, parameter :: wp = kind(1d0), each = 40, steps = 500
  real(wp) :: now(0:each + 1)[*], after(each), pi, ratio, factor, wrong
  integer :: i, step, me, images, n
  me = this_image()
  images = num_images()
  n = each * images
  pi = acos(-1d0)
  ratio = 0.25d0
  factor = 1 - 4 * ratio * sin(pi / (2 * (n + 1)))**2
  now = 0
  do i = 1, each
    now(i) = sin(pi * ((me - 1) * each + i) / (n + 1))
  end do
  sync all
  do step = 1, steps
    if (me > 1) now(0) = now(each)[me - 1]
    if (me < images) now(each + 1) = now(1)[me + 1]
    sync all
    do i = 1, each
      after(i) = now(i) + ratio * (now(i - 1) - 2 * now(i) + now(i + 1))
    end do
    now(1:each) = after
    sync all
  end do
  wrong = 0
  do i = 1, each
    wrong = max(wrong, abs(now(i) - factor**steps * sin(pi * ((me - 1) * each + i) / (n + 1))))
  end do
  call co_max(wrong)
  if (wrong > 1d-12) error stop 'the mode did not decay as it must'
  if (me == 1) print '(a)', 'right'
end program
