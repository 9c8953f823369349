// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.qemu;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** The socket of a QEMU's qtest protocol: each command is a line, and so is its answer. */
final class Qtest implements Closeable {

    private static final int MOST_POSTED = 32;

    private final SocketChannel channel;
    private final ByteBuffer in = ByteBuffer.allocateDirect(1 << 12).flip(); // guarded by this, as is the next
    private final ByteBuffer out = ByteBuffer.allocateDirect(1 << 7);
    private int posted; // guarded by this: commands whose answers have not been read
    private boolean ended; // guarded by this

    Qtest(SocketChannel channel) {
        this.channel = channel;
    }

    /** Sends a command, and returns its answer; an empty string once QEMU has ended. */
    synchronized String command(String command) {
        post(command);
        return await();
    }

    /** Sends a command whose answer is read later: QEMU executes commands in their order. */
    synchronized void post(String command) {
        if (ended) {
            return;
        }
        try {
            out.clear();
            for (int i = 0; i < command.length(); i++) {
                out.put((byte) command.charAt(i));
            }
            out.put((byte) '\n').flip();
            while (out.hasRemaining()) {
                channel.write(out);
            }
            posted++;
        } catch (IOException e) {
            ended();
        }
        if (posted > MOST_POSTED) {
            await();
        }
    }

    /** Reads the answers to all commands, and returns the last one; an empty string if there is none. */
    synchronized String await() {
        String answer = "";
        while (posted > 0) {
            answer = answer();
        }
        return answer;
    }

    private String answer() {
        try {
            String answer = line();
            posted--;
            if (!answer.startsWith("OK")) {
                throw new IllegalStateException(answer);
            }
            return answer;
        } catch (IOException e) {
            ended();
            return "";
        }
    }

    /** A process that was killed is a device that was removed. */
    private void ended() {
        ended = true;
        posted = 0;
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder();
        while (true) {
            while (in.hasRemaining()) {
                char next = (char) in.get();
                if (next == '\n') {
                    return line.toString();
                }
                line.append(next);
            }
            in.clear();
            if (channel.read(in) < 0) {
                throw new IOException("QEMU has closed its socket");
            }
            in.flip();
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
