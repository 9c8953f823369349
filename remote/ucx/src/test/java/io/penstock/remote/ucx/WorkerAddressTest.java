// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.engine.spi.NativeFailure;
import io.penstock.remote.ucx.ffi.UcpCallback;
import io.penstock.tck.Require;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is taken for the address of a worker; the real ones are of UCX 1.13.1. */
class WorkerAddressTest {

    /** By TCP, on a network and on loopback. */
    private static final String V1 = "20db1c6ce379c82f1720060002c0000202cf1917b751389763344bd7e037370113230082ac93"
            + "209201027566a1b5a9cabacff9ffffef00000000cf1917b75138539e3e4bd7e037370113230082e079";

    /** By all that there is, in the second version of the format. */
    private static final String V2 =
            "01028a7d86070ebaa3bd0000637544a4000080001b0088f34fca33d299bab301060002c0000202cf19"
                    + "0c015a0080008b0082c2f1011201027566a1b5a9cabacff9ffffef00000000cf190c015a0180008b0082e84902087566a1b5a9caba4f"
                    + "8d534475430081009b0088100000000000000003087566a1b5a9caba4fa7d34475430081009b0088bb580000040000c004887566a1b5"
                    + "a9caba4f478bfb5543000000990084bb580000";

    private static final String UNIFIED =
            "20f77d159ae26f95322000637580000000009317fa150c93607321060002c0000202cf1981d7e037"
                    + "37af49211201027566a1b5a9cabacff9ffffef00000000cf1982d7e03737b0f543087566a1b5a9caba4fa7d38477ccab33c358000004"
                    + "0000c024887566a1b5a9caba4f478b8577ccab33c3580000";

    private static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex);
    }

    /** Returns an address with another worker's number: of the other end. */
    private static byte[] peer(String hex) {
        byte[] bytes = bytes(hex);
        bytes[5] ^= 1;
        return bytes;
    }

    @ParameterizedTest
    @ValueSource(strings = {V1, V2})
    void anAddressIsAcceptedWholeAndInNoOtherLength(String real) throws IOException {
        byte[] own = bytes(real);
        byte[] peer = peer(real);
        WorkerAddress.check(own, peer);
        for (int length = 0; length < peer.length; length++) {
            byte[] cut = Arrays.copyOf(peer, length);
            assertThatThrownBy(() -> WorkerAddress.check(own, cut)).hasMessageContaining("it ends early");
        }
        assertThatThrownBy(() -> WorkerAddress.check(own, Arrays.copyOf(peer, peer.length + 3)))
                .hasMessage("the peer has sent what is no address of a UCX worker: 3 bytes follow it");
    }

    @ParameterizedTest
    @CsvSource({
        "0, 29, its version is 9",
        "0, a0, it has the flags 10",
        "9, a0, a device has no transport",
        "10, 4600, a device has no path",
        "19, 000080bf, a transport has no speed",
        "19, 0000c07f, a transport has no speed",
        "23, 00000000, a transport has no speed",
        "27, 0000807f, a transport has no speed",
        "32, 12, another form",
        "35, c2, it has addresses of endpoints"
    })
    void anAddressThatUcxWouldNotMakeIsRefused(int at, String bytes, String why) {
        byte[] peer = peer(V1);
        byte[] other = bytes(bytes);
        System.arraycopy(other, 0, peer, at, other.length);
        assertThatThrownBy(() -> WorkerAddress.check(bytes(V1), peer)).hasMessageContaining(why);
    }

    /** UCX asserts that memory which is not opened in one of the two first ways has the path of a folder. */
    @ParameterizedTest
    @CsvSource({"a7d34475430081009b0088, 7, 40", "a7d34475430081009b0088, 7, 80", "478bfb5543000000990084, 3, 80"})
    void flagsInTheAddressOfATransportAreTheSameAtBothEnds(String transport, int at, String flag) {
        byte[] peer = peer(V2);
        peer[V2.indexOf(transport) / 2 + transport.length() / 2 + at] ^= (byte) Integer.parseInt(flag, 16);
        assertThatThrownBy(() -> WorkerAddress.check(bytes(V2), peer)).hasMessageContaining("another form");
    }

    @Test
    void theOwnAddressAndOneOfAnotherFormatAreRefused() {
        assertThatThrownBy(() -> WorkerAddress.check(bytes(V1), bytes(V1)))
                .hasMessageContaining("it is one of this end");
        assertThatThrownBy(() -> WorkerAddress.check(bytes(V1), peer(V2)))
                .hasMessageContaining(
                        "UCX_ADDRESS_VERSION must be the same at both ends: v1 at this one, v2 at the other");
        assertThatThrownBy(() -> WorkerAddress.check(bytes(UNIFIED), peer(UNIFIED)))
                .hasMessageContaining("the addresses of this UCX cannot be checked: UCX_UNIFIED_MODE must not be set");
    }

    /** As UCX 1.14 and newer add their release. */
    @Test
    void aLastDeviceWithoutTransportsIsAccepted() {
        byte[] peer = Arrays.copyOf(peer(V1), V1.length() / 2 + 2);
        peer[peer.length - 2] = (byte) (0x80 | 14);
        peer[peer.length - 1] = (byte) 0x80;
        peer[39] &= 0x7F; // which was the last
        assertThatCode(() -> WorkerAddress.check(bytes(V1), peer)).doesNotThrowAnyException();
    }

    @Test
    void garbageInPlaceOfAnAddressEndsTheConnectionAndNotTheProcess() throws Exception {
        Require.backend("ucx", UcxContext.unavailable());
        try (ServerSocket server = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
                Socket peer = new Socket(server.getInetAddress(), server.getLocalPort());
                Socket accepted = server.accept()) {
            CompletableFuture<Connection> opening = CompletableFuture.supplyAsync(() -> open(accepted));
            DataInputStream in = new DataInputStream(peer.getInputStream());
            in.readFully(new byte[in.readInt()]);
            byte[] garbage = new byte[200];
            Arrays.fill(garbage, (byte) 0x39);
            DataOutputStream out = new DataOutputStream(peer.getOutputStream());
            out.writeInt(garbage.length);
            out.write(garbage);
            assertThatThrownBy(opening::join).hasRootCauseMessage("its version is 9");
            assertThat(in.read()).as("closed").isEqualTo(-1);
        }
    }

    private static Connection open(Socket socket) {
        Connection.Side side = new Connection.Side() {
            @Override
            public void received(Message message, Connection.Data data) {}

            @Override
            public boolean isWaiting() {
                return false;
            }

            @Override
            public void ended(NativeFailure cause) {}
        };
        try {
            return Connection.open(socket, "peer", side, TimeUnit.SECONDS.toNanos(30));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void theAddressesOfThisMachineCanBeChecked() throws IOException {
        Require.backend("ucx", UcxContext.unavailable());
        UcpCallback messages =
                UcpCallback.of((UcpCallback.MessageHandler) (header, headerBytes, data, bytes, attributes) -> 0);
        UcpCallback errors = UcpCallback.of((UcpCallback.ErrorHandler) status -> {});
        Endpoint one = Endpoint.open(messages, errors);
        Endpoint other = Endpoint.open(messages, errors);
        try {
            WorkerAddress.check(one.address(), other.address());
        } finally {
            one.destroy();
            other.destroy();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {V1, V2})
    void whatIsRefusedIsRefusedInWords(String real) {
        Random random = new Random(44);
        int refused = 0;
        for (int i = 0; i < 20_000; i++) {
            try {
                WorkerAddress.check(bytes(real), Mutations.of(peer(real), random));
            } catch (IOException e) { // any other exception fails the test
                refused++;
            }
        }
        assertThat(refused).isBetween(8_000, 19_000);
    }

    /**
     * In a process of its own, which an address that passes, but should not, would end. Where that is permitted, in a
     * network of its own too: a port that was mutated may be another program's, and UCX ends a process to which an HTTP
     * server has answered.
     */
    @Tag("slow")
    @ParameterizedTest
    @CsvSource({
        "UCX_TLS, tcp",
        "UCX_TLS, 'posix,sysv'",
        "UCX_TLS, all",
        "UCX_ADDRESS_VERSION, v2",
        "UCX_ADDRESS_DEBUG_INFO, y"
    })
    void noMutationOfAnAddressEndsTheProcess(String variable, String value) throws Exception {
        Require.backend("ucx", UcxContext.unavailable());
        long seed = System.nanoTime();
        try (Child child = new Child(ownNetwork(), Map.of(variable, value), "addresses", "150", "" + seed)) {
            assertThat(child.line()).as("seed %d", seed).matches("[1-9]\\d* passed, [1-9]\\d* refused");
            assertThat(child.end()).as("seed %d", seed).isZero();
        }
    }

    private static List<String> ownNetwork() throws IOException, InterruptedException {
        List<String> launcher = List.of("unshare", "--net", "sh", "-c", "ip link set lo up && exec \"$@\"", "sh");
        List<String> trial = new ArrayList<>(launcher);
        trial.add("true");
        try {
            return new ProcessBuilder(trial).start().waitFor() == 0 ? launcher : List.of();
        } catch (IOException e) { // no such program
            return List.of();
        }
    }
}
