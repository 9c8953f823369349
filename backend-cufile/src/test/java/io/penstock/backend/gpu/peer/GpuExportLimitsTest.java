// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.penstock.PenstockException;
import io.penstock.backend.cufile.fakes.Fakes;
import io.penstock.backend.cufile.fakes.FreshFakes;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.paths.ContextChoice;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.backend.gpu.context.GpuInfo;
import io.penstock.engine.kit.machine.KernelFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Exports of a GPU of a machine with a small BAR, where only some of the memory can be reached by other devices. */
@ExtendWith(FreshFakes.class)
class GpuExportLimitsTest {

    private static final int PAGE = 4096;
    private static final int BYTES = 2 * PAGE;
    private static final int NOT_SUPPORTED = 801;
    private static final int UNKNOWN = 999;

    @TempDir
    Path root;

    private GpuContext context;
    private long address;

    @BeforeEach
    void allocate() {
        assertThat(Cuda.load(Fakes.libcuda().toString())).isEmpty(); // the first test of a process has to
        assertThat(Cuda.DRIVER.init(0)).isZero();
        context = ContextChoice.open(GpuInfo.of(Cuda.DRIVER, 0), 0);
        long[] allocated = new long[1];
        assertThat(context.attempt(() -> Cuda.DRIVER.memAlloc(allocated, BYTES + PAGE)))
                .isZero();
        address = allocated[0];
    }

    @AfterEach
    void free() {
        assertThat(context.attempt(() -> Cuda.DRIVER.memFree(address))).isZero();
        context.leave();
    }

    private GpuExport export(long bar) throws IOException {
        Path gpu = root.resolve("sys/bus/pci/devices/0000:1b:00.0"); // as the fake places its first GPU
        Files.createDirectories(gpu);
        Files.writeString(gpu.resolve("resource"), "0x1000000 0x%x 0x14220c\n".formatted(0x1000000 + bar - 1));
        long page = (address + PAGE - 1) & -PAGE;
        return new GpuExport(new KernelFiles(root, "amd64"), context, page, BYTES);
    }

    @Test
    void limitsAreAskedOfTheMachine() throws IOException {
        try (GpuExport export = export(1 << 20)) {
            assertThat(export.limits())
                    .singleElement()
                    .asString()
                    .startsWith("the largest BAR of 0000:1b:00.0 has 1 MiB");
            assertThat(export.limits("0000:02:00.0"))
                    .hasSize(2)
                    .last()
                    .asString()
                    .contains("no PCI device 0000:02:00.0");
            assertThat(export.descriptor()).as("a limit is no refusal").isPositive();
        }
    }

    @Test
    void whatNoDeviceCanReachIsRefusedBeforeTheDriverIsAsked() throws IOException {
        try (GpuExport export = export(BYTES / 2)) {
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(export::descriptor)
                    .withMessageStartingWith("no dma-buf of 8192 bytes at 0x")
                    .withMessageContaining("the largest BAR of 0000:1b:00.0 has 0 MiB")
                    .withMessageEndingWith("or export smaller buffers");
            assertThat(Fakes.cuda().calls("cuMemGetHandleForAddressRange")).isZero();
            assertThat(export.uri()).as("other processes do not need the BAR").isNotNull();
        }
    }

    @Test
    void whatTheDriverRefusesNamesTheLimits() throws IOException {
        String limit = "Limits of this machine: the largest BAR of 0000:1b:00.0 has 1 MiB";
        try (GpuExport export = export(1 << 20)) {
            Fakes.cuda().fail("cuMemGetHandleForAddressRange", 1, NOT_SUPPORTED);
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(export::descriptor)
                    .withMessageContaining("CUDA_ERROR_NOT_SUPPORTED")
                    .withMessageContaining(limit);
            Fakes.cuda().fail("cuMemGetHandleForAddressRange", 1, UNKNOWN);
            assertThatExceptionOfType(PenstockException.class)
                    .isThrownBy(export::descriptor)
                    .withMessageContaining("CUDA_ERROR_UNKNOWN")
                    .withMessageContaining(limit);
            Fakes.cuda().set("dma_buf", 0);
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(export::descriptor)
                    .withMessageContaining("DMA_BUF_SUPPORTED is 0")
                    .withMessageContaining(limit);
        }
    }
}
