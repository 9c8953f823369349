// SPDX-License-Identifier: Apache-2.0
package io.penstock.discovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.BackendUnavailableException;
import io.penstock.Backends;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.Outcome;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Finding providers, sound and broken; this module has none, so that a test sees what it lists and nothing else. */
class DiscoveryTest {

    @TempDir
    Path directory;

    private <T> T with(List<Class<?>> providers, Supplier<T> body) {
        return Services.listing(
                directory, providers.stream().map(Class::getName).toList(), body);
    }

    private <T> T withLines(Supplier<T> body, String... lines) {
        return Services.listing(directory, Arrays.asList(lines), body);
    }

    private static Map<String, Backends.Listing> byName() {
        return Backends.list().stream().collect(Collectors.toMap(Backends.Listing::name, Function.identity()));
    }

    private static String failure(Supplier<?> opening) {
        BackendUnavailableException e = assertThatExceptionOfType(BackendUnavailableException.class)
                .isThrownBy(opening::get)
                .actual();
        assertThat(e.outcome()).isEqualTo(Outcome.NOT_STARTED);
        return e.getMessage();
    }

    @Test
    void withoutAnyProviderTheMessageStatesThat() {
        assertThat(Backends.list()).isEmpty();
        assertThat(failure(Backends::open))
                .contains("there is no backend 'host'")
                .contains("no backend module is on the class path or module path");
    }

    @Test
    void theContextClassLoadersProvidersAreFound() {
        Backend backend = with(List.of(StandIn.Ready.class), () -> Backends.open("ready"));
        assertThat(backend.name()).isEqualTo("ready");
        assertThat(Proxy.getInvocationHandler(backend).getClass().getClassLoader())
                .as("a loader that the API's own does not know")
                .isNotSameAs(getClass().getClassLoader());
        assertThat(Backends.list()).as("when it is not on the path any more").isEmpty();
    }

    @Test
    void namesAreTakenInAnyCase() {
        assertThat(with(List.of(StandIn.Ready.class), () -> Backends.open("READY"))
                        .name())
                .isEqualTo("ready");
    }

    @Test
    void thePropertyChoosesTheBackend() {
        System.setProperty("penstock.backend", "emulated");
        try {
            assertThat(with(List.of(StandIn.Ready.class, StandIn.Emulated.class), Backends::open)
                            .name())
                    .isEqualTo("emulated");
        } finally {
            System.clearProperty("penstock.backend");
        }
    }

    @Test
    void openingWhatIsNotThereListsEveryProviderAndWhyNot() {
        String message = with(
                List.of(
                        StandIn.Ready.class,
                        StandIn.Missing.class,
                        StandIn.Stillborn.class,
                        StandIn.Thrower.class,
                        StandIn.Forgetful.class),
                () -> failure(() -> Backends.open("nope")));
        assertThat(message.lines())
                .satisfiesExactly(
                        first -> assertThat(first).isEqualTo("there is no backend 'nope'; providers:"),
                        line -> assertThat(line).isEqualTo("  missing: not available, no card in any bounce buffer"),
                        line -> assertThat(line).isEqualTo("  ready: available, a card was found"),
                        line -> assertThat(line)
                                .contains("thrower: not available, its probe failed")
                                .contains("libthrower.so: no such file"),
                        line -> assertThat(line)
                                .contains(StandIn.Forgetful.class.getName())
                                .contains("what options?"),
                        line -> assertThat(line)
                                .contains(StandIn.Stillborn.class.getName())
                                .contains("out of steam"),
                        line -> assertThat(line).startsWith("  for another, add its artifact"));
    }

    @Test
    void openingAnUnavailableBackendReportsTheReasonAndListsTheOthers() {
        String message = with(
                List.of(StandIn.Ready.class, StandIn.Missing.class), () -> failure(() -> Backends.open("missing")));
        assertThat(message)
                .startsWith("backend 'missing' cannot be used: no card in any bounce buffer; providers:")
                .contains("ready: available");
    }

    @Test
    void aNativeLibraryThatCannotBeLoadedIsAnAnswerAndNoError() {
        String message = with(List.of(StandIn.Thrower.class), () -> failure(() -> Backends.open("thrower")));
        assertThat(message).contains("'thrower' cannot be loaded").contains("libthrower.so");
    }

    @Test
    void brokenProvidersAreListedAndTheOthersWork() {
        List<Class<?>> all =
                List.of(StandIn.Stillborn.class, StandIn.Forgetful.class, StandIn.Thrower.class, StandIn.Ready.class);
        Map<String, Backends.Listing> listed = with(all, DiscoveryTest::byName);
        assertThat(listed)
                .containsOnlyKeys(
                        "ready", "thrower", StandIn.Stillborn.class.getName(), StandIn.Forgetful.class.getName());
        listed.values()
                .forEach(listing -> assertThat(listing.availability().available())
                        .as(listing.toString())
                        .isEqualTo(listing.name().equals("ready")));
        assertThat(with(all, () -> Backends.open("ready")).name()).isEqualTo("ready");
    }

    @Test
    void classesThatAreMissingOrNoProvidersAreListedAndTheOthersWork() {
        Map<String, Backends.Listing> listed = withLines(
                DiscoveryTest::byName,
                "com.acme.NotThere",
                StandIn.Stranger.class.getName(),
                StandIn.Ready.class.getName());
        assertThat(listed).containsOnlyKeys("com.acme.NotThere", StandIn.Stranger.class.getName(), "ready");
        assertThat(listed.get("com.acme.NotThere").availability().reason()).contains("not found");
        assertThat(listed.get(StandIn.Stranger.class.getName()).availability().reason())
                .contains("not a subtype");
    }

    @Test
    void aServicesFileThatIsNoneIsListedByItsPlace() {
        Map<String, Backends.Listing> listed = withLines(DiscoveryTest::byName, "this is no class");
        assertThat(listed).containsOnlyKeys("unknown provider");
        assertThat(listed.get("unknown provider").availability().reason())
                .contains(directory.getFileName().toString());
    }

    @Test
    void twoOfTheSameNameAreReportedAndTheFirstIsUsed() {
        Map<String, Backends.Listing> listed =
                with(List.of(StandIn.Ready.class, StandIn.Impostor.class), DiscoveryTest::byName);
        assertThat(listed).containsOnlyKeys("ready", StandIn.Impostor.class.getName());
        assertThat(listed.get("ready").gpuOrder()).isEqualTo(50);
        assertThat(listed.get(StandIn.Impostor.class.getName()).availability().reason())
                .contains("'ready'")
                .contains(StandIn.Ready.class.getName());
    }

    @Test
    void theBestRealGpuIsOpenedWhateverSoftwareRanksHigher() {
        List<Class<?>> all = List.of(StandIn.Ready.class, StandIn.Emulated.class, StandIn.Missing.class);
        assertThat(with(all, Backends::openGpu).name()).isEqualTo("ready");
        assertThat(with(all, () -> Backends.open("gpu")).name()).isEqualTo("ready");
        assertThat(with(all, () -> Backends.open("emulated")).name()).isEqualTo("emulated");
    }

    @Test
    void withoutAGpuTheMessageListsWhatThereIs() {
        String message = with(List.of(StandIn.Emulated.class, StandIn.Missing.class), () -> failure(Backends::openGpu));
        assertThat(message)
                .startsWith("no usable GPU; providers:")
                .contains("emulated: available, software only")
                .contains("missing: not available, no card in any bounce buffer");
    }

    @Test
    void aGpuThatIsAvailableButFailsToOpenIsReported() {
        assertThat(with(List.of(StandIn.Liar.class, StandIn.Ready.class), () -> failure(Backends::openGpu)))
                .startsWith("backend 'liar' cannot be used: it lied; providers:")
                .contains("ready: available");
    }

    @Test
    void theOptionsAtHandAreThoseOfTheProvidersAtHand() {
        assertThat(Backends.options())
                .extracting(Option::name)
                .contains("penstock.queue.depth")
                .doesNotContain("penstock.ready.speed");
        assertThat(with(List.of(StandIn.Ready.class), Backends::options))
                .extracting(Option::name)
                .contains("penstock.queue.depth", "penstock.ready.speed")
                .isSorted();
    }

    @Test
    void aProvidersOptionIsIgnoredWhereTheProviderIsNot() {
        Options fast = Options.none().with("penstock.ready.speed", "10");
        assertThatThrownBy(() -> Backends.open("ready", fast))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageStartingWith("there is no backend 'ready'");
    }

    @Test
    void misspeltOptionsAndValuesOutOfRangeAreErrorsIfTheProviderIsPresent() {
        Options fast = Options.none().with("penstock.ready.speed", "10");
        Options misspelt = Options.none().with("penstock.ready.sped", "9");
        with(List.of(StandIn.Ready.class), () -> {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Backends.open("ready", misspelt))
                    .withMessageContaining("penstock.ready.sped, which is not an option");
            return assertThatIllegalArgumentException()
                    .isThrownBy(() -> Backends.open("ready", fast))
                    .withMessageContaining("penstock.ready.speed=10")
                    .withMessageContaining("1 to 9");
        });
    }
}
