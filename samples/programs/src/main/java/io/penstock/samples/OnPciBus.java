// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import io.penstock.Backend;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.backend.opencl.gma.BusAddressableBuffer;
import io.penstock.backend.opencl.gma.DirectGma;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** DirectGMA: stores what another device on the bus, such as a camera, writes into the GPU's memory. */
public final class OnPciBus {

    private OnPciBus() {}

    /** Writes a frame to the address, and then its number to the address of the marker. */
    interface Camera {
        void shoot(long surface, long marker, int number);
    }

    /** Emits the length of each frame that is in the file; the camera shoots the next one then. */
    static Flux<Long> record(DirectGma bus, Backend backend, Camera camera, int frames, long bytes, StorageFile file) {
        return Flux.using(
                () -> bus.allocate(bytes),
                memory -> Flux.using(
                        () -> backend.wrap(memory.nativeHandle(), memory.bytes()),
                        buffer -> Flux.range(1, frames).concatMap(number -> {
                            camera.shoot(memory.surfaceAddress(), memory.markerAddress(), number);
                            Transfer write =
                                    Transfer.write(buffer.region(0, bytes), file.region((number - 1) * bytes, bytes));
                            return Backend.using( // the device waits for the number, no thread does
                                            Mono.fromSupplier(() -> memory.signal(number)),
                                            written -> backend.submit(write.after(written)))
                                    .map(Completion::bytes);
                        }),
                        DeviceBuffer::close),
                BusAddressableBuffer::close);
    }
}
