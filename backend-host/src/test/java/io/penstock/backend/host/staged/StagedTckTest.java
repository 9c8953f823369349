// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.staged;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.testing.GatedSubject;
import io.penstock.tck.BackendRules;
import io.penstock.tck.TckSubject;
import java.util.Map;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The rules over staging, with each thread rule. */
class StagedTckTest {

    private record Subject(CardProvider provider) implements GatedSubject {

        @Override
        public String backend() {
            return provider.name();
        }

        @Override
        public Backend open(Options options) {
            return GatedSubject.gated(() -> provider.open(options.resolve(Backends.options())));
        }

        @Override
        public TransferPath path() {
            return TransferPath.STAGED;
        }

        @Override
        public Map<String, Long> live() {
            return Map.of("slabs", Slabs.shared().liveSlabs(), "card memory", CardMemory.LIVE.get());
        }
    }

    /** Staging workers copy what they have filled. */
    @Nested
    @Tag("variant")
    class Many implements BackendRules {
        @Override
        public TckSubject subject() {
            return new Subject(new CardProvider.Many());
        }
    }

    /** One thread of the engine copies. */
    @Nested
    @Tag("variant")
    class One implements BackendRules {
        @Override
        public TckSubject subject() {
            return new Subject(new CardProvider.One());
        }
    }

    /** The application's thread copies. */
    @Nested
    @Tag("variant")
    class Pump implements BackendRules {
        @Override
        public TckSubject subject() {
            return new Subject(new CardProvider.Pump());
        }
    }
}
