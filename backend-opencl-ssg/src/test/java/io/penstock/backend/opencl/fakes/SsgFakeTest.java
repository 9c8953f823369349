// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.fakes;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("slow")
class SsgFakeTest {

    private static final int CL_PLATFORM_EXTENSIONS = 0x0904;
    private static final int CL_INVALID_VALUE = -30;

    /** Kept: JNA unloads an unreferenced library, and a loader that is loaded again has no layers. */
    private static final class OpenCl {
        static final NativeLibrary LIBRARY = NativeLibrary.getInstance("libOpenCL.so.1");
    }

    @TempDir
    Path folder;

    /** The loader loads its layers when platforms are queried: a call before that ends in the loader itself. */
    @BeforeEach
    void layerIsThere() {
        SsgFake.require();
        extensions();
        SsgFake.reset();
    }

    /** The next class runs in this JVM, and may want the OpenCL of the machine. */
    @AfterEach
    void disarm() {
        SsgFake.reset();
    }

    /** A fake that races or writes where it should not would be a bad witness. */
    @ParameterizedTest
    @Timeout(180) // compiles the layer and the program
    @ValueSource(strings = {"address,undefined", "thread"})
    void anApplicationInCUsesTheFakeAsInTheManual(String sanitizer) throws IOException {
        assertThat(SsgLayerBuild.tested(sanitizer, folder)).matches("\\d{2,} tests, 0 failures\n");
    }

    @Test
    void everyCallOfThisJvmPassesTheLayerWhichIsUnarmedAtFirst() {
        assertThat(extensions()).doesNotContain("cl_amd_liquid_flash");
        SsgFake.arm();
        assertThat(extensions()).contains("cl_amd_liquid_flash");
        SsgFake.reset();
        assertThat(extensions()).doesNotContain("cl_amd_liquid_flash");
    }

    @Test
    void callsFailAsOrderedAndAreCounted() {
        extensions();
        assertThat(SsgFake.control().calls("clGetPlatformInfo")).isEqualTo(1);
        SsgFake.control().fail("clGetPlatformInfo", 1, CL_INVALID_VALUE);
        assertThat(platformInfo(new Memory(16))).isEqualTo(CL_INVALID_VALUE);
        assertThat(SsgFake.held()).isEmpty();
        assertThat(SsgFake.complaint()).isEmpty();
    }

    @Test
    void refusalsAreWrittenDown() {
        SsgFake.arm();
        Memory answer = new Memory(4);
        Pointer made = (Pointer)
                OpenCl.LIBRARY.getFunction("clCreateUserEvent").invoke(Pointer.class, new Object[] {null, answer});
        assertThat(made).isNull();
        assertThat(SsgFake.references(0)).isZero();
        assertThat(SsgFake.refusals())
                .as("the whole journal since the reset")
                .containsExactly("clCreateUserEvent -> -34: no such context");
    }

    private static String extensions() {
        Memory text = new Memory(1 << 16);
        assertThat(platformInfo(text)).isZero();
        return text.getString(0, StandardCharsets.US_ASCII.name());
    }

    private static int platformInfo(Memory text) {
        PointerByReference platform = new PointerByReference();
        OpenCl.LIBRARY.getFunction("clGetPlatformIDs").invokeInt(new Object[] {1, platform, null});
        return OpenCl.LIBRARY
                .getFunction("clGetPlatformInfo")
                .invokeInt(new Object[] {platform.getValue(), CL_PLATFORM_EXTENSIONS, text.size(), text, null});
    }
}
