/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "noded/pmi.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

void rgi_pmi_finalize(void) {
  const char *text = getenv("PMI_FD");
  int pmi = text ? atoi(text) : -1;
  static const char command[] = "cmd=finalize\n";
  char answer[512];
  if (pmi < 0)
    return;
  while (recv(pmi, answer, sizeof answer, MSG_DONTWAIT) > 0)
    continue; /* answers that a rank that was killed has not read */
  if (send(pmi, command, strlen(command), MSG_NOSIGNAL) < 0)
    return; /* the rank has already done so */
  for (double end = rgi_clock_now() + 5; rgi_clock_now() < end;) {
    struct pollfd p = {pmi, POLLIN, 0};
    if (poll(&p, 1, 100) <= 0)
      continue;
    ssize_t n = read(pmi, answer, sizeof answer - 1);
    answer[n > 0 ? n : 0] = 0;
    if (n <= 0 || strstr(answer, "finalize_ack"))
      return;
  }
}
