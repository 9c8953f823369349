// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit;

import io.penstock.BackendUnavailableException;
import io.penstock.Failure;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.engine.spi.IoPath;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The paths of a backend for a value of its option, the best first, and last the path that takes everything: each takes
 * a transfer or returns why not, and the next one is tried.
 *
 * @param <P> the values of the option; its default takes every path that is available, others ask for one
 */
public final class PathTable<P extends Enum<P>> {

    private final Option<P> option;
    private final P value;
    private final List<Supplier<List<IoPath>>> rows = new ArrayList<>();
    private final List<String> reasons = new ArrayList<>();

    /** Creates a table without rows. */
    public PathTable(Option<P> option, Options options) {
        this.option = option;
        this.value = options.get(option);
    }

    /**
     * Adds paths behind the others, if the option's value selects them and they are available.
     *
     * @param when the values that select them
     * @param whyNot called if they are selected: returns why they are not available, or an empty string
     * @param otherwise the reason of transfers that they do not take; may be empty
     * @param make makes them
     * @throws BackendUnavailableException if they are not available, and the option's value asks for them
     */
    public void row(Set<P> when, Supplier<String> whyNot, String otherwise, Supplier<List<IoPath>> make) {
        if (!when.contains(value)) {
            return;
        }
        String why = whyNot.get();
        if (!why.isEmpty() && value != option.fallback()) {
            throw new BackendUnavailableException(chosen() + ", but " + why, Failure.NOT_STARTED, null);
        }
        if (why.isEmpty()) {
            rows.add(make);
        }
        reasons.add(why.isEmpty() ? otherwise : why);
    }

    /**
     * Makes the paths, the last first: it may refuse the options, and the best ones allocate.
     *
     * @param last makes the path that takes everything, for the reason why no better one is taken
     */
    public List<IoPath> open(Function<String, IoPath> last) {
        reasons.removeIf(String::isEmpty);
        List<IoPath> paths = new ArrayList<>();
        paths.add(last.apply(reasons.isEmpty() ? chosen() : String.join("; ", reasons)));
        for (int row = rows.size() - 1; row >= 0; row--) {
            paths.addAll(0, rows.get(row).get());
        }
        return List.copyOf(paths);
    }

    private String chosen() {
        return option + "=" + Option.show(value);
    }
}
