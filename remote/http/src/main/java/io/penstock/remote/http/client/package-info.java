// SPDX-License-Identifier: Apache-2.0
/**
 * Files behind {@code http:} and {@code https:} URIs: ranges are read by HTTP/1.1 on connections that are kept, and
 * their bytes go from the socket into the memory that a transfer has given, without a copy on the heap. A service that
 * stands on HTTP, such as an object store, is a {@link io.penstock.remote.http.client.Resource}. Independent of
 * devices.
 */
@NullMarked
package io.penstock.remote.http.client;

import org.jspecify.annotations.NullMarked;
