// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.nio.file.Path;

/** Files, buffers and fences that know their name and size, and fail the test that makes them do anything. */
final class Untouched {

    private Untouched() {}

    static StorageFile file(String path, long size) {
        return of(StorageFile.class, "size", size, Path.of(path));
    }

    static DeviceBuffer buffer(long length) {
        return of(DeviceBuffer.class, "length", length, Path.of("buffer"));
    }

    static DeviceFence fence() {
        return of(DeviceFence.class, "", 0, Path.of("fence"));
    }

    private static <T> T of(Class<T> type, String sizeMethod, long size, Path path) {
        InvocationHandler answers = (proxy, method, arguments) -> {
            if (method.isDefault()) {
                return InvocationHandler.invokeDefault(proxy, method, arguments);
            }
            return switch (method.getName()) {
                case "path" -> path;
                case "toString" -> path.toString();
                case "hashCode" -> System.identityHashCode(proxy);
                case "equals" -> proxy == arguments[0];
                default -> {
                    if (method.getName().equals(sizeMethod)) {
                        yield size;
                    }
                    throw new AssertionError("a value called " + method);
                }
            };
        };
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, answers));
    }
}
