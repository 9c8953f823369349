// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.Transfer;
import io.penstock.backend.dx11.Dx11Options;
import java.nio.file.Path;
import reactor.core.publisher.Mono;

/** Direct3D 11: reads into a buffer of the application, on the application's own ID3D11Device. */
public final class OnDirect3dDevice {

    private OnDirect3dDevice() {}

    /** Opens the backend on the device, of which it keeps a reference until it is closed. */
    static Backend open(long id3d11Device) {
        return Backends.open("dx11", Options.none().with(Dx11Options.DEVICE, "0x" + Long.toHexString(id3d11Device)));
    }

    /** Emits the bytes that are in the buffer, for all that is drawn in the immediate context from then on. */
    static Mono<Long> fill(Backend backend, long id3d11Buffer, long bytes, Path path) {
        return backend.withFile(
                        path,
                        FileOption.READ,
                        file -> Backend.using(
                                Mono.fromSupplier(() -> backend.wrap(id3d11Buffer, bytes)),
                                buffer -> backend.submit(Transfer.read(file.all(), buffer.region(0, file.size())))))
                .map(Completion::bytes);
    }
}
