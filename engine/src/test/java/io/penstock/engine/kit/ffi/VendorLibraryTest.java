// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ffi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Finding a library, and living with what it has not. */
class VendorLibraryTest {

    private static final String ANY = "libc.so.6"; // every Linux with a GNU C library has it

    @TempDir
    Path folder;

    /** As a vendor's functions: one that is there, and two of another version. */
    static final class Functions {
        static native int getpid();

        static native int penstock_is_not_there(long pointer, int flags);

        static native long penstock_is_not_there_either();

        private Functions() {}
    }

    /** A class of its own: a class is mapped once. */
    static final class Others {
        static native int getpid();

        private Others() {}
    }

    @BeforeEach
    void linuxOnly() {
        assumeThat(Machine.IS_LINUX).isTrue();
    }

    @Test
    void functionsThatAreAbsentAnswerSoAndTheOthersWork() {
        VendorLibrary library = new VendorLibrary(Functions.class, ANY, List.of(), 500);
        assertThat(library.absent()).isEmpty();
        assertThat(library.load("")).isEmpty();
        assertThat(library.file()).isEqualTo(ANY);
        assertThat(library.absent()).containsExactlyInAnyOrder("penstock_is_not_there", "penstock_is_not_there_either");
        assertThat((long) Functions.getpid()).isEqualTo(ProcessHandle.current().pid());
        assertThat(Functions.penstock_is_not_there(1L << 40, 7)).isEqualTo(500);
        assertThat(Functions.penstock_is_not_there_either()).isEqualTo(500);
    }

    /** What tables of several vendors have in common. */
    abstract static class Table {
        abstract int process();
    }

    /** One vendor's. */
    static final class Vendor extends Table {
        @Override
        native int process();

        native int missing();
    }

    @Test
    void methodsOfInstancesAreBoundToSymbolsOfOtherNames() {
        VendorLibrary library = new VendorLibrary(Vendor.class, ANY, List.of(), 500)
                .symbols(name -> name.equals("process") ? "getpid" : "penstock_" + name);
        assertThat(library.load("")).isEmpty();
        assertThat(library.absent()).containsExactly("penstock_missing");
        Table table = new Vendor();
        assertThat((long) table.process()).isEqualTo(ProcessHandle.current().pid());
        assertThat(new Vendor().missing()).isEqualTo(500);
    }

    /** A class of its own: a class is mapped once. */
    static final class Named {
        static native int getpid();

        static native int penstock_is_known_to_a_call();

        static native int penstock_is_not_there();

        private Named() {}
    }

    @Test
    void aFunctionThatIsNotExportedIsLoadedByItsName() {
        long getpid = Pointer.nativeValue(NativeLibrary.getInstance(ANY).getGlobalVariableAddress("getpid"));
        VendorLibrary library = new VendorLibrary(
                Named.class, ANY, List.of(), 500, name -> name.equals("penstock_is_known_to_a_call") ? getpid : 0);
        assertThat(library.load("")).isEmpty();
        assertThat((long) Named.penstock_is_known_to_a_call())
                .isEqualTo(ProcessHandle.current().pid());
        assertThat((long) Named.getpid()).isEqualTo(ProcessHandle.current().pid());
        assertThat(Named.penstock_is_not_there()).isEqualTo(500);
        assertThat(library.absent()).containsExactly("penstock_is_not_there");
    }

    @Test
    void aFailedLoadReportsTheReasonAndMayBeRetried() {
        VendorLibrary library = new VendorLibrary(Others.class, "libpenstock-no-such.so.1", List.of("/nowhere"), 1);
        assertThat(library.load("")).contains("cannot open shared object file");
        assertThat(library.load("")).contains("libpenstock-no-such.so.1").doesNotContain("\n");
        assertThat(library.load("/nowhere/lib.so")).contains("/nowhere/lib.so");
        assertThat(library.file()).isEmpty();
        assertThat(library.load(ANY)).isEmpty();
        assertThat(library.load("")).as("loaded once is loaded").isEmpty();
        assertThat(library.load("libm.so.6")).contains(ANY).contains("libm.so.6");
        assertThat((long) Others.getpid()).isEqualTo(ProcessHandle.current().pid());
    }

    /** A class of its own: a class is mapped once. */
    static final class InAFolder {
        static native int getpid();

        private InAFolder() {}
    }

    @Test
    void aLibraryThatTheSystemDoesNotFindIsSearchedInTheFolders() throws IOException {
        String libc = Files.readAllLines(Path.of("/proc/self/maps")).stream()
                .filter(line -> line.endsWith("/" + ANY))
                .map(line -> line.substring(line.indexOf('/')))
                .findFirst()
                .orElseThrow();
        Path name = Files.createSymbolicLink(folder.resolve("libpenstock-test.so"), Path.of(libc));
        VendorLibrary library =
                new VendorLibrary(InAFolder.class, "libpenstock-test.so", List.of("/nowhere", folder.toString()), 1);
        assertThat(library.load("")).isEmpty();
        assertThat(library.file()).isEqualTo(name.toString());
        assertThat((long) InAFolder.getpid()).isEqualTo(ProcessHandle.current().pid());
        assertThat(library.load(name.toString())).isEmpty();
        assertThat(library.load(libc)).as("the same file by another name").isEmpty();
        assertThat(library.load("/dev/null")).contains("cannot load /dev/null as well");
        assertThat(library.load(folder + "/none")).contains("as well");
        Files.delete(name);
    }
}
