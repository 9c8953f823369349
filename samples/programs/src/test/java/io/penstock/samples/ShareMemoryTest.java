// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.DeviceBuffer;
import io.penstock.PeerExport;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * ShareMemory, with memory of the host in place of the GPU's, and one process in place of two: exports and imports are
 * this test's. {@link VendorProgramsTest} runs it on a GPU.
 */
class ShareMemoryTest {

    @TempDir
    Path folder;

    private final Backend host = Backends.open("host");
    private final Backend gpu = proxy(
            Backend.class,
            host,
            Map.of(
                    "withBuffer",
                            arguments -> host.withBuffer(
                                    (long) arguments[0], buffer -> use(arguments[1], exporting(buffer))),
                    "openBuffer", arguments -> Mono.just(imported((URI) arguments[0]))));
    private final Map<URI, DeviceBuffer> exports = new ConcurrentHashMap<>();
    private final Sinks.Empty<Void> revoked = Sinks.empty();
    private final Sinks.Empty<Void> released = Sinks.empty();
    private final List<String> events = new CopyOnWriteArrayList<>(); // of the backend's threads too

    private static <T> T proxy(Class<T> type, T target, Map<String, Function<Object[], Object>> other) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    Function<Object[], Object> here = other.get(method.getName());
                    return here != null ? here.apply(arguments) : invoke(target, method, arguments);
                }));
    }

    private static Object invoke(Object target, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    @SuppressWarnings("unchecked")
    private static Mono<Object> use(Object function, DeviceBuffer buffer) {
        return ((Function<DeviceBuffer, Mono<Object>>) function).apply(buffer);
    }

    private DeviceBuffer exporting(DeviceBuffer buffer) {
        URI uri = URI.create("cuda-ipc:/tmp/1");
        return proxy(DeviceBuffer.class, buffer, Map.of("exportPeer", none -> {
            exports.put(uri, buffer);
            return Proxy.newProxyInstance(
                    getClass().getClassLoader(),
                    new Class<?>[] {PeerExport.class},
                    (self, method, arguments) -> switch (method.getName()) {
                        case "uri" -> uri;
                        case "released" -> released.asMono();
                        case "close" -> {
                            if (exports.remove(uri) != null) {
                                events.add("revoked");
                                revoked.tryEmitEmpty();
                            }
                            yield null;
                        }
                        default -> throw new AssertionError(method);
                    });
        }));
    }

    private DeviceBuffer imported(URI uri) {
        return proxy(
                DeviceBuffer.class,
                exports.get(uri),
                Map.of(
                        "revoked", none -> revoked.asMono(),
                        "close", none -> closed()));
    }

    private @Nullable Object closed() {
        events.add("closed by the importer");
        return null;
    }

    @AfterEach
    void close() {
        host.close();
    }

    @Test
    void anotherProcessUsesTheMemoryUntilItIsRevokedAndTheExporterWaitsForIt() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "0123456789abcdefghij");
        Sinks.Empty<Void> end = Sinks.empty();
        CompletableFuture<URI> published = new CompletableFuture<>();
        CompletableFuture<Void> exporter =
                ShareMemory.export(gpu, file, published::complete, end.asMono()).toFuture();
        byte[] first = ShareMemory.use(gpu, published.join()).block();
        assertThat(new String(first, StandardCharsets.US_ASCII)).isEqualTo("0123456789abcdef");
        assertThat(events).containsExactly("closed by the importer");

        end.tryEmitEmpty();
        revoked.asMono().block(); // on the exporter's thread, which may not have come to the end's subscription yet
        assertThat(events).endsWith("revoked");
        assertThat(exporter).as("others may have the memory").isNotDone();
        released.tryEmitEmpty();
        exporter.join();
    }

    @Test
    void anImporterWhoseMemoryIsRevokedClosesIt() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "0123456789");
        Sinks.Empty<Void> end = Sinks.empty();
        CompletableFuture<URI> published = new CompletableFuture<>();
        CompletableFuture<Void> exporter =
                ShareMemory.export(gpu, file, published::complete, end.asMono()).toFuture();
        Backend slow = proxy(
                Backend.class,
                gpu,
                Map.of(
                        "openBuffer",
                        arguments -> Mono.just(proxy(
                                DeviceBuffer.class,
                                imported((URI) arguments[0]),
                                Map.of("download", none -> Mono.never())))));
        CompletableFuture<byte[]> importer =
                ShareMemory.use(slow, published.join()).toFuture();
        assertThat(importer).isNotDone();
        end.tryEmitEmpty();
        assertThat(importer.join()).isNull();
        assertThat(events).containsExactlyInAnyOrder("revoked", "closed by the importer");
        released.tryEmitEmpty();
        exporter.join();
    }

    @Test
    void aBackendThatExportsNothingIsAnError() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "0123456789");
        assertThatThrownBy(() ->
                        ShareMemory.export(host, file, uri -> {}, Mono.never()).block())
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("cannot be accessed by other devices");
    }
}
