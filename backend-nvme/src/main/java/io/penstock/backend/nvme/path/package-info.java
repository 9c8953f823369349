// SPDX-License-Identifier: Apache-2.0
/** The backend over a controller: files made of blocks, the path to them, and its queue. */
@NullMarked
package io.penstock.backend.nvme.path;

import org.jspecify.annotations.NullMarked;
