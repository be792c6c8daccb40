/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * At which addresses a node daemon listens, for lists of devices, and which of another node's are
 * dialled. */
#include <arpa/inet.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>

#include "runtime/addresses.h"
#include "tests/check/check.h"

enum { MOST = 8 };

typedef struct {
  char name[8], address[16];
  unsigned flags;
} device;

static const unsigned up = IFF_UP, own = IFF_UP | IFF_LOOPBACK;

/* --- lists of devices ----------------------------------------------------------------------- */

static struct ifaddrs list[MOST];
static struct sockaddr_in addresses[MOST];

/* Those without an address have one of another kind, or none. */
static struct ifaddrs *list_of(const device d[], int n) {
  static struct sockaddr other = {.sa_family = AF_INET6};
  for (int i = 0; i < n; i++) {
    addresses[i] = (struct sockaddr_in){.sin_family = AF_INET};
    addresses[i].sin_addr.s_addr = inet_addr(d[i].address);
    list[i] = (struct ifaddrs){.ifa_next = i + 1 < n ? &list[i + 1] : NULL,
                               .ifa_name = (char *)(uintptr_t)d[i].name,
                               .ifa_flags = d[i].flags};
    if (d[i].address[0])
      list[i].ifa_addr = (struct sockaddr *)&addresses[i];
    else if (i % 2)
      list[i].ifa_addr = &other;
  }
  return n ? list : NULL;
}

static const device machine[] = {{"lo", "127.0.0.1", own},  {"lo", "", own},
                                 {"eth0", "10.0.0.5", up},  {"eth1", "10.0.1.5", up},
                                 {"eth10", "10.0.2.5", up}, {"eth2", "10.0.3.5", 0},
                                 {"eth3", "", up}};

/* expected: addresses with blanks between them. */
static void check_offer(const device d[], int n, const char *named, int one, const char *expected) {
  uint32_t got[RGI_OVERLAY_ADDRESSES];
  char text[200] = "";
  int count = rgi_addresses_offer(list_of(d, n), named, one, got);
  for (int i = 0; i < count; i++) {
    struct in_addr a = {got[i]};
    strcat(strcat(text, *text ? " " : ""), inet_ntoa(a));
  }
  RGT_STR(text, expected);
}

static void test_named(void) {
  for (int one = 0; one < 2; one++) {
    check_offer(machine, 7, "eth1", one, "10.0.1.5");
    check_offer(machine, 7, "eth1,eth10", one, "10.0.1.5 10.0.2.5");
    check_offer(machine, 7, "mlx5_0:1,eth0,eth2", one, "10.0.0.5");
    check_offer(machine, 7, "lo", one, "127.0.0.1");
  }
}

static void test_others(void) {
  static const char *const named[] = {NULL, "", "all", "mlx5_0:1", "eth2", "eth3"};
  for (int i = 0; i < 6; i++) {
    check_offer(machine, 7, named[i], 0, "10.0.0.5 10.0.1.5 10.0.2.5");
    check_offer(machine, 7, named[i], 1, "127.0.0.1");
  }
  check_offer(machine, 2, NULL, 0, "127.0.0.1");
  check_offer(machine + 2, 1, NULL, 1, "10.0.0.5");
  check_offer(machine, 0, NULL, 0, "");
}

static void test_most(void) {
  static const device many[] = {{"a", "10.0.0.1", up},
                                {"b", "10.0.0.2", up},
                                {"c", "10.0.0.3", up},
                                {"d", "10.0.0.4", up},
                                {"e", "10.0.0.5", up}};
  check_offer(many, 5, NULL, 0, "10.0.0.1 10.0.0.2 10.0.0.3 10.0.0.4");
  check_offer(many, 5, "e", 0, "10.0.0.5");
}

/* --- dialling ------------------------------------------------------------------------------- */

static void test_keep(void) {
  const uint32_t bridge = inet_addr("10.0.1.5"), loopback = inet_addr("127.0.0.1"),
                 theirs = inet_addr("10.0.0.6"), second = inet_addr("10.0.0.7");
  uint32_t a[] = {loopback, bridge, theirs, second}, b[] = {bridge, loopback};
  const struct ifaddrs *devices = list_of(machine, 7);
  RGT_INT(rgi_addresses_keep(devices, a, 4), 2);
  RGT_TRUE(a[0] == theirs && a[1] == second);
  RGT_INT(rgi_addresses_keep(devices, b, 2), 2);
  RGT_TRUE(b[0] == bridge && b[1] == loopback);
  RGT_INT(rgi_addresses_keep(NULL, b, 2), 2);
  RGT_INT(rgi_addresses_keep(devices, b, 0), 0);
}

static void test_machine(void) {
  RGT_TRUE(rgi_addresses_machine() >= 0);
  RGT_INT(rgi_addresses_machine(), rgi_addresses_machine());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"named", test_named},     {"others", test_others},
                                   {"most", test_most},       {"keep", test_keep},
                                   {"machine", test_machine}, {NULL, NULL}};
  return rgt_main(argc, argv, "addresses", tests);
}
