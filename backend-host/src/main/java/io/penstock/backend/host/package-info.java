// SPDX-License-Identifier: Apache-2.0
/** The embedded default: transfers between files and host memory, over io_uring or its fallback. */
@NullMarked
package io.penstock.backend.host;

import org.jspecify.annotations.NullMarked;
