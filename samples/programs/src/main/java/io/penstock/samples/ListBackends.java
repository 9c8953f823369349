// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import io.penstock.Availability;
import io.penstock.Backends;
import java.util.List;

/** Lists the backends on the class path: which can be used here, why not, and what would help. */
public final class ListBackends {

    private ListBackends() {}

    public static void main(String[] arguments) {
        list().forEach(System.out::println);
    }

    static List<String> list() {
        return Backends.list().stream().map(ListBackends::line).toList();
    }

    private static String line(Backends.Listing listing) {
        Availability found = listing.availability();
        return listing.name() + ": " + found.reason() + (found.available() ? "" : "; remedy: " + found.remedy());
    }
}
