#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
#
# "inside.sh ROOT NAME PACKAGES MINUTES COMMAND": runs the shell command in the folder /regroup of a
# root whose host name is NAME. `run` starts it as the first process of new mount, PID, UTS and IPC
# namespaces: with it the kernel ends all processes and removes all mounts. pivot_root, since a
# process in a mere chroot may not make further namespaces.
set -eu
root=$1 name=$2 packages=$3 minutes=$4 command=$5
mount --bind "$root" "$root"
cd "$root"
mount -t proc proc proc
mount --rbind /sys sys
mount --bind "$packages" var/cache/apt/archives
mount -t tmpfs -o mode=755 dev dev
for device in null zero full random urandom tty; do
  touch dev/$device
  mount --bind /dev/$device dev/$device
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
mount -t tmpfs -o mode=1777 shm dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
for stream in 0:stdin 1:stdout 2:stderr; do
  ln -s "/proc/self/fd/${stream%:*}" "dev/${stream#*:}"
done
hostname "$name"
pivot_root . .
umount -l .
cd /regroup
kept=()
for name in RGT_SEED http_proxy https_proxy no_proxy; do
  [ -z "${!name:-}" ] || kept+=("$name=${!name}")
done
# Not exec: the first process of a PID namespace has to wait for orphans, which bash does.
env -i HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  "${kept[@]}" \
  timeout -k 10 "${minutes}m" bash -c "$command" </dev/null
exit $?
