// SPDX-License-Identifier: Apache-2.0
/**
 * The system calls of host I/O behind two interfaces, so that a simulated kernel can implement them over the real ring
 * memory and over simulated files: {@link io.penstock.engine.host.kernel.Kernel} for rings, {@link
 * io.penstock.engine.host.kernel.FileCalls} for files. Does not depend on rings or files.
 */
@NullMarked
package io.penstock.engine.host.kernel;

import org.jspecify.annotations.NullMarked;
