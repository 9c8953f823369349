// SPDX-License-Identifier: Apache-2.0
/**
 * The two kinds of {@link io.penstock.engine.kit.file.HostFile}: a descriptor on Linux, a channel of the JDK elsewhere.
 * Does not depend on queues or memory; a file that is registered with rings unregisters itself when it is closed.
 */
@NullMarked
package io.penstock.engine.host.file;

import org.jspecify.annotations.NullMarked;
