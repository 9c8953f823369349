// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.FileOption;
import io.penstock.Transfer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

class DeviceCopyTest {

    @TempDir
    Path folder;

    private final List<Throwable> dropped = new CopyOnWriteArrayList<>();

    @AfterEach
    void resetHook() {
        Hooks.resetOnErrorDropped();
    }

    /**
     * A backend on which a write fails while another one's failure is dropped, as Reactor does with what comes after
     * the end.
     */
    private static Backend failing(Backend host) {
        return (Backend) Proxy.newProxyInstance(
                DeviceCopyTest.class.getClassLoader(), new Class<?>[] {Backend.class}, (proxy, method, arguments) -> {
                    if (arguments != null && arguments[0] instanceof Transfer transfer && !transfer.isRead()) {
                        return Mono.deferContextual(context -> {
                            Operators.onErrorDropped(new IllegalStateException("full, too"), Context.of(context));
                            return Mono.error(new IllegalStateException("the disk is full"));
                        });
                    }
                    try {
                        return method.invoke(host, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    /** The holes belong to the old file: in a copy of the new file they would be zeros in place of its bytes. */
    @Test
    void aSourceThatWasReplacedAfterItsHolesWereReadIsRefused() throws Exception {
        Path source = folder.resolve("source");
        try (FileChannel sparse = FileChannel.open(source, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            sparse.write(ByteBuffer.wrap(new byte[] {1}), 8 << 20);
        }
        DataExtents extents = DataExtents.of(source);
        assumeTrue(extents.dataBytes() < extents.length(), "this file system has no holes");
        Path other = Files.write(folder.resolve("other"), new byte[(8 << 20) + 1]);
        Files.move(other, source, StandardCopyOption.REPLACE_EXISTING);
        Path target = Files.createFile(folder.resolve("target"));
        try (Backend host = Backends.open("host")) {
            DeviceCopy copy = new DeviceCopy(host, 1 << 16, null, FileOption.WRITE);
            assertThatThrownBy(() -> copy.run(source, extents, target, (done, total, paths) -> {}))
                    .hasStackTraceContaining(source + " was replaced or changed");
        }
    }

    /** As on a full disk; each would be logged with its stack. */
    @Test
    void ofWritesThatFailTogetherOneIsReported() throws Exception {
        Hooks.onErrorDropped(dropped::add);
        Path source = Files.write(folder.resolve("source"), new byte[1 << 20]);
        Path target = Files.createFile(folder.resolve("target"));
        try (Backend host = Backends.open("host")) {
            DeviceCopy copy = new DeviceCopy(failing(host), 1 << 16, null, FileOption.WRITE);
            assertThatThrownBy(() -> copy.run(source, DataExtents.whole(1 << 20), target, (done, total, paths) -> {}))
                    .hasMessage("the disk is full");
        }
        assertThat(dropped).isEmpty();
    }
}
