// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.engine.spi.staging.StagingOptions;
import io.penstock.tck.BackendRules;
import io.penstock.tck.TckSubject;
import org.junit.jupiter.api.BeforeAll;

/** The rules through staging buffers, on one device that the application has. */
class StagedTckTest implements BackendRules {

    @BeforeAll
    static void whereThereIsDirect3d() {
        Dx11s.require();
    }

    @Override
    public TckSubject subject() {
        // Staging buffers are soon made and filled; LargeFilesTest and SmokeTest have buffers of the default size.
        return new Dx11Subject(Dx11s.shared().with(StagingOptions.BUFFER_BYTES, 64L << 10));
    }
}
