! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) the Regroup authors
! Teams: the images are divided among two, which compute apart, and once more among themselves.
program teams
  use, intrinsic :: iso_fortran_env, only: team_type
  implicit none
  type(team_type) :: half, quarter
  integer :: me, images, number, sum, mine, expected, i, depth
  me = this_image()
  images = num_images()
  number = 1 + mod(me, 2)
  sync all
  form team (number, half)
  do depth = 1, 10
    change team (half)
      mine = num_images()
      if (mine /= count([(1 + mod(i, 2) == number, i=1, images)])) error stop 'a wrong team'
      sum = me
      call co_sum(sum)
      expected = 0
      do i = 1, images
        if (1 + mod(i, 2) == number) expected = expected + i
      end do
      if (sum /= expected) error stop 'a wrong sum of a team'
      form team (1 + (this_image() - 1) / 2, quarter)
      change team (quarter)
        sum = 1
        call co_sum(sum)
        if (sum /= num_images() .or. sum > 2) error stop 'a wrong team of a team'
        sync all
      end team
      sync all
    end team
    sync all
  end do
  if (me == 1) print '(a)', 'right'
end program
