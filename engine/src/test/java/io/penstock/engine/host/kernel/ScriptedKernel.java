// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.kernel;

import io.penstock.engine.ffi.IoUring;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** The real kernel, except where a test has said what to answer. */
public final class ScriptedKernel implements Kernel {
    /** Answers of the next enters, made instead of calling the kernel. */
    public final Deque<Integer> enterAnswers = new ArrayDeque<>();

    public RingAvailability platform = LinuxKernel.INSTANCE.platform();
    public int setupAnswer;
    public int registerAnswer;
    public int mapAnswer;
    public int eventfdAnswer;
    public int disabled = 0;
    public int featuresTaken;
    /** What was handed over, in order. */
    public final List<Sqe> submitted = new ArrayList<>();

    /** Opcodes of registrations, in order. */
    public final List<Integer> registered = new ArrayList<>();

    /** Operations that the kernel had and had not ended when the rings were unmapped. */
    public int leftInFlight;

    private int headOffset;
    private int cqTailOffset;
    private int entries;
    private long rings;
    private long sqes;

    /** An operation as the kernel sees it. */
    public record Sqe(int opcode, int flags, int fd, int length, long userData) {}

    public int mostPerEnter = Integer.MAX_VALUE;
    public int enters;
    public int polls;
    public int opened;
    public int closed;
    public int mapped;
    public int unmapped;

    @Override
    public RingAvailability platform() {
        return platform;
    }

    @Override
    public int ioUringSetup(int entries, long params) {
        if (setupAnswer != 0) {
            return setupAnswer;
        }
        int fd = LinuxKernel.INSTANCE.ioUringSetup(entries, params);
        var view = NativeMemory.view(params, IoUring.PARAMS_BYTES);
        int features = view.getInt(IoUring.PARAMS_FEATURES_OFFSET);
        view.putInt(IoUring.PARAMS_FEATURES_OFFSET, features & ~featuresTaken);
        headOffset = view.getInt(IoUring.PARAMS_SQ_OFF_OFFSET + IoUring.SQ_OFF_HEAD_OFFSET);
        cqTailOffset = view.getInt(IoUring.PARAMS_CQ_OFF_OFFSET + IoUring.CQ_OFF_TAIL_OFFSET);
        this.entries = view.getInt(IoUring.PARAMS_SQ_ENTRIES_OFFSET);
        opened++;
        return fd;
    }

    @Override
    public int ioUringEnter(int fd, int submit, int minComplete, int flags, long argument, long argumentBytes) {
        enters++;
        if (!enterAnswers.isEmpty()) {
            return enterAnswers.pop();
        }
        int most = Math.min(submit, mostPerEnter);
        // A kernel that takes fewer than it was given does not wait.
        record(most);
        int wait = most < submit ? 0 : minComplete;
        return LinuxKernel.INSTANCE.ioUringEnter(fd, most, wait, flags, argument, argumentBytes);
    }

    @Override
    public int ioUringRegister(int fd, int opcode, long argument, int count) {
        registered.add(opcode);
        return registerAnswer != 0 ? registerAnswer : LinuxKernel.INSTANCE.ioUringRegister(fd, opcode, argument, count);
    }

    @Override
    public int ioUringDisabled() {
        return disabled;
    }

    @Override
    public long map(int fd, long length, long offset) {
        if (mapAnswer != 0 && mapped == 1) {
            return mapAnswer;
        }
        mapped++;
        long address = LinuxKernel.INSTANCE.map(fd, length, offset);
        if (offset == IoUring.IORING_OFF_SQES) {
            sqes = address;
        } else {
            rings = address;
        }
        return address;
    }

    private void record(int count) {
        int head = NativeMemory.view(rings, headOffset + 4).getInt(headOffset);
        var view = NativeMemory.view(sqes, (long) entries * IoUring.SQE_BYTES);
        for (int i = 0; i < count; i++) {
            int sqe = ((head + i) & (entries - 1)) * IoUring.SQE_BYTES;
            submitted.add(new Sqe(
                    view.get(sqe),
                    view.get(sqe + 1),
                    view.getInt(sqe + IoUring.SQE_FD_OFFSET),
                    view.getInt(sqe + IoUring.SQE_LEN_OFFSET),
                    view.getLong(sqe + IoUring.SQE_USER_DATA_OFFSET)));
        }
    }

    @Override
    public int unmap(long address, long length) {
        unmapped++;
        if (address == rings) {
            int ended = NativeMemory.view(rings, cqTailOffset + 4).getInt(cqTailOffset);
            leftInFlight += submitted.size() - ended;
        }
        return LinuxKernel.INSTANCE.unmap(address, length);
    }

    @Override
    public int poll(long pollfd, int timeoutMillis) {
        polls++;
        return LinuxKernel.INSTANCE.poll(pollfd, timeoutMillis);
    }

    @Override
    public int eventfd() {
        if (eventfdAnswer != 0) {
            return eventfdAnswer;
        }
        opened++;
        return LinuxKernel.INSTANCE.eventfd();
    }

    @Override
    public int eventfdSignal(int eventfd) {
        return LinuxKernel.INSTANCE.eventfdSignal(eventfd);
    }

    @Override
    public int close(int fd) {
        closed++;
        return LinuxKernel.INSTANCE.close(fd);
    }
}
