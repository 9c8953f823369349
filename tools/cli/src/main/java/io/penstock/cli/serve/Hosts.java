// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import io.netty.util.NetUtil;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * The hosts whose requests a server answers. The owner of a name can make it resolve to this machine (DNS rebinding),
 * and a page of that name then has the same origin as the server. So a server that listens on loopback only, or that
 * was given names, answers for addresses, for {@code localhost}, for the name that it was told to listen on, and for
 * those names.
 */
public final class Hosts {

    private final boolean all;
    private final Set<String> names = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);

    /**
     * Returns the hosts of a server that listens on {@code address}.
     *
     * @param further the other names that it has, without ports
     * @throws IllegalArgumentException if one can be in no {@code Host}
     */
    Hosts(InetSocketAddress address, List<String> further) {
        all = !address.getAddress().isLoopbackAddress() && further.isEmpty();
        names.add(address.getHostString());
        for (String name : further) {
            if (name.isEmpty() || !name(name).equals(name)) {
                throw new IllegalArgumentException(
                        "a host name must be one without a port, such as files.example, was '" + name + "'");
            }
            names.add(name);
        }
    }

    /**
     * Returns whether a request is answered.
     *
     * @param host its {@code Host}, with or without a port; an empty one is of no page
     */
    boolean answer(String host) {
        return all || host.isEmpty() || names.contains(name(host)) || isThisMachine(host);
    }

    /** Returns whether a {@code Host} is an address or {@code localhost}. */
    public static boolean isThisMachine(String host) {
        String name = name(host);
        return name.equalsIgnoreCase("localhost")
                || NetUtil.isValidIpV4Address(name)
                || NetUtil.isValidIpV6Address(name);
    }

    /** Returns a host without its port; empty if it is none. */
    private static String name(String host) {
        try {
            String name = new URI("http://" + host).getHost();
            return name == null ? "" : name;
        } catch (URISyntaxException e) {
            return "";
        }
    }
}
