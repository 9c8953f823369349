// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.backend.cufile.fakes.Fakes;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** On the fake: four GPUs, each of a process of its own. */
@Tag("slow")
class SharedReadTest extends SharedReadRules {

    @BeforeEach
    void thereIsAFake() {
        Fakes.require();
        bytes = 96L * MIB + 4099;
        chunkBytes = MIB;
    }

    @Override
    Map<String, String> environment(int process) {
        Map<String, String> environment = new HashMap<>();
        environment.put("PENSTOCK_CUFILE_LIBCUDA", Fakes.libcuda().toString());
        environment.put("PENSTOCK_CUFILE_LIBCUFILE", Fakes.libcufile().toString());
        environment.put("PENSTOCK_CUFILE_PATH", "staged");
        environment.put("PENSTOCK_CUFILE_DEVICE", "" + process);
        return environment;
    }

    @Test
    void whatCannotBeCopiedIsReadAndTheCompletionTellsWhy() throws IOException {
        openAll(file("file"));
        assertThat(peer(2).ask("set no_peers 1")).isEqualTo("set");
        try {
            for (int process = 0; process < PROCESSES; process++) {
                start(process, 60_000);
            }
            String[][] answers = allEnded();
            assertThat(read(answers)).isLessThan(2 * bytes + bytes / 10); // one reads nearly everything itself
            assertThat(answers[2][5])
                    .startsWith("0 of " + bytes + " bytes were copied")
                    .contains("the file was read where a copy was refused, first: opening of cuda-ipc:")
                    .contains("does not reach it");
        } finally {
            peer(2).ask("set no_peers 0");
        }
    }
}
