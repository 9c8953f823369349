// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.hip.ffi;

import io.penstock.Availability;
import io.penstock.Backends;
import io.penstock.Options;
import io.penstock.backend.hip.HipOptions;
import io.penstock.backend.hip.HipRuntime;
import io.penstock.backend.hip.paths.HipProvider;

/** A program that asks the runtime that its arguments name, in a process of its own: a process loads one. */
final class RealRuntime {

    private RealRuntime() {}

    /** Arguments: the file of the runtime, and the value of {@code penstock.hip.runtime}. */
    public static void main(String[] arguments) {
        HipRuntime runtime = HipRuntime.valueOf(arguments[1]);
        Options options =
                Options.none().with(HipOptions.LIBAMDHIP64, arguments[0]).with(HipOptions.RUNTIME, runtime);
        Availability found = new HipProvider().probe(options.resolve(Backends.options()));
        System.out.println("available: " + found.available());
        System.out.println("reason: " + found.reason());
        System.out.println("remedy: " + found.remedy());
        Hip hip = runtime == HipRuntime.CUDA ? HipOverCuda.CUDA : Hip.DRIVER;
        System.out.println("file: " + Hip.file());
        System.out.println("absent: " + hip.absent());
        System.out.println("version: " + hip.describe(hip.runtimeVersion()));
        int[] number = new int[1];
        System.out.println("count: " + hip.error("deviceGetCount", hip.deviceGetCount(number)));
        long[] pointer = new long[1];
        System.out.println("alloc: " + hip.error("memAlloc", hip.memAlloc(pointer, 4096)));
        System.out.println("stream: " + hip.error("streamCreate", hip.streamCreate(pointer, 1)));
        System.out.println("event: " + hip.error("eventCreate", hip.eventCreate(pointer, 2)));
        System.out.println("host: " + hip.error("memHostAlloc", hip.memHostAlloc(pointer, 4096, 1)));
        System.out.println("uuid: " + hip.error("deviceGetUuid", hip.deviceGetUuid(new byte[16], 0)));
        System.out.println("pointer: " + hip.error("pointerGetAttribute", hip.describe(0x1000, new long[3])));
        System.out.println("device: " + hip.error("ctxSetCurrent", hip.ctxSetCurrent(0)));
    }
}
