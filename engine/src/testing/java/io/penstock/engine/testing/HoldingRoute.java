// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.testing;

import io.penstock.DeviceFence;
import io.penstock.Evidence;
import io.penstock.FileOption;
import io.penstock.Target;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.FencePoint;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.Route;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;

/** Another route, with {@link HeldCommands} in front of its queues. */
public record HoldingRoute(Route route) implements Route {

    /** Tells its lanes from those of the route itself. */
    private record Sharing(Object held) {}

    @Override
    public NativeFile open(Path path, Set<FileOption> options) throws IOException {
        NativeFile file = route.open(path, options);
        HeldCommands.opened(path, file);
        return file;
    }

    @Override
    public NativeQueue openQueue() {
        return new Queue(route.openQueue());
    }

    @Override
    public Object sharing() {
        return new Sharing(route.sharing());
    }

    @Override
    public TransferPath path() {
        return route.path();
    }

    @Override
    public Evidence evidence() {
        return route.evidence();
    }

    @Override
    public String reason() {
        return route.reason();
    }

    @Override
    public String remedy() {
        return route.remedy();
    }

    @Override
    public String refusal(NativeFile file, Target target, DeviceMemory memory) {
        return route.refusal(file, target, memory);
    }

    @Override
    public String refusal(Transfer transfer) {
        return route.refusal(transfer);
    }

    @Override
    public String refusal(NativeFile file, long fileOffset, long bytes) {
        return route.refusal(file, fileOffset, bytes);
    }

    @Override
    public void passedOver(NativeFile file, DeviceMemory memory, Transfer transfer, int part) {
        route.passedOver(file, memory, transfer, part);
    }

    @Override
    public boolean awaits(Transfer transfer, FencePoint point, DeviceFence fence) {
        return route.awaits(transfer, point, fence);
    }

    @Override
    public int lanes() {
        return route.lanes();
    }

    @Override
    public DeviceMemory allocateSlot(long bytes) {
        return route.allocateSlot(bytes);
    }

    /** A queue whose commands may have to wait. */
    private static final class Queue implements NativeQueue {

        private final NativeQueue queue;
        private final Map<Integer, Command> held = new HashMap<>(); // lane only
        private final Map<Integer, Command> writes = new HashMap<>(); // lane only

        Queue(NativeQueue queue) {
            this.queue = queue;
        }

        @Override
        public int depth() {
            return queue.depth();
        }

        @Override
        public void enqueue(int id, Command command) {
            if (command.kind() == Command.Kind.WRITE) {
                writes.put(id, copy(command));
            }
            if (HeldCommands.hold(command, this)) {
                held.put(id, copy(command));
            } else {
                queue.enqueue(id, command);
            }
        }

        /** The lane uses one object for all commands: what is kept has to be a copy. */
        private static Command copy(Command command) {
            Command copy = new Command()
                    .file(command.kind(), command.file(), command.fileOffset(), command.bytes())
                    .memory(command.memory(), command.memoryOffset())
                    .joins(command.point(), command.inOrder());
            Transfer packed = command.packed();
            return packed == null ? copy : copy.packed(packed, command.firstPair(), command.pairCount());
        }

        @Override
        public void cancel(int id) {
            if (!held.containsKey(id)) { // one that is held cannot be stopped
                queue.cancel(id);
            }
        }

        @Override
        public void turn(long waitNanos, Completions completions) {
            for (Iterator<Map.Entry<Integer, Command>> all = held.entrySet().iterator(); all.hasNext(); ) {
                Map.Entry<Integer, Command> next = all.next();
                if (!HeldCommands.hold(next.getValue(), this)) {
                    all.remove();
                    queue.enqueue(next.getKey(), next.getValue());
                }
            }
            queue.turn(waitNanos, (id, result) -> {
                Command write = writes.remove(id);
                if (write != null) {
                    HeldCommands.ended(write, result);
                }
                completions.completed(id, result);
            });
        }

        @Override
        public void wake() {
            queue.wake();
        }

        @Override
        public NativeFailure failure(Command.Kind kind, long result) {
            return queue.failure(kind, result);
        }

        @Override
        public void close() {
            queue.close();
        }
    }
}
