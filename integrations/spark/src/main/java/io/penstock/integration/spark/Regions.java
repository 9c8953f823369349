// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import io.penstock.formats.Array;
import io.penstock.formats.ArrayFile;
import io.penstock.formats.Extent;
import io.penstock.formats.Formats;
import io.penstock.formats.MalformedFileException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The regions of files, from their lengths or their metadata. No data is read. */
final class Regions {

    private static final Logger LOG = LoggerFactory.getLogger(Regions.class);
    private static final int FILES_AT_ONCE = 16;

    private Regions() {}

    /**
     * Returns the regions, in the order of the files. An array that two of the files describe, as a shard and its index
     * do, is returned once.
     *
     * <p><b>Threading:</b> blocks; several files are read at a time.
     *
     * <p><b>Errors:</b> the error of the first of the files that cannot be read.
     */
    static List<Region> of(List<Path> files, SourceOptions options) {
        List<Region> regions = Flux.fromIterable(files)
                // Errors as values: errors of several files at once would be one without words, or be dropped with a
                // message.
                .flatMapSequential(
                        file -> of(file, options).materialize().filter(signal -> !signal.isOnComplete()), FILES_AT_ONCE)
                .<Region>dematerialize()
                .collectList()
                .blockOptional()
                .orElseThrow();
        return regions.stream()
                .distinct()
                .flatMap(region -> cut(region, options.rowBytes()))
                .toList();
    }

    private static Flux<Region> of(Path file, SourceOptions options) {
        if (options.raw()) {
            return Mono.fromCallable(() -> whole(file))
                    .subscribeOn(Schedulers.boundedElastic())
                    .flux();
        }
        return Formats.read(file)
                .map(ArrayFile::whole)
                .onErrorMap(MalformedFileException.class, e -> advice(file, e))
                .flatMapIterable(Regions::of);
    }

    private static Region whole(Path file) throws IOException {
        return new Region(file.toString(), String.valueOf(file.getFileName()), null, 0, Files.size(file));
    }

    private static IllegalArgumentException advice(Path file, MalformedFileException cause) {
        return new IllegalArgumentException(
                cause.getMessage() + "; the option pathGlobFilter selects files by name, and raw=true reads "
                        + file.getFileName() + " as bytes",
                cause);
    }

    private static List<Region> of(ArrayFile file) {
        if (!file.unsupported().isEmpty()) {
            LOG.warn("arrays of {} that are not supported have no rows: {}", file.path(), file.unsupported());
        }
        List<Region> regions = new ArrayList<>();
        for (Array array : file.arrays()) {
            Region.Elements elements = Region.Elements.of(array);
            regions.add(
                    array.data() instanceof Extent extent
                            ? new Region(
                                    extent.file().toString(), array.name(), elements, extent.offset(), extent.length())
                            : new Region(
                                    file.path().toString(), array.name(), elements, Region.IN_CHUNKS, array.bytes()));
        }
        return regions;
    }

    private static Stream<Region> cut(Region region, long most) {
        if (!region.isContiguous() || region.length() <= most) {
            return Stream.of(region);
        }
        return LongStream.iterate(0, start -> start < region.length(), start -> start + most)
                .mapToObj(start -> region.part(start, Math.min(most, region.length() - start)));
    }
}
