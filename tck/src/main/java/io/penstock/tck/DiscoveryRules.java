// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.BackendUnavailableException;
import io.penstock.Backends;
import io.penstock.Capabilities;
import io.penstock.CommonOptions;
import io.penstock.FenceSupport;
import io.penstock.Option;
import io.penstock.Options;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How a backend is found, opened and described (rules 501, 502). */
public interface DiscoveryRules extends Rules {

    /** Rule 501: the provider is listed and available. If this fails, check META-INF/services and module-info. */
    @Test
    default void required_501_theProviderIsListedAsAvailable(Bench bench) {
        Backends.Listing listing = listing(bench);
        assertThat(listing.description()).isNotBlank();
        assertThat(listing.availability().available())
                .as(listing.availability().reason())
                .isTrue();
        assertThat(listing.availability().reason()).as("what was found").isNotBlank();
    }

    private static Backends.Listing listing(Bench bench) {
        return Backends.list().stream()
                .filter(listing -> listing.name().equals(bench.subject().backend()))
                .findFirst()
                .orElseThrow(() -> new AssertionError("not among " + Backends.list()));
    }

    /**
     * Rule 501: a probe leaves nothing behind, and can be repeated. If this fails, check what {@code probe} opens;
     * leaks show in the check after the test.
     */
    @Test
    default void required_501_probingOftenLeavesNothingBehind(Bench bench) {
        Backends.Listing first = listing(bench);
        for (int i = 0; i < 20; i++) {
            assertThat(listing(bench)).isEqualTo(first);
        }
    }

    /** Rule 501: every option can be documented. If this fails, check {@code BackendProvider.options}. */
    @Test
    default void required_501_everyOptionHasRangeAndDescriptionAndTakesItsOwnDefault(Bench bench) {
        List<Option<?>> options = Backends.options();
        assertThat(options).extracting(Option::name).doesNotHaveDuplicates();
        assertThat(options).allSatisfy(option -> {
            assertThat(option.range()).as("range of %s", option).isNotBlank();
            assertThat(option.description()).as("description of %s", option).isNotBlank();
            String shown = Option.show(option.fallback());
            Object parsed = option.parse(shown, "this test");
            assertThat(parsed).as("default of %s", option).isEqualTo(option.fallback());
        });
    }

    /** Rule 502: no other backend is substituted for an absent one. If this fails, check {@code Backends.open}. */
    @Test
    default void required_502_anUnknownBackendIsRefusedWithAListOfAll(Bench bench) {
        assertThatThrownBy(() -> Backends.open("no-such-backend"))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("no-such-backend")
                .hasMessageContaining(bench.subject().backend());
    }

    /** Rule 502: a misspelt option is not ignored. If this fails, check that {@code open} gets resolved options. */
    @Test
    default void required_502_anUnknownOptionIsRefusedByName(Bench bench) {
        Options misspelt = bench.options().with("penstock.no-such-option", "1");
        assertThatThrownBy(() -> bench.with(misspelt).backend())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("penstock.no-such-option");
    }

    /** Rule 502: a value out of range is not adjusted. If this fails, check that {@code open} gets resolved options. */
    @Test
    default void required_502_anOptionOutOfRangeIsRefusedByName(Bench bench) {
        Options zero = bench.options().with(CommonOptions.QUEUE_DEPTH, 0);
        assertThatThrownBy(() -> bench.with(zero).backend())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(CommonOptions.QUEUE_DEPTH.name())
                .hasMessageContaining(CommonOptions.QUEUE_DEPTH.range());
    }

    /** Rule 502: capabilities agree with what transfers do. If this fails, check {@code DeviceDriver.capabilities}. */
    @Test
    default void required_502_capabilitiesNameDeviceAndPath(Bench bench) {
        Backend backend = bench.backend();
        Capabilities capabilities = backend.capabilities();
        assertThat(backend.name()).isEqualTo(bench.subject().backend());
        assertThat(capabilities.device()).isNotBlank();
        assertThat(capabilities.paths()).contains(bench.subject().path());
        assertThat(capabilities.fences()).isIn((Object[]) FenceSupport.values());
        assertThat(bench.poisoned(64).hostView().isPresent())
                .as("a host view, as the capabilities report")
                .isEqualTo(capabilities.hostVisible());
    }

    /**
     * Rule 601: opening and closing can be repeated forever. If this fails, check the ownership of I/O queues, slabs
     * and descriptors.
     */
    @Test
    default void required_601_aBackendCanBeOpenedAndClosedManyTimes(Bench bench) {
        for (int i = 0; i < 10; i++) {
            Bench fresh = bench.with(bench.options());
            fresh.letOthersRun();
            fresh.backend().close();
        }
    }

    /** Process life: I/O queues are shared, not multiplied. If this fails, check {@code IoPath.sharing}. */
    @Test
    default void required_process_manyBackendsShareThreads(Bench bench) {
        LeakProbe probe = new LeakProbe(bench.subject());
        bench.letOthersRun();
        long one = probe.count().getOrDefault(LeakProbe.THREADS, 0L);
        for (int i = 0; i < 7; i++) {
            bench.with(bench.options()).letOthersRun();
        }
        assertThat(probe.count().getOrDefault(LeakProbe.THREADS, 0L))
                .as("threads of 8 backends, where one has %d", one)
                .isLessThan(Math.max(1, one) * 8);
    }
}
