// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.staged;

import io.penstock.Availability;
import io.penstock.Backend;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.engine.Engine;
import io.penstock.engine.kit.staging.ExecutorThread;
import io.penstock.engine.spi.staging.StagingOptions;
import io.penstock.engine.spi.staging.ThreadRule;
import io.penstock.spi.BackendProvider;
import java.util.List;
import java.util.Locale;

/** Opens cards of one thread rule. */
abstract class CardProvider implements BackendProvider {

    private final ThreadRule rule;

    private CardProvider(ThreadRule rule) {
        this.rule = rule;
    }

    /** A card that any thread may call. */
    public static final class Many extends CardProvider {
        public Many() {
            super(ThreadRule.MANY);
        }
    }

    /** A card that belongs to one thread of the engine. */
    public static final class One extends CardProvider {
        public One() {
            super(ThreadRule.ONE);
        }
    }

    /** A card that belongs to a thread of the application, which lends itself. */
    public static final class Pump extends CardProvider {
        public Pump() {
            super(ThreadRule.PUMP);
        }
    }

    @Override
    public String name() {
        return "card-" + rule.name().toLowerCase(Locale.ROOT);
    }

    @Override
    public String description() {
        return "a card made of arrays, for tests of staging";
    }

    @Override
    public int gpuOrder() {
        return 1000;
    }

    @Override
    public List<Option<?>> options() {
        return StagingOptions.all();
    }

    @Override
    public Availability probe(Options options) {
        return Availability.available(false, "always there", List.of());
    }

    @Override
    public Backend open(Options options) {
        if (rule != ThreadRule.PUMP) {
            Card card = new Card(rule, () -> {});
            return Engine.open(name(), card, List.of(new CardPath(card, options, null)), options);
        }
        ExecutorThread application = ExecutorThread.start("application");
        Card card = new Card(rule, application::close);
        CardPath ioPath = new CardPath(card, options, application.pump());
        return Engine.open(name(), card, List.of(ioPath), options);
    }
}
