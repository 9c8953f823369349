// SPDX-License-Identifier: Apache-2.0
/**
 * Transfers between files and the memory of OpenCL devices: by AMD's SSG extension where a device has it, by slots and
 * mappings of our own where it has not.
 *
 * <p>An application opens the backend {@code opencl-ssg} and needs nothing of this package but, perhaps, its
 * {@linkplain io.penstock.backend.opencl.OpenClOptions options}.
 */
@NullMarked
package io.penstock.backend.opencl;

import org.jspecify.annotations.NullMarked;
