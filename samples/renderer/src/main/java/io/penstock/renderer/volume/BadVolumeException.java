// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import java.io.IOException;

/** Thrown if a file cannot be drawn; the message is one line for the user. */
public final class BadVolumeException extends IOException {

    private static final long serialVersionUID = 1L;

    public BadVolumeException(String line) {
        super(line);
    }

    public BadVolumeException(String line, Throwable cause) {
        super(line, cause);
    }
}
