// SPDX-License-Identifier: Apache-2.0
/** Files as a Flux of Netty's ByteBuf: sockets are written from the memory that the file was read into. */
@NullMarked
package io.penstock.netty;

import org.jspecify.annotations.NullMarked;
