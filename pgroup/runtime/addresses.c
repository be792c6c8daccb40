/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * An address that two machines both have (127.0.0.1, that of a bridge which all machines have)
 * leads each of them to itself. Nodes that are pretended on one machine have all addresses in
 * common. */
#include "runtime/addresses.h"

#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mix.h"

int64_t rgi_addresses_machine(void) {
  char boot[64] = "";
  struct stat space;
  FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");
  size_t n = f ? fread(boot, 1, sizeof boot - 1, f) : 0;
  if (f)
    fclose(f);
  if (n == 0 || stat("/proc/self/ns/net", &space) != 0)
    return 0;
  uint64_t x = rgi_mix_bits((uint64_t)space.st_ino);
  for (size_t i = 0; i < n; i++)
    x = rgi_mix_bits(x + (unsigned char)boot[i]);
  return (int64_t)(x >> 1 | 1);
}

/* In network order; 0: the device has none. */
static uint32_t address_of(const struct ifaddrs *i) {
  struct sockaddr_in a = {0};
  if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET && i->ifa_flags & IFF_UP)
    memcpy(&a, i->ifa_addr, sizeof a);
  return a.sin_addr.s_addr;
}

/* Whether a comma-separated list, as UCX takes it, names the device. */
static int is_named(const char *list, const char *device) {
  size_t length = strlen(device);
  for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',')
    if (strncmp(at, device, length) == 0 && (at[length] == ',' || !at[length]))
      return 1;
  return 0;
}

typedef enum { DEVICE_NAMED, DEVICE_OTHER, DEVICE_OWN, DEVICE_KINDS } device_kind;

static device_kind kind_of(const struct ifaddrs *i, const char *named) {
  if (is_named(named, i->ifa_name))
    return DEVICE_NAMED;
  return i->ifa_flags & IFF_LOOPBACK ? DEVICE_OWN : DEVICE_OTHER;
}

int rgi_addresses_offer(const struct ifaddrs *devices, const char *named, int one_machine,
                        uint32_t address[RGI_OVERLAY_ADDRESSES]) {
  const device_kind far[] = {DEVICE_NAMED, DEVICE_OTHER, DEVICE_OWN},
                    near[] = {DEVICE_NAMED, DEVICE_OWN, DEVICE_OTHER};
  int n = 0;
  for (int k = 0; k < DEVICE_KINDS && n == 0; k++)
    for (const struct ifaddrs *i = devices; i && n < RGI_OVERLAY_ADDRESSES; i = i->ifa_next)
      if (address_of(i) && kind_of(i, named) == (one_machine ? near : far)[k])
        address[n++] = address_of(i);
  return n;
}

static int is_own(const struct ifaddrs *devices, uint32_t address) {
  for (; devices; devices = devices->ifa_next)
    if (address_of(devices) == address)
      return 1;
  return 0;
}

int rgi_addresses_keep(const struct ifaddrs *devices, uint32_t address[], int n) {
  int kept = 0;
  for (int i = 0; i < n; i++)
    if (!is_own(devices, address[i]))
      address[kept++] = address[i];
  return kept ? kept : n;
}
