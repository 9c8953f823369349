// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.tck.Bench;
import io.penstock.tck.Rules;
import io.penstock.tck.TckSubject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What strace sees of an idle backend. */
@Tag(Tool.FAULTS)
class IdleTest implements Rules {

    @Override
    public TckSubject subject() {
        return FaultSubject.uring();
    }

    @Test
    void anIdleBackendMakesNoSystemCall(Bench bench) throws IOException {
        Path calls = bench.file("calls", 0);
        Path file = bench.file("data", 4096);
        String said = Tool.require(() -> {
            Tool.run("strace", "-V");
            return ChildJvm.run(IdleAndTell.class, file, "strace", "-f", "-qq", "-o", calls.toString());
        });
        List<String> threads = said.lines()
                .filter(line -> line.startsWith("thread: "))
                .map(line -> line.substring("thread: ".length()))
                .toList();
        assertThat(threads)
                .as("an I/O queue of each kind, and a thread that makes blocking calls")
                .hasSizeGreaterThan(2);
        List<String> lines = Files.readAllLines(calls);
        int begin = indexOf(lines, IdleAndTell.BEGIN);
        int end = indexOf(lines, IdleAndTell.END);
        assertThat(lines.subList(0, begin))
                .as("system calls of the same threads before")
                .anyMatch(line -> threads.contains(line.split(" ", 2)[0]));
        assertThat(lines.subList(begin, end))
                .as("system calls of %s while idle", threads)
                .noneMatch(line -> threads.contains(line.split(" ", 2)[0]));
    }

    private static int indexOf(List<String> lines, String marker) {
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).contains(marker)) {
                return i;
            }
        }
        throw new AssertionError("no call that names " + marker);
    }
}
