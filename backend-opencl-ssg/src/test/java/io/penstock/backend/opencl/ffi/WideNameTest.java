// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.ffi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.jna.Function;
import com.sun.jna.NativeLibrary;
import io.penstock.engine.kit.ffi.Machine;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WideNameTest {

    private static final String NAME = "ä大\uD83D\uDCBE";

    @Test
    void linuxHas32BitsPerCharacter() {
        ByteBuffer name = ByteBuffer.wrap(WideName.utf32(NAME)).order(ByteOrder.nativeOrder());
        int[] characters = new int[4];
        name.asIntBuffer().get(characters);
        assertThat(characters).containsExactly(0xE4, 0x5927, 0x1F4BE, 0);
        assertThat(name.capacity()).isEqualTo(16);
    }

    @Test
    void windowsHasUtf16() {
        assertThat(WideName.utf16(NAME)).containsExactly(0xE4, 0, 0x27, 0x59, 0x3D, 0xD8, 0xBE, 0xDC, 0, 0);
    }

    /** By a function of Windows' that takes such a name, as OpenCL's does there. */
    @Test
    void windowsFindsAFileByItsName(@TempDir Path folder) throws IOException {
        assumeTrue(Machine.operatingSystem().startsWith("windows"), "this is not Windows");
        Path file = Files.createFile(folder.resolve(NAME));
        Function attributes = NativeLibrary.getInstance("kernel32").getFunction("GetFileAttributesW");
        assertThat(attributes.invokeInt(new Object[] {WideName.of(file.toString())}))
                .isNotEqualTo(-1);
        assertThat(attributes.invokeInt(new Object[] {WideName.of(file + "\uD83D\uDCBE")}))
                .isEqualTo(-1);
    }

    @Test
    void theEmptyNameIsAZero() {
        assertThat(WideName.utf16("")).containsExactly(0, 0);
        assertThat(WideName.utf32("")).containsExactly(0, 0, 0, 0);
    }

    @Test
    void halfOfAPairIsNoName() {
        assertThatThrownBy(() -> WideName.utf32("a\uD83D")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> WideName.utf16("\uDCBEb")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aNameHasTheWidthOfWcharT() {
        boolean windows = System.getProperty("os.name").startsWith("Windows");
        assertThat(WideName.of("x")).hasSize(windows ? 4 : 8);
    }
}
