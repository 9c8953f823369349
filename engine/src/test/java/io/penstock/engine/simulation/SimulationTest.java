// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.engine.kit.ffi.Machine;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class SimulationTest {

    @BeforeAll
    static void onAPlatformThatCanBeSimulated() {
        assumeTrue(Machine.isSupported(), "the simulated kernel is a 64-bit Linux, and so are its paths");
    }

    /** How many seeds; CI runs ten times as many. */
    private static final int SEEDS = Integer.getInteger("sim.seeds", 1000);

    /** The one seed to replay, with its story. */
    private static final Long SEED = Long.getLong("sim.seed");

    @Test
    @Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void everyRuleHoldsWhateverTheSeed() {
        try (Simulation simulation = new Simulation()) {
            if (SEED != null) {
                assertThat(simulation.tell(SEED, System.out::println)).isNull();
                return;
            }
            for (long seed = 0; seed < SEEDS; seed++) {
                assertThat(simulation.run(seed))
                        .as(
                                "seed %d; its story: ./mvnw -o -pl engine -am test -Dtest=SimulationTest "
                                        + "-Dsurefire.failIfNoSpecifiedTests=false -Dsim.seed=%d",
                                seed, seed)
                        .isNull();
            }
        }
    }
}
