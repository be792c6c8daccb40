/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Random arrays, and an image of each in every member's own memory, changed element by element.
 * Values are small whole numbers, so that all types compute exactly. */
#ifndef IMAGE_H
#define IMAGE_H

#include <regroup.h>

/* Random numbers that are the same on all ranks. */
void dice_start(unsigned long long seed);
int64_t dice(int64_t n); /* 0 to n - 1 */

typedef struct {
  rg_array_spec spec;
  size_t element;
  int64_t elements;
  char *data; /* in C order */
} image;

/* Some members of the world in some order: NULL on the others. */
rg_group random_group(rg_group world);

/* A spec for so many members, and its image; boundaries is the spec's memory. The
 * array's elements are set to the image's by member 0. */
void random_image(int members, image *im, int64_t boundaries[RG_ARRAY_MAX_DIMS][16]);
void image_free(image *im);

/* The element with these subscripts. */
char *image_at(const image *im, const int64_t at[]);

/* Writes value into an element of the type; adds alpha * value (alpha NULL: 1). */
void set_value(const image *im, void *element, int64_t value);
void add_value(const image *im, void *element, const void *value, const void *alpha);

/* A patch, perhaps empty, and a walk over it: at = lo first; 0 when it is over. */
void random_patch(const image *im, int64_t lo[], int64_t hi[]);
int next_of(const image *im, const int64_t lo[], const int64_t hi[], const int64_t step[],
            int64_t at[]);

#endif
