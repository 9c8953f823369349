// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The PTX that comes along was made of the source that comes along: nothing else detects that it was forgotten. */
class EmbeddedPtxTest {

    @Test
    void itWasMadeOfThisSource() throws IOException, NoSuchAlgorithmException {
        byte[] hash = MessageDigest.getInstance("SHA-256").digest(bytes("compose.cu"));
        assertThat(resource("compose.ptx"))
                .as("made anew, as ComposeModule says, it gets the hash of its source as its first line")
                .startsWith("// Made of compose.cu, SHA-256 " + HexFormat.of().formatHex(hash) + "\n");
    }

    @Test
    void itHasEveryKernelWithItsParameters() throws IOException {
        Map<String, Integer> declared = new TreeMap<>();
        Matcher kernel = Pattern.compile("^KERNEL\\((\\w+), (\\d+)\\)", Pattern.MULTILINE)
                .matcher(resource("compose.cu"));
        while (kernel.find()) {
            declared.put(kernel.group(1), Integer.parseInt(kernel.group(2)));
        }
        Map<String, Integer> compiled = new TreeMap<>();
        Matcher entry = Pattern.compile("\\.entry (\\w+)\\(([^)]*)\\)").matcher(resource("compose.ptx"));
        while (entry.find()) {
            compiled.put(entry.group(1), entry.group(2).split(",").length);
        }
        assertThat(declared).containsKeys("maxima", "march", "brightest");
        assertThat(compiled).isEqualTo(declared);
    }

    @Test
    void itRoundsAfterEachOperation() throws IOException {
        assertThat(resource("compose.ptx")).contains("mul.rn.f32").doesNotContain("fma.rn.f32");
    }

    private static String resource(String name) throws IOException {
        return new String(bytes(name), StandardCharsets.US_ASCII);
    }

    private static byte[] bytes(String name) throws IOException {
        try (InputStream from = Objects.requireNonNull(Kernels.class.getResourceAsStream(name), name)) {
            return from.readAllBytes();
        }
    }
}
