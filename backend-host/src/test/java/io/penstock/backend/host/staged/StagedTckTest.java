// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.staged;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.engine.spi.memory.Slabs;
import io.penstock.engine.testing.HeldCommands;
import io.penstock.engine.testing.HoldingPath;
import io.penstock.tck.BackendRules;
import io.penstock.tck.Gate;
import io.penstock.tck.TckSubject;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The rules over staging, with each thread rule. */
class StagedTckTest {

    private record Subject(CardProvider provider) implements TckSubject {

        @Override
        public String backend() {
            return provider.name();
        }

        @Override
        public Backend open(Options options) {
            // As Backends does it, with commands held in front of the queue.
            return provider.open(options.resolve(Backends.options()), HoldingPath::new);
        }

        @Override
        public Optional<Gate> gate(Path folder) throws IOException {
            return Optional.of(HeldCommands.in(folder));
        }

        @Override
        public TransferPath path() {
            return TransferPath.STAGED;
        }

        @Override
        public Path folder() {
            return Path.of("target", "tck");
        }

        @Override
        public Map<String, Long> live() {
            return Map.of("slabs", Slabs.shared().liveSlabs(), "card memory", CardMemory.LIVE.get());
        }
    }

    /** Staging workers copy what they have filled. */
    @Nested
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
