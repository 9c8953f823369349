// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.staged;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.tck.TckSubject;
import java.nio.file.Path;
import java.util.Map;

/**
 * A card that any thread may call, checked for leaks.
 *
 * @param folder of the tests
 */
public record StagedSubject(Path folder) implements TckSubject {

    @Override
    public String backend() {
        return "card-many";
    }

    @Override
    public Backend open(Options options) {
        return new CardProvider.Many().open(options.resolve(Backends.options()));
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
