// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import io.penstock.Completion;
import io.penstock.Transfer;
import io.penstock.TransferListener;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A listener that keeps what it gets. */
final class Heard implements TransferListener {
    final List<Transfer> started = new CopyOnWriteArrayList<>();
    final List<Completion> ended = new CopyOnWriteArrayList<>();
    final List<Transfer> cancelled = new CopyOnWriteArrayList<>();

    @Override
    public void started(Transfer transfer) {
        started.add(transfer);
    }

    @Override
    public void ended(Completion completion) {
        ended.add(completion);
    }

    @Override
    public void cancelled(Transfer transfer) {
        cancelled.add(transfer);
    }
}
