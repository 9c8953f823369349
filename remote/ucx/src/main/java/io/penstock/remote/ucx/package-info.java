// SPDX-License-Identifier: Apache-2.0
/**
 * Files and buffers of other processes and hosts, by UCX. A {@link io.penstock.remote.ucx.UcxListener} exports them
 * under a URI; with this module, {@code backend.openFile(uri)} opens that as a file, in any process that reaches the
 * listener.
 *
 * <p>Bytes go by UCX's active messages: over shared memory within a host, else over TCP or RDMA, as UCX chooses. Each
 * connection has a UCX worker of its own, driven by one thread at either end, and a socket, whose end is the end of the
 * peer.
 */
@NullMarked
package io.penstock.remote.ucx;

import org.jspecify.annotations.NullMarked;
