// SPDX-License-Identifier: Apache-2.0
/*
 * Opaque handles: numbers that never come again, so that a use after the end is noticed and never hits another object.
 * The library's own lock guards them.
 */
#ifndef PENSTOCK_HANDLES_H
#define PENSTOCK_HANDLES_H

void *handle_new(int kind, void *object);
/* The object, or null for a handle that is not of this kind or has ended. */
void *handle_get(const void *handle, int kind);
/* True for a handle of this kind that has ended. */
int handle_ended(const void *handle, int kind);
void handle_end(const void *handle);
/* Visits all living objects of a kind; ending the visited one meanwhile is allowed. */
void handle_each(int kind, void (*visit)(void *object, void *with), void *with);
/* Ends all of a kind. */
void handles_end(int kind);

#endif
