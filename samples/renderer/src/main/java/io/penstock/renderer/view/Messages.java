// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.view;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.penstock.Backends;
import io.penstock.renderer.volume.Budget;
import io.penstock.renderer.volume.NiftiHeader;
import io.penstock.renderer.volume.SlabPlan;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.List;

/**
 * The messages of the server to a page, as JSON with a field {@code type}. A frame's is followed by its picture.
 */
final class Messages {

    private static final JsonFactory JSON = new JsonFactory();

    private Messages() {}

    /**
     * Returns the description of the volume, and of every backend, available or not.
     *
     * @param name of the volume
     * @param backend the backend to begin with
     * @param budgetBytes the budget to begin with
     */
    static String hello(
            String name, NiftiHeader volume, List<Backends.Listing> listings, String backend, long budgetBytes) {
        return message("hello", json -> {
            json.writeStringField("backend", backend);
            json.writeNumberField("budget", budgetBytes);
            json.writeObjectFieldStart("volume");
            json.writeStringField("name", name);
            json.writeStringField("voxels", volume.type().toString());
            json.writeNumberField("columns", volume.columns());
            json.writeNumberField("rows", volume.rows());
            json.writeNumberField("slices", volume.slices());
            json.writeNumberField("sliceBytes", volume.sliceBytes());
            json.writeNumberField("bytes", volume.volumeBytes());
            json.writeNumberField("needed", Budget.needed(volume));
            json.writeEndObject();
            json.writeArrayFieldStart("backends");
            for (Backends.Listing listing : listings) {
                backend(json, listing);
            }
            json.writeEndArray();
        });
    }

    private static void backend(JsonGenerator json, Backends.Listing listing) throws IOException {
        json.writeStartObject();
        json.writeStringField("name", listing.name());
        json.writeStringField("description", listing.description());
        json.writeBooleanField("available", listing.availability().available());
        json.writeBooleanField("hardware", listing.availability().hardware());
        json.writeStringField("reason", listing.availability().reason());
        json.writeStringField("remedy", listing.availability().remedy());
        json.writeArrayFieldStart("paths");
        for (String path : VoxelSource.paths(listing.name())) {
            json.writeString(path);
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    /** Returns the description of a frame. */
    static String frame(FrameLoop.Frame frame) {
        SlabPlan plan = frame.pass().plan();
        return message("frame", json -> {
            json.writeNumberField("side", frame.side());
            json.writeNumberField("nanos", frame.nanos());
            json.writeNumberField("bytes", frame.pass().bytes());
            json.writeStringField("path", frame.pass().path().name());
            json.writeStringField("device", frame.device());
            json.writeNumberField("chunks", plan.slabs().size());
            json.writeNumberField("chunkBytes", plan.chunkBytes());
            json.writeNumberField("depth", plan.depth());
        });
    }

    /** Returns the answer to a request for which there is no frame. */
    static String error(String message) {
        return message("error", json -> json.writeStringField("message", message));
    }

    /**
     * What a stream did in an interval.
     *
     * @param nanos the interval
     * @param movedBytes the bytes that arrived in it
     * @param inFlightBytes the most bytes in flight that were found
     * @param latencies of the transfers that ended in it, sorted, in nanoseconds
     * @param staging for each I/O queue the states of its staging buffers, a digit each, once for each sample
     */
    @SuppressWarnings("ArrayRecordComponent") // handed over, not copied
    record Stats(long nanos, long movedBytes, long inFlightBytes, long[] latencies, List<List<String>> staging) {

        @Override
        public String toString() {
            return message("stats", json -> {
                json.writeNumberField("nanos", nanos);
                json.writeNumberField("bytes", movedBytes);
                json.writeNumberField("inFlight", inFlightBytes);
                json.writeNumberField("transfers", latencies.length);
                for (int percent : new int[] {50, 90, 99}) {
                    if (latencies.length > 0) {
                        int rank = (int) Math.ceil(latencies.length * percent / 100.0) - 1;
                        json.writeNumberField("p" + percent, latencies[rank]);
                    }
                }
                json.writeArrayFieldStart("staging");
                for (List<String> queue : staging) {
                    json.writeArray(queue.toArray(new String[0]), 0, queue.size());
                }
                json.writeEndArray();
            });
        }
    }

    private interface Content {
        void write(JsonGenerator json) throws IOException;
    }

    private static String message(String type, Content content) {
        StringWriter text = new StringWriter();
        try (JsonGenerator json = JSON.createGenerator(text)) {
            json.writeStartObject();
            json.writeStringField("type", type);
            content.write(json);
            json.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return text.toString();
    }
}
