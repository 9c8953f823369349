// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import io.penstock.Backend;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;

/** Objects that notify a test of each call of a method before it is made. */
final class Watched {

    private Watched() {}

    /** Called with a method's name and arguments. */
    @FunctionalInterface
    interface Look {
        void at(String method, Object[] arguments) throws Exception;
    }

    static Backend backend(Backend real, Look look) {
        return like(Backend.class, real, look);
    }

    static <T> T like(Class<T> type, T real, Look look) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    look.at(method.getName(), arguments);
                    if (method.isDefault()) {
                        return InvocationHandler.invokeDefault(proxy, method, arguments);
                    }
                    try {
                        return method.invoke(real, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }
}
