// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backends;
import io.penstock.engine.testing.UserProgram;
import java.io.IOException;
import java.lang.module.Configuration;
import java.lang.module.ModuleFinder;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A user's program in a JVM of its own, on the class path and on the module path: discovery and native access work. */
class SmokeTest {

    @TempDir
    Path directory;

    private UserProgram program;

    @BeforeEach
    void compile() throws IOException {
        program = UserProgram.compile(directory, HostProvider.class);
    }

    /** What this JVM, where JNA is known to work or not, says of host I/O: the child must find the same. */
    private static String hostReason() {
        return Backends.list().stream()
                .filter(listing -> listing.name().equals("host"))
                .map(listing -> "host: " + listing.availability().reason())
                .findFirst()
                .orElseThrow();
    }

    private static void assertReads(UserProgram.Said said, String module) {
        assertThat(said.code()).as(said.toString()).isZero();
        assertThat(said.out().lines()).containsExactly("host read 8 bytes: penstock in " + module, hostReason());
        assertThat(said.err().lines().filter(line -> line.startsWith("WARNING")))
                .as("warnings of the JVM: native access that was not allowed, Unsafe")
                .isEmpty();
    }

    @Test
    void aProgramOnTheModulePathReadsAFile() throws IOException, InterruptedException {
        assertReads(program.onModulePath(Map.of()), "smoke");
    }

    @Test
    void aProgramOnTheClassPathReadsAFile() throws IOException, InterruptedException {
        assertReads(program.onClassPath(Map.of()), "no module");
    }

    @Test
    void aProgramInALayerWhoseModulesHaveLoadersOfTheirOwnReadsAFile() throws ReflectiveOperationException {
        Path[] path = program.parts().toArray(Path[]::new);
        Configuration resolved = ModuleLayer.boot()
                .configuration()
                .resolveAndBind(ModuleFinder.of(path), ModuleFinder.of(), Set.of("smoke"));
        ModuleLayer layer =
                ModuleLayer.boot().defineModulesWithManyLoaders(resolved, ClassLoader.getPlatformClassLoader());
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        Thread.currentThread().setContextClassLoader(null);
        try {
            Object text = layer.findLoader("smoke")
                    .loadClass("smoke.Smoke")
                    .getMethod("text", String.class)
                    .invoke(null, program.file().toString());
            assertThat(text).isEqualTo("host read 8 bytes: penstock in smoke");
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
    }

    @Test
    void theEnvironmentChoosesBackendAndOptionsAndMayNameWhatIsAbsent() throws IOException, InterruptedException {
        UserProgram.Said said = program.onClassPath(Map.of(
                "PENSTOCK_BACKEND", "host",
                "PENSTOCK_REQUIRE", "host,io_uring",
                "PENSTOCK_CUFILE_BATCH", "of a module that is absent",
                "PENSTOCK_HOST_IO", "pool"));
        assertThat(said.code()).as(said.toString()).isZero();
        assertThat(said.out()).contains("host read 8 bytes: penstock").contains("as set by penstock.host.io");
    }

    @Test
    void anotherBackendThanThereIsNamesItAndListsThoseThatThereAre() throws IOException, InterruptedException {
        UserProgram.Said said = program.onClassPath(Map.of("PENSTOCK_BACKEND", "cufile"));
        assertThat(said.code()).isNotZero();
        assertThat(said.err())
                .contains("there is no backend 'cufile'; providers:")
                .contains(hostReason().replace("host: ", "host: available, "));
    }

    @Test
    void aMisspeltVariableAndABadValueAreErrorsThatNameThem() throws IOException, InterruptedException {
        UserProgram.Said misspelt = program.onClassPath(Map.of("PENSTOCK_HOST_OI", "pool"));
        assertThat(misspelt.code()).isNotZero();
        assertThat(misspelt.err()).contains("PENSTOCK_HOST_OI").contains("not an option of Penstock");
        UserProgram.Said bad = program.onClassPath(Map.of("PENSTOCK_HOST_IO", "floppy"));
        assertThat(bad.code()).isNotZero();
        assertThat(bad.err())
                .contains("PENSTOCK_HOST_IO")
                .contains("penstock.host.io=floppy")
                .contains("auto, uring, pool");
    }
}
