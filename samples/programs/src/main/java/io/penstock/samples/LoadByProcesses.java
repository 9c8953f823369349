// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Options;
import io.penstock.formats.LoadedArrays;
import io.penstock.formats.Loader;
import io.penstock.formats.SharedLoad;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import reactor.core.publisher.Mono;

/** CUDA: one of several processes, each of which loads the same model to a GPU: each byte is read by one of them. */
public final class LoadByProcesses {

    private LoadByProcesses() {}

    /** Arguments: the file, where the processes meet, how many they are, and the number of the GPU of this one. */
    public static void main(String[] arguments) {
        try (Backend gpu = Backends.open("cufile", Options.none().with("penstock.cufile.device", arguments[3]));
                LoadedArrays model = Objects.requireNonNull(
                        load(gpu, Path.of(arguments[0]), Path.of(arguments[1]), Integer.parseInt(arguments[2]))
                                .block())) {
            System.out.println(model.arrays().size() + " arrays on GPU " + arguments[3]);
        }
    }

    /** Emits the arrays when all processes have theirs; a process that has not come after 10 s is not waited for. */
    static Mono<LoadedArrays> load(Backend gpu, Path model, Path socket, int processes) {
        SharedLoad shared = SharedLoad.ofProcesses(socket, processes, Duration.ofSeconds(10));
        return Loader.of(gpu).shared(shared).load(model);
    }
}
