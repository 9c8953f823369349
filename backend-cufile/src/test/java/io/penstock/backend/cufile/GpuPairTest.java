// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.backend.cufile.ffi.CuFile;
import io.penstock.backend.cufile.ffi.Cuda;
import io.penstock.backend.cufile.paths.CufileProvider;
import io.penstock.backend.gpu.context.GpuContext;
import io.penstock.backend.gpu.device.GpuMemory;
import io.penstock.backend.gpu.file.FileDriver;
import io.penstock.backend.gpu.file.RegisteredMemory;
import io.penstock.engine.kit.LiveObjects;
import io.penstock.tck.Require;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Two GPUs of one machine in one process; {@code .ci/gpu run record pair} runs this. */
@Tag("gpu") // in a JVM of its own: a process loads one libcuda
class GpuPairTest {

    private static final int BYTES = (24 << 20) + 4096;
    private static final int ROUNDS = 4;

    @TempDir
    Path folder;

    private GpuFixture gpus;

    @BeforeAll
    static void thereIsOne() {
        GpuSubject.require();
    }

    @BeforeEach
    void thereAreTwo() {
        gpus = new GpuFixture(folder);
        int[] count = new int[1];
        Cuda.DRIVER.deviceGetCount(count);
        Require.backend("gpus", count[0] > 1 ? null : "one GPU only");
    }

    @AfterEach
    void nothingIsLeft() {
        gpus.close();
        GpuFixture.await(() -> !FileDriver.isUsed(CuFile.API) && LiveObjects.count(GpuMemory.class) == 0);
        assertThat(RegisteredMemory.count()).isZero();
    }

    private Backend backend(CufilePath path, int device) {
        Options options = Options.none().with(CufileOptions.PATH, path).with(CufileOptions.DEVICE, device);
        return gpus.keep(new CufileProvider().open(options.resolve(Backends.options())));
    }

    @ParameterizedTest
    @EnumSource(names = {"STAGED", "MAPPED", "SYNC", "BATCH", "STREAM"})
    void transfersOfTwoGpusRunBesideEachOther(CufilePath path) {
        byte[][] content = {GpuFixture.random(BYTES, 1), GpuFixture.random(BYTES, 2)};
        List<DeviceBuffer> targets = new ArrayList<>();
        List<Mono<Completion>> reads = new ArrayList<>();
        for (int device = 0; device < 2; device++) {
            Backend backend = backend(path, device);
            StorageFile file = gpus.open(
                    backend,
                    gpus.file("data" + device, content[device]),
                    path == CufilePath.MAPPED
                            ? new FileOption[] {FileOption.READ, FileOption.IMMUTABLE}
                            : new FileOption[] {FileOption.READ});
            for (int round = 0; round < ROUNDS; round++) {
                DeviceBuffer target = gpus.buffer(backend, BYTES);
                targets.add(target);
                reads.add(backend.submit(Transfer.read(file.all(), target.all())));
            }
        }
        List<Completion> ended = Flux.merge(reads).collectList().block(GpuFixture.LONG);
        TransferPath expected = switch (path) {
            case STAGED -> TransferPath.STAGED;
            case MAPPED -> TransferPath.MAPPED;
            default -> TransferPath.COMPAT;
        };
        assertThat(ended)
                .hasSize(2 * ROUNDS)
                .allSatisfy(end -> assertThat(end.path()).isEqualTo(expected));
        for (int i = 0; i < targets.size(); i++) {
            assertThat(Arrays.mismatch(GpuFixture.content(targets.get(i)), content[i / ROUNDS]))
                    .isEqualTo(-1);
            assertThat(ordinal(targets.get(i))).isEqualTo(i / ROUNDS);
        }
        System.out.println(path + " on two GPUs: " + ended.get(0).path() + " "
                + ended.get(0).reason());
    }

    private static int ordinal(DeviceBuffer buffer) {
        long[] device = new long[1];
        long any = GpuContext.anyHandle(Cuda.DRIVER).orElseThrow();
        assertThat(Cuda.DRIVER.in(
                        any,
                        () -> Cuda.DRIVER.pointerGetAttribute(
                                device, Cuda.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, buffer.nativeHandle())))
                .isZero();
        return (int) device[0];
    }

    @Test
    void aCopyFromOneReachesTheOther() {
        byte[] content = GpuFixture.random(BYTES, 4);
        Backend first = backend(CufilePath.STAGED, 0);
        Backend second = backend(CufilePath.STAGED, 1);
        StorageFile file = gpus.open(first, gpus.file("copied", content));
        DeviceBuffer here = gpus.buffer(first, BYTES);
        GpuFixture.move(first, Transfer.read(file.all(), here.all()));
        DeviceBuffer there = gpus.buffer(second, BYTES);
        Transfer copy = Transfer.copy(here.all(), there.all());
        Completion completion = second.submit(copy).block(GpuFixture.LONG);
        assertThat(Arrays.mismatch(GpuFixture.content(there), content)).isEqualTo(-1);
        System.out.println("a copy from one GPU to the other: " + completion.path() + " " + second.explain(copy));
    }

    @Test
    void writesOfOneAreReadByTheOther() {
        byte[] content = GpuFixture.random(BYTES, 3);
        Backend first = backend(CufilePath.SYNC, 0);
        Backend second = backend(CufilePath.SYNC, 1);
        StorageFile from = gpus.open(first, gpus.file("from", content));
        DeviceBuffer here = gpus.buffer(first, BYTES);
        GpuFixture.move(first, Transfer.read(from.all(), here.all()));
        StorageFile to = gpus.open(first, folder.resolve("to"), FileOption.READ, FileOption.WRITE, FileOption.CREATE);
        GpuFixture.move(first, Transfer.write(here.all(), to.region(0, BYTES)));
        StorageFile seen = gpus.open(second, folder.resolve("to"));
        DeviceBuffer there = gpus.buffer(second, BYTES);
        GpuFixture.move(second, Transfer.read(seen.all(), there.all()));
        assertThat(Arrays.mismatch(GpuFixture.content(there), content)).isEqualTo(-1);
    }

    @Test
    void memoryOfAnotherGpuIsNotWrapped() {
        Backend first = backend(CufilePath.STAGED, 0);
        DeviceBuffer memory = gpus.buffer(backend(CufilePath.STAGED, 1), 4096);
        assertThatThrownBy(() -> first.wrap(memory.nativeHandle(), 4096))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("is memory of GPU 1");
    }
}
