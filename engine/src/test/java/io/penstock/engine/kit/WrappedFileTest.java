// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFile;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class WrappedFileTest {

    private static final Limits HOSTS = new Limits(512, 512, 1 << 20, 1 << 20, false);
    private static final Limits PATHS = new Limits(4096, 1, 1 << 16, 1 << 16, true);

    private final List<String> asked = new ArrayList<>();

    private final NativeFile host = new NativeFile() {
        @Override
        public Limits limits() {
            return HOSTS;
        }

        @Override
        public Object identity() {
            return asked;
        }

        @Override
        public long size() {
            return 77;
        }

        @Override
        public void truncate(long bytes) {
            asked.add("truncate " + bytes);
        }

        @Override
        public void preallocate(long bytes) {
            asked.add("preallocate " + bytes);
        }

        @Override
        public void close() {
            asked.add("close");
        }

        @Override
        public String toString() {
            return "weights.bin";
        }
    };

    private final NativeFile file = new WrappedFile<>(host, PATHS) {};

    @Test
    void identityLengthSpaceAndNameAreTheHosts() throws IOException {
        assertThat(file.identity()).isSameAs(asked);
        assertThat(file.size()).isEqualTo(77);
        file.truncate(5);
        file.preallocate(6);
        assertThat(asked).containsExactly("truncate 5", "preallocate 6");
        assertThat(file).hasToString("weights.bin");
    }

    @Test
    void limitsAreThePaths() {
        assertThat(file.limits()).isEqualTo(PATHS);
    }

    @Test
    void closesTheHostsFile() {
        file.close();
        assertThat(asked).containsExactly("close");
    }
}
