// SPDX-License-Identifier: Apache-2.0
package io.penstock.house;

import static com.tngtech.archunit.core.domain.JavaAccess.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.simpleName;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameStartingWith;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.GeneralCodingRules;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import io.penstock.engine.spi.staging.StagingPath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import reactor.core.scheduler.Schedulers;

/**
 * The rules of the house that a compiler does not know. They live here because this module sees all others but
 * benchmarks; {@link SourceFilesTest} holds the sources of all to the rules that concern a program.
 */
class HouseRulesTest {

    private static final int MAX_API_TYPES = 45;

    static final JavaClasses OURS = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("io.penstock");

    private static final DescribedPredicate<JavaClass> PROGRAMS = resideInAnyPackage(
            "io.penstock.cli..", "io.penstock.renderer..", "io.penstock.samples..", "io.penstock.benchmarks..");

    static final ArchRule JNA_APPEARS_IN_PACKAGES_NAMED_FFI_ONLY = noClasses()
            .that()
            .resideOutsideOfPackage("..ffi..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("com.sun.jna..")
            .because("moving to the JDK's foreign-function API must replace ffi alone");

    static final ArchRule NO_JNA_STRUCTURES = noClasses()
            .that()
            // Passed by value, which only JNA knows how to do on each processor; once for each import.
            .doNotHaveFullyQualifiedName("io.penstock.backend.cufile.ffi.CudaIpc$CUipcMemHandle")
            .and()
            .doNotHaveFullyQualifiedName("io.penstock.backend.hip.ffi.HipIpc$HipIpcMemHandle")
            .should()
            .dependOnClassesThat()
            .haveFullyQualifiedName("com.sun.jna.Structure")
            .because("reflection per call is slow; structures are laid out by hand and checked in tests");

    static final ArchRule API_KNOWS_NOTHING_NATIVE_AND_NOTHING_BELOW = classes()
            .that()
            .resideInAnyPackage("io.penstock", "io.penstock.file", "io.penstock.handover", "io.penstock.spi")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "io.penstock",
                    "io.penstock.file",
                    "io.penstock.handover",
                    "io.penstock.spi",
                    "java..",
                    "reactor..",
                    "org.reactivestreams..",
                    "org.slf4j..",
                    "org.jspecify..");

    static final ArchRule ENGINE_KNOWS_NO_BACKEND = noClasses()
            .that()
            .resideInAPackage("io.penstock.engine..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.penstock.backend..");

    static final ArchRule FORMATS_KNOW_THE_API_ONLY = noClasses()
            .that()
            .resideInAPackage("io.penstock.formats..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.penstock.engine..", "io.penstock.backend..", "com.sun.jna..")
            .because("arrays are loaded by any backend");

    static final ArchRule ADAPTERS_KNOW_THE_API_ONLY = noClasses()
            .that()
            .resideInAnyPackage("io.penstock.onnxruntime..", "io.penstock.cudf..", "io.penstock.integration..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.penstock.engine..", "io.penstock.backend..")
            .because("memory of any backend is handed over");

    static final ArchRule ONLY_THE_COMMAND_USES_LOGBACK_AND_PICOCLI = noClasses()
            .that()
            .resideOutsideOfPackages("io.penstock.cli..", "io.penstock.renderer..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("ch.qos.logback..", "picocli..");

    static final ArchRule TYPES_SAY_WHAT_THEY_ARE_IN_THE_DOMAIN = noClasses()
            .should()
            .haveNameMatching(".*(Impl|Utils?|Helper|Manager)")
            .orShould()
            .haveNameMatching("(.*[.$])?(Abstract[A-Z]|I[A-Z][a-z]).*");

    static final ArchRule NOTHING_PRINTS_BUT_PROGRAMS = noClasses()
            .that(DescribedPredicate.not(PROGRAMS))
            .and(DescribedPredicate.not(simpleName("SkipReport")))
            .should(GeneralCodingRules.ACCESS_STANDARD_STREAMS);

    static final ArchRule NO_UNSAFE =
            noClasses().should().dependOnClassesThat().resideInAnyPackage("sun.misc..", "jdk.internal..");

    static final ArchRule BACKENDS_KNOW_THE_SPI_ONLY = noClasses()
            .that()
            .resideInAPackage("io.penstock.backend..")
            .should()
            .dependOnClassesThat(resideInAnyPackage("io.penstock.engine..")
                    .and(DescribedPredicate.not(resideInAnyPackage(
                            "io.penstock.engine.spi..", "io.penstock.engine.kit..", "io.penstock.engine.options")))
                    .and(DescribedPredicate.not(simpleName("Engine"))))
            .because("what a stranger's backend cannot use, ours must not need");

    static final ArchRule STAGING_PATHS_NEED_NO_HOST = noClasses()
            .that()
            .areAssignableTo(StagingPath.class)
            .and()
            .resideInAPackage("io.penstock.backend..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "io.penstock.engine.kit.file", "io.penstock.engine.kit.host", "io.penstock.engine.kit.memory")
            .because("the staged path is the one that every backend has");

    private static final Pattern UPPER_FLOORS =
            Pattern.compile("io\\.penstock\\.formats\\.(ArrayWriter|Formats|HostPiece|Load\\w*|SharedLoad|Slice)\\b"
                    + "|io\\.penstock\\.engine\\.spi\\.staging\\.StagingPath\\b");

    static final ArchRule PACKAGES_ARE_FREE_OF_CYCLES = slices().assignedFrom(new SliceAssignment() {
                @Override
                public SliceIdentifier getIdentifierOf(JavaClass type) {
                    // The API's two packages are one: a provider opens a Backend, and Backends finds providers.
                    // Two packages are two floors, since they show all that a reader of them needs: what describes
                    // arrays, and above readers what loads them; a device, and above the queue its path.
                    String place = UPPER_FLOORS.matcher(type.getName()).lookingAt()
                            ? type.getPackageName() + " (upper floor)"
                            : type.getPackageName();
                    return SliceIdentifier.of(place.replaceFirst("^io\\.penstock\\.spi$", "io.penstock"));
                }

                @Override
                public String getDescription() {
                    return "packages";
                }
            })
            .should()
            .beFreeOfCycles()
            .because("who reads one package must not have to read the one that uses it");

    /** Packages whose types have no cycle either. The list only grows. */
    private static final DescribedPredicate<JavaClass> IN_LAYERS = resideInAnyPackage(
            "io.penstock.backend.cufile..",
            "io.penstock.backend.dx11..",
            "io.penstock.backend.gl..",
            "io.penstock.backend.gpu..",
            "io.penstock.backend.hip..",
            "io.penstock.backend.host",
            "io.penstock.backend.nvme..",
            "io.penstock.backend.opencl..",
            "io.penstock.engine.host..",
            "io.penstock.engine.order",
            "io.penstock.engine.plan",
            "io.penstock.engine.spi",
            "io.penstock.engine.kit",
            "io.penstock.engine.kit.fence",
            "io.penstock.engine.kit.file",
            "io.penstock.engine.kit.host",
            "io.penstock.engine.kit.memory",
            "io.penstock.house.bad",
            "..ffi..");

    static final ArchRule TYPES_IN_LAYERS_ARE_FREE_OF_CYCLES = slices().assignedFrom(new SliceAssignment() {
                @Override
                public SliceIdentifier getIdentifierOf(JavaClass type) {
                    // A nested type belongs to the type around it.
                    return IN_LAYERS.test(type)
                            ? SliceIdentifier.of(type.getName().replaceFirst("[$].*", ""))
                            : SliceIdentifier.ignore();
                }

                @Override
                public String getDescription() {
                    return "top-level types";
                }
            })
            .should()
            .beFreeOfCycles()
            .because("a type that others use must be readable without them");

    static final ArchRule SPI_SHOWS_NOTHING_NATIVE = noClasses()
            .that()
            .resideInAPackage("io.penstock.engine.spi")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("..ffi..")
            .because("a backend must not have to change when ffi is replaced");

    static final ArchRule NO_THREADS_BY_A_FACTORY_OF_THE_MOMENT = noClasses()
            .that(DescribedPredicate.not(PROGRAMS))
            .should()
            .callMethodWhere(target(owner(name(Schedulers.class.getName()))).and(target(nameStartingWith("new"))))
            .because("a test with virtual time replaces the factory, and shuts down what it has made");

    @Test
    void noThreadsByAFactoryOfTheMoment() {
        NO_THREADS_BY_A_FACTORY_OF_THE_MOMENT.check(OURS);
    }

    @Test
    void typesInLayersAreFreeOfCycles() {
        TYPES_IN_LAYERS_ARE_FREE_OF_CYCLES.check(OURS);
    }

    @Test
    void jnaAppearsInPackagesNamedFfiOnly() {
        JNA_APPEARS_IN_PACKAGES_NAMED_FFI_ONLY.check(OURS);
    }

    @Test
    void formatsKnowTheApiOnly() {
        FORMATS_KNOW_THE_API_ONLY.check(OURS);
    }

    @Test
    void adaptersKnowTheApiOnly() {
        ADAPTERS_KNOW_THE_API_ONLY.check(OURS);
    }

    @Test
    void backendsKnowTheSpiOnly() {
        BACKENDS_KNOW_THE_SPI_ONLY.check(OURS);
    }

    /**
     * No other backend can need what AMD's three interfaces share. The description of machines changes with the checks
     * of {@code penstock doctor}, and is promised to nobody.
     */
    @Test
    void theSpiIsExportedToEverybodyAndNothingElseOfTheEngineIsExported() throws IOException {
        String engine = Files.readString(Path.of("../../engine/src/main/java/module-info.java"));
        Set<String> promised = packages(OURS, "io.penstock.engine.spi");
        promised.addAll(packages(OURS, "io.penstock.engine.kit"));
        Set<String> shared = Set.of("io.penstock.engine.kit.machine", "io.penstock.engine.kit.ssg");
        promised.removeAll(shared);
        promised.addAll(Set.of("io.penstock.engine", "io.penstock.engine.options"));
        assertThat(exports(engine, ";")).containsExactlyInAnyOrderElementsOf(promised);
        assertThat(exports(engine, " to")).containsExactlyInAnyOrderElementsOf(shared);
    }

    private static Set<String> packages(JavaClasses classes, String from) {
        return classes.stream()
                .map(JavaClass::getPackageName)
                .filter(name -> name.equals(from) || name.startsWith(from + "."))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static List<String> exports(String module, String end) {
        return Pattern.compile("exports ([\\w.]+)" + end)
                .matcher(module)
                .results()
                .map(found -> found.group(1))
                .toList();
    }

    @Test
    void stagingPathsNeedNoHost() {
        STAGING_PATHS_NEED_NO_HOST.check(OURS);
    }

    @Test
    void packagesAreFreeOfCycles() {
        PACKAGES_ARE_FREE_OF_CYCLES.check(OURS);
    }

    @Test
    void noJnaStructures() {
        NO_JNA_STRUCTURES.check(OURS);
    }

    @Test
    void apiDependsOnNothingNativeAndNothingBelow() {
        API_KNOWS_NOTHING_NATIVE_AND_NOTHING_BELOW.check(OURS);
    }

    @Test
    void engineDependsOnNoBackend() {
        ENGINE_KNOWS_NO_BACKEND.check(OURS);
    }

    @Test
    void onlyTheCommandUsesLogbackAndPicocli() {
        ONLY_THE_COMMAND_USES_LOGBACK_AND_PICOCLI.check(OURS);
    }

    @Test
    void typesSayWhatTheyAreInTheDomain() {
        TYPES_SAY_WHAT_THEY_ARE_IN_THE_DOMAIN.check(OURS);
    }

    @Test
    void nothingPrintsButPrograms() {
        NOTHING_PRINTS_BUT_PROGRAMS.check(OURS);
    }

    @Test
    void noUnsafe() {
        NO_UNSAFE.check(OURS);
    }

    @Test
    void spiShowsNothingNative() {
        SPI_SHOWS_NOTHING_NATIVE.check(OURS);
    }

    @Test
    void apiStaysSmall() {
        assertThat(apiTypes(OURS)).contains("Backend", "BackendProvider").hasSizeLessThanOrEqualTo(MAX_API_TYPES);
    }

    /** Returns the public types of the API. */
    static List<String> apiTypes(JavaClasses classes) {
        return classes.stream()
                .filter(type -> List.of("io.penstock", "io.penstock.spi").contains(type.getPackageName()))
                .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC))
                .filter(JavaClass::isTopLevelClass)
                .map(JavaClass::getSimpleName)
                .sorted()
                .toList();
    }
}
