// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

/** A row that is left out unless {@code --rows} names it. */
record OnlyByName(Row row) implements Row {

    @Override
    public String name() {
        return row.name();
    }

    @Override
    public boolean isOnlyByName() {
        return true;
    }

    @Override
    public Report run(Settings settings, boolean busy) throws Exception {
        return row.run(settings, busy);
    }
}
