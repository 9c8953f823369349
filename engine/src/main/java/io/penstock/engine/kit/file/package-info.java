// SPDX-License-Identifier: Apache-2.0
/**
 * Host files for backends that read them themselves, by descriptor or by blocking calls, the options of host I/O, and
 * the meaning of its errors. {@link io.penstock.engine.kit.host.HostFiles} opens them.
 */
@NullMarked
package io.penstock.engine.kit.file;

import org.jspecify.annotations.NullMarked;
