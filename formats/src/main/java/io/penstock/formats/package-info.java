// SPDX-License-Identifier: Apache-2.0
/**
 * Arrays in files: readers that parse the metadata of a format and name where the bytes of each array lie, and the
 * loader that moves them into device memory. Readers never read the data. No backend is known here, only the API.
 */
@NullMarked
package io.penstock.formats;

import org.jspecify.annotations.NullMarked;
