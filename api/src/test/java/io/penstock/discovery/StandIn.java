// SPDX-License-Identifier: Apache-2.0
package io.penstock.discovery;

import io.penstock.Availability;
import io.penstock.Backend;
import io.penstock.BackendUnavailableException;
import io.penstock.Failure;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.spi.BackendProvider;
import java.lang.reflect.Proxy;
import java.util.List;

/** Providers that a test puts on the path by naming them in a services file of its own. */
class StandIn implements BackendProvider {

    private final String name;
    private final int gpuOrder;
    private final Availability availability;

    StandIn(String name, int gpuOrder, Availability availability) {
        this.name = name;
        this.gpuOrder = gpuOrder;
        this.availability = availability;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String description() {
        return "a stand-in";
    }

    @Override
    public int gpuOrder() {
        return gpuOrder;
    }

    @Override
    public List<Option<?>> options() {
        return List.of();
    }

    @Override
    public Availability probe(Options options) {
        return availability;
    }

    @Override
    public Backend open(Options options) {
        if (!availability.available()) {
            throw new BackendUnavailableException(availability.reason(), Failure.NOT_STARTED, null);
        }
        Class<?>[] type = {Backend.class};
        return (Backend) Proxy.newProxyInstance(Backend.class.getClassLoader(), type, (proxy, method, arguments) -> {
            if (method.getName().equals("name")) {
                return name;
            }
            throw new UnsupportedOperationException(method.toString());
        });
    }

    static final Availability HARDWARE = Availability.available(true, "a card was found", List.of());
    static final Availability SOFTWARE = Availability.available(false, "software only", List.of());

    /** Can be used; a GPU of low rank. */
    public static final class Ready extends StandIn {
        public Ready() {
            super("ready", 50, HARDWARE);
        }

        @Override
        public List<Option<?>> options() {
            return List.of(Option.integer("penstock.ready.speed", 1, 1, 9, "how fast"));
        }
    }

    /** Of high rank, but software. */
    public static final class Emulated extends StandIn {
        public Emulated() {
            super("emulated", 10, SOFTWARE);
        }
    }

    /** Of the highest rank, but not there. */
    public static final class Missing extends StandIn {
        public Missing() {
            super("missing", 1, Availability.absent("no card in any bounce buffer", "buy one"));
        }
    }

    /** Cannot be made. */
    public static final class Stillborn extends StandIn {
        public Stillborn() {
            super("stillborn", 1, HARDWARE);
            throw new IllegalStateException("out of steam");
        }
    }

    /** Throws where it must not. */
    public static final class Thrower extends StandIn {
        public Thrower() {
            super("thrower", 1, HARDWARE);
        }

        @Override
        public Availability probe(Options options) {
            throw new UnsatisfiedLinkError("libthrower.so: no such file");
        }

        @Override
        public Backend open(Options options) {
            throw new UnsatisfiedLinkError("libthrower.so: no such file");
        }
    }

    /** Does not know its own options. */
    public static final class Forgetful extends StandIn {
        public Forgetful() {
            super("forgetful", 1, HARDWARE);
        }

        @Override
        public List<Option<?>> options() {
            throw new IllegalStateException("what options?");
        }
    }

    /** Bears the name of another. */
    public static final class Impostor extends StandIn {
        public Impostor() {
            super("Ready", Integer.MAX_VALUE, SOFTWARE);
        }
    }

    /** Reports that it is available, but fails to open. */
    public static final class Liar extends StandIn {
        public Liar() {
            super("liar", 5, HARDWARE);
        }

        @Override
        public Backend open(Options options) {
            throw new BackendUnavailableException("it lied", Failure.NOT_STARTED, null);
        }
    }

    /** No provider at all. */
    public static final class Stranger {}
}
