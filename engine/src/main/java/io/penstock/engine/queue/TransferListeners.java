// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.TransferListener;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import reactor.core.Disposable;
import reactor.core.Disposables;

/** The listeners of a backend. Thread-safe: a list is replaced, never changed. */
public final class TransferListeners {

    private volatile List<TransferListener> all = List.of();

    /** Adds a listener, for transfers that begin from now on, until the result is disposed of. */
    public synchronized Disposable add(TransferListener listener) {
        Objects.requireNonNull(listener, "listener");
        List<TransferListener> more = new ArrayList<>(all);
        more.add(listener);
        all = List.copyOf(more);
        return Disposables.composite(() -> remove(listener)); // runs once
    }

    private synchronized void remove(TransferListener listener) {
        List<TransferListener> fewer = new ArrayList<>(all);
        fewer.remove(listener);
        all = List.copyOf(fewer);
    }

    /** Returns the listeners of a transfer that begins now. */
    List<TransferListener> all() {
        return all;
    }
}
