// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import java.io.IOException;

/** Says in one line, fit to be shown to the user, why a file cannot be drawn. */
public final class BadVolumeException extends IOException {

    private static final long serialVersionUID = 1L;

    public BadVolumeException(String line) {
        super(line);
    }

    public BadVolumeException(String line, Throwable cause) {
        super(line, cause);
    }
}
