// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Availability;
import io.penstock.BackendUnavailableException;
import io.penstock.Options;
import io.penstock.backend.dx11.device.Adapter;
import io.penstock.backend.dx11.device.DeviceChoice;
import io.penstock.backend.dx11.paths.Dx11Provider;
import io.penstock.engine.kit.ffi.Machine;
import java.util.List;
import org.junit.jupiter.api.Test;

class ProbeTest {

    private static final List<Adapter> ADAPTERS = List.of(
            new Adapter(0, "Microsoft Basic Render Driver", 0, false),
            new Adapter(1, "AMD Radeon Pro SSG", 16L << 30, true),
            new Adapter(2, "NVIDIA H200", 141L << 30, true));

    private static Adapter choose(String adapter) {
        Options options = Options.none().with(Dx11Options.ADAPTER, adapter);
        return DeviceChoice.of(Dx11s.resolved(options)).among(ADAPTERS);
    }

    @Test
    void availabilityOrItsAbsenceIsReported() {
        Availability found = new Dx11Provider().probe(Dx11s.resolved(Options.none()));
        if (Machine.operatingSystem().startsWith("windows")) {
            Dx11s.require();
            assertThat(found.reason()).isNotBlank();
            assertThat(found.details())
                    .isNotEmpty()
                    .allMatch(detail -> detail.startsWith("adapter ") || detail.startsWith("SSG: "))
                    .anyMatch(detail -> detail.startsWith("adapter "));
        } else {
            assertThat(found.available()).isFalse();
            assertThat(found.reason()).contains("is a part of Windows", Machine.operatingSystem());
            assertThatThrownBy(() -> new Dx11Provider().open(Dx11s.resolved(Options.none())))
                    .isInstanceOf(BackendUnavailableException.class)
                    .hasMessageContaining("is a part of Windows");
        }
    }

    @Test
    void anAdapterIsChosenByNumberByNameOrAsTheFirstHardware() {
        assertThat(choose("best").index()).isEqualTo(1);
        assertThat(choose("2").index()).isEqualTo(2);
        assertThat(choose("radeon").index()).isEqualTo(1);
        assertThat(choose("Basic Render").index()).isZero();
        assertThat(DeviceChoice.of(Dx11s.resolved(Options.none().with(Dx11Options.ADAPTER, "WARP")))
                        .isWarp())
                .isTrue();
    }

    @Test
    void anAdapterThatIsNotThereIsNamedWithThoseThatAre() {
        assertThatThrownBy(() -> choose("3"))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("penstock.dx11.adapter=3", "2: NVIDIA H200");
        assertThatThrownBy(() -> DeviceChoice.of(Dx11s.resolved(Options.none())).among(List.of()))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("no graphics adapter");
    }

    @Test
    void withoutHardwareTheFirstAdapterIsUsed() {
        assertThat(DeviceChoice.of(Dx11s.resolved(Options.none())).among(ADAPTERS.subList(0, 1)))
                .isEqualTo(ADAPTERS.get(0));
    }

    @Test
    void aDeviceThatIsNoAddressIsTheCallersMistake() {
        assertThatThrownBy(() -> DeviceChoice.of(Dx11s.resolved(Options.none().with(Dx11Options.DEVICE, "mine"))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("penstock.dx11.device=mine");
    }
}
