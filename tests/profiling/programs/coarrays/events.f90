! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) the Regroup authors
! Events: a token goes round the images, which then post to the first one many times.
program events
  use, intrinsic :: iso_fortran_env, only: event_type
  implicit none
  integer, parameter :: rounds = 50, posts = 20
  type(event_type) :: come[*], counted[*]
  integer, volatile :: token[*]
  integer :: me, images, next, i, waiting
  me = this_image()
  images = num_images()
  next = 1 + mod(me, images)
  token = 0
  sync all
  do i = 1, rounds
    if (me > 1 .or. i > 1) event wait (come)
    token[next] = token + 1
    event post (come[next])
  end do
  if (me == 1) then
    event wait (come)
    if (token /= rounds * images) error stop 'the token was lost'
  end if
  do i = 1, posts
    event post (counted[1])
  end do
  sync all
  if (me == 1) then
    call event_query(counted, waiting)
    if (waiting /= posts * images) error stop 'posts were lost'
    event wait (counted, until_count=posts * images)
    call event_query(counted, waiting)
    if (waiting /= 0) error stop 'posts are left'
    print '(a)', 'right'
  end if
end program
