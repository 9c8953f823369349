// SPDX-License-Identifier: Apache-2.0
/**
 * Host files for backends that read them themselves, by descriptor or by blocking calls, and the meaning of host I/O
 * errors. {@link io.penstock.engine.spi.host.HostFiles} opens them.
 */
@NullMarked
package io.penstock.engine.spi.file;

import org.jspecify.annotations.NullMarked;
