/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "noded/consensus/voting.h"

int rgi_voting_promise(rgi_voting *voting, int64_t ballot) {
  if (ballot < voting->promised)
    return 0;
  voting->promised = ballot;
  return 1;
}

int rgi_voting_accept(rgi_voting *voting, int64_t ballot) {
  if (!rgi_voting_promise(voting, ballot))
    return 0;
  voting->accepted = ballot;
  return 1;
}

int rgi_voting_take(int64_t *taken, int64_t accepted) {
  if (accepted <= *taken)
    return 0;
  *taken = accepted;
  return 1;
}
