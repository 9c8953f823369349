// SPDX-License-Identifier: Apache-2.0
/**
 * {@code penstock serve}: files of a directory over HTTP/1.1, from file regions to the socket without a copy into the
 * heap.
 *
 * <p>A request goes through {@link io.penstock.cli.serve.RequestPath} (what is requested), {@link
 * io.penstock.cli.serve.ServedDirectory} (which file that is, if any), {@link io.penstock.cli.serve.Reply} (status,
 * headers and ranges by RFC 9110) and {@link io.penstock.cli.serve.Contents} (its bytes).
 */
@NullMarked
package io.penstock.cli.serve;

import org.jspecify.annotations.NullMarked;
