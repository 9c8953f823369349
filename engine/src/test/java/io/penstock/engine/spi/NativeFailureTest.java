// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.DeviceLostException;
import io.penstock.NativeError;
import io.penstock.Outcome;
import io.penstock.PenstockException;
import io.penstock.PermanentStorageException;
import io.penstock.TransientStorageException;
import org.junit.jupiter.api.Test;

/** What callers see of a native failure that is no transfer's. */
class NativeFailureTest {

    private static final NativeError ERROR = new NativeError("allocate", 12, "ENOMEM");

    @Test
    void eachKindHasTheExceptionOfItsRemedy() {
        for (NativeFailure.Kind kind : NativeFailure.Kind.values()) {
            PenstockException thrown = new NativeFailure(ERROR, kind, "a note").exception("allocation");
            assertThat(thrown)
                    .isInstanceOf(
                            switch (kind) {
                                case RETRY, TRANSIENT -> TransientStorageException.class;
                                case PERMANENT, CANCELLED -> PermanentStorageException.class;
                                case LOST -> DeviceLostException.class;
                            })
                    .hasMessage("allocation failed: " + ERROR + "; a note");
            assertThat(thrown.nativeError()).contains(ERROR);
            assertThat(thrown.outcome()).isEqualTo(Outcome.NOT_STARTED);
        }
    }
}
