/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Numbers drawn at random, with the ones at which arithmetic overflows among them. All ranks draw
 * the same, until one of them is told to differ. */
#ifndef DRAW_H
#define DRAW_H

#include <stddef.h>
#include <stdint.h>

/* The numbers from here on depend on these two, and on `own`, which is 0 for those that all ranks
 * share. */
void draw_start(uint64_t seed, uint64_t number, uint64_t own);

uint64_t draw_bits(void);

/* 0 to n - 1; and whether the one of n has come. */
int draw_below(int n);
int draw_chance(int n);

/* Any; mostly those at which something overflows. */
int draw_int(void);
int64_t draw_int64(void);
double draw_double(void);

/* Mostly from -1 to n; now and then any. */
int draw_near(int n);
int64_t draw_near64(int64_t n);

/* Text of less than `room` bytes: words of the list, numbers, and bytes that are neither. */
void draw_text(const char *const words[], char *text, size_t room);

/* Changes some bytes, or cuts the end off. */
void draw_damage(char *bytes, size_t *n);

#endif
