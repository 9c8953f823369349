// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.List;
import org.springframework.http.HttpHeaders;

/** {@link HttpHeaders#remove}, whose parameter is a String in Spring 7, and an Object in 6, where headers are a map. */
final class HeaderRemoval {

    private static final MethodHandle REMOVE = find();

    private HeaderRemoval() {}

    private static MethodHandle find() {
        MethodHandles.Lookup lookup = MethodHandles.publicLookup();
        MethodHandle remove;
        try {
            remove = lookup.findVirtual(HttpHeaders.class, "remove", MethodType.methodType(List.class, String.class));
        } catch (ReflectiveOperationException before7) {
            try {
                remove = lookup.findVirtual(
                        HttpHeaders.class, "remove", MethodType.methodType(List.class, Object.class));
            } catch (ReflectiveOperationException e) {
                throw new LinkageError("HttpHeaders has no remove", e);
            }
        }
        return remove.asType(MethodType.methodType(void.class, HttpHeaders.class, String.class));
    }

    static void remove(HttpHeaders headers, String name) {
        try {
            REMOVE.invokeExact(headers, name);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e); // remove declares none
        }
    }
}
