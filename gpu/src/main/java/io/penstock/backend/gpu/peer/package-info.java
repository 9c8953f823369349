// SPDX-License-Identifier: Apache-2.0
/**
 * GPU memory for peers: dma-bufs for drivers of other devices, and exports to other processes by the driver's IPC
 * handles. Depends on contexts, not on allocations.
 *
 * <p>An {@link io.penstock.backend.gpu.peer.IpcExport} listens on a Unix-domain socket. An
 * {@link io.penstock.backend.gpu.peer.IpcImport} connects, receives one
 * {@link io.penstock.backend.gpu.peer.IpcMessage} and opens its handle. From then on nothing is sent, and the
 * connection is the lease: the exporter ends its direction to revoke the memory, the importer closes the socket when it
 * has unmapped the memory, and the kernel does either for a process that dies.
 */
@NullMarked
package io.penstock.backend.gpu.peer;

import org.jspecify.annotations.NullMarked;
