// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.backend.cufile.fakes.Fakes;
import io.penstock.backend.cufile.fakes.FreshFakes;
import io.penstock.backend.cufile.report.CuFileLibrary;
import io.penstock.backend.gpu.file.StorageKind;
import io.penstock.engine.kit.file.HostFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Files whose descriptor the system closes with an error, as file systems of servers do that could not keep what was
 * written. (Deregistering a handle returns nothing: by the reference it cannot fail.) The bench asserts at its close
 * that no handle is left, and that the driver is closed.
 */
@ExtendWith(FreshFakes.class)
class CuFileCloseTest {

    private final AtomicInteger failures = new AtomicInteger();
    private volatile boolean fails = true;

    private final CuFileLibrary.Storages disk = new CuFileLibrary.Storages() {
        @Override
        public StorageKind of(Path file) throws IOException {
            if (file.getFileName().toString().startsWith("unknown")) {
                throw new IOException("no storage");
            }
            return CuFileFake.nvme(file);
        }

        @Override
        public Path nvidiaFs() {
            return Path.of("/"); // there
        }

        @Override
        public HostFile open(Path file, Set<FileOption> options) throws IOException {
            return failing(CuFileLibrary.Storages.super.open(file, options));
        }
    };

    @BeforeEach
    void thereIsADirectPath() {
        Fakes.cufile().set("nvfs", 1);
    }

    /** Returns the same file, whose close releases it and then fails. */
    private HostFile failing(HostFile file) {
        return (HostFile) Proxy.newProxyInstance(
                HostFile.class.getClassLoader(), new Class<?>[] {HostFile.class}, (proxy, method, arguments) -> {
                    try {
                        Object answer = method.invoke(file, arguments);
                        if (method.getName().equals("close") && fails) {
                            failures.incrementAndGet();
                            throw new UncheckedIOException(new IOException("close -> EIO (5)"));
                        }
                        return answer;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @Test
    void aDescriptorThatClosesWithAnErrorLeavesNeitherItsHandleNorTheDriver() throws IOException {
        try (CuFileBench bench = CuFileBench.open(CuFileFake.options(CufilePath.SYNC), disk)) {
            StorageFile file = bench.file(CuFileBench.bytes(4096));
            bench.move(Transfer.read(file.all(), bench.buffer(4096).all()));
            assertThat(Fakes.cufile().live("handles")).isPositive();
            file.close();
        }
        assertThat(failures).hasPositiveValue();
    }

    /** The descriptor of the second opening is not needed; where its close fails, that opening is staged. */
    @Test
    void aSecondOpeningThatCannotCloseItsDescriptorIsNoUserOfTheHandle() throws IOException {
        try (CuFileBench bench = CuFileBench.open(CuFileFake.options(CufilePath.SYNC), disk)) {
            StorageFile file = bench.file(CuFileBench.bytes(4096));
            StorageFile second = bench.open(file.path());
            assertThat(failures).hasPositiveValue();
            fails = false;
            DeviceBuffer buffer = bench.buffer(4096);
            Transfer staged = Transfer.read(second.all(), buffer.all());
            assertThat(bench.move(staged).path()).isEqualTo(TransferPath.STAGED);
            assertThat(bench.backend().explain(staged).whyNotDirect()).contains("close -> EIO (5)");
            assertThat(bench.move(Transfer.read(file.all(), buffer.all())).path())
                    .isNotEqualTo(TransferPath.STAGED);
        }
    }

    @Test
    void aRefusedRegistrationWhoseDescriptorClosesWithAnErrorLeavesNoDriver() throws IOException {
        Fakes.cufile().fail("cuFileHandleRegister", 0, 5022);
        try (CuFileBench bench = CuFileBench.open(CuFileFake.options(CufilePath.SYNC), disk)) {
            StorageFile file = bench.file(CuFileBench.bytes(4096));
            Transfer read = Transfer.read(file.all(), bench.buffer(4096).all());
            assertThat(bench.move(read).path()).isEqualTo(TransferPath.STAGED);
            assertThat(bench.backend().explain(read).whyNotDirect()).contains("cuFileHandleRegister -> ");
        }
        assertThat(failures).hasPositiveValue();
    }

    @Test
    void aFileOfUnknownStorageWhoseDescriptorClosesWithAnErrorIsStaged() throws IOException {
        try (CuFileBench bench = CuFileBench.open(CuFileFake.options(CufilePath.SYNC), disk)) {
            StorageFile file = bench.open(bench.path("unknown", CuFileBench.bytes(4096)));
            Transfer read = Transfer.read(file.all(), bench.buffer(4096).all());
            assertThat(bench.move(read).path()).isEqualTo(TransferPath.STAGED);
            assertThat(bench.backend().explain(read).whyNotDirect()).contains("no storage");
        }
        assertThat(failures).hasPositiveValue();
    }
}
