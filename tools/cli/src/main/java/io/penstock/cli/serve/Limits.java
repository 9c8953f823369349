// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import java.time.Duration;

/**
 * The limits of a server for its clients.
 *
 * @param connections the most at a time; further ones wait to be accepted
 * @param headers how long the headers of a request may take, from the connection or their first byte on
 * @param idle how long a connection may wait for its next request
 * @param stalled how long a client may read no byte of a pending response; by and large it must read one for each
 *     millisecond
 */
public record Limits(int connections, Duration headers, Duration idle, Duration stalled) {

    public static final Limits DEFAULT =
            new Limits(256, Duration.ofSeconds(10), Duration.ofSeconds(60), Duration.ofSeconds(30));
}
