// SPDX-License-Identifier: Apache-2.0
/**
 * Arrays in files: what describes them, the readers' entry {@link io.penstock.formats.Formats}, the loader that moves
 * them into device memory, and the writer. No backend is known here, only the API.
 */
@NullMarked
package io.penstock.formats;

import org.jspecify.annotations.NullMarked;
