// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import org.jspecify.annotations.Nullable;

/**
 * The device is gone (removed, reset, context lost): close the backend and open a new one. The backend's buffers are
 * {@linkplain DeviceBuffer#revoked revoked} then.
 */
public final class DeviceLostException extends PenstockException {

    private static final long serialVersionUID = 1L;

    /** Creates an exception; for backends. */
    public DeviceLostException(String message, Failure failure, @Nullable Throwable cause) {
        super(message, failure, cause);
    }
}
