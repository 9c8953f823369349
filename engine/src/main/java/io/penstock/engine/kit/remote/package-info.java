// SPDX-License-Identifier: Apache-2.0
/**
 * Files on other hosts, by the scheme of their URI: how a module opens them. Such a file fills host memory by itself,
 * as an {@link io.penstock.engine.spi.AsyncFile}; it is independent of devices, paths and I/O queues.
 */
@NullMarked
package io.penstock.engine.kit.remote;

import org.jspecify.annotations.NullMarked;
