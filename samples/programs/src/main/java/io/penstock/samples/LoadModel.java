// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.formats.ArrayWriter;
import io.penstock.formats.DeviceArray;
import io.penstock.formats.LoadedArrays;
import io.penstock.formats.Loader;
import io.penstock.formats.Slice;
import java.nio.file.Path;
import reactor.core.publisher.Mono;

/** Loads the arrays of a model into memory of the device: safetensors, an index of shards, GGUF. */
public final class LoadModel {

    private LoadModel() {}

    /** Arguments: the file; to be one of several devices, also the number of this one, from 0, and of all. */
    public static void main(String[] arguments) {
        try (Backend backend = Backends.open()) {
            Loader loader = Loader.of(backend).budget(64L << 30);
            if (arguments.length == 3) {
                loader = part(loader, Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]));
            }
            System.out.println(describe(loader, Path.of(arguments[0])).block());
        }
    }

    /** Emits a line for each array. Kernels would run where the lines are made: there the memory is owned. */
    static Mono<String> describe(Loader loader, Path path) {
        return Backend.using(
                loader.load(path),
                model -> Mono.fromCallable(() -> {
                    StringBuilder lines = new StringBuilder();
                    for (DeviceArray array : model.arrays()) {
                        lines.append(array)
                                .append(" at ")
                                .append(array.region().offset())
                                .append('\n');
                    }
                    return lines.append(model.bytes()).append(" bytes").toString();
                }));
    }

    /** Returns a loader of one part of a tensor-parallel model: columns of what is projected back, rows of the rest. */
    static Loader part(Loader all, int part, int of) {
        return all.slice("*norm*", Slice.rows(0, 1)) // every device has all of it
                .slice("*o_proj*", Slice.columns(part, of))
                .slice("*down_proj*", Slice.columns(part, of))
                .slice(Slice.rows(part, of));
    }

    /** Writes what is in memory of the device to a file, which appears when it is complete and durable. */
    static Mono<Long> checkpoint(Backend backend, LoadedArrays model, Path target) {
        return ArrayWriter.of(backend).safetensors(target, model.arrays());
    }
}
