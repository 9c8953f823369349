// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.fence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backends;
import io.penstock.DeviceFence;
import io.penstock.Options;
import io.penstock.PenstockException;
import io.penstock.backend.gl.GlFixture;
import io.penstock.backend.gl.GlSubject;
import io.penstock.backend.gl.context.GlContext;
import io.penstock.backend.gl.context.GlFailure;
import io.penstock.backend.gl.fakes.SsgFake;
import io.penstock.backend.gl.ffi.Gl;
import io.penstock.backend.gl.ffi.GlError;
import io.penstock.backend.gl.platform.ContextChoice;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** GLsyncs of a context whose thread is the backend's. */
class GlFenceTest {

    private GlContext context;

    @BeforeAll
    static void require() {
        GlSubject.require();
    }

    @BeforeEach
    void open() {
        context = GlContext.start(ContextChoice.of(Options.none().resolve(Backends.options())));
    }

    @AfterEach
    void close() {
        context.leave();
    }

    private DeviceFence placed() {
        return context.call("a fence", () -> GlFence.placed(context));
    }

    @Test
    void aFenceIsSeenToBeSignalledOnAnyThreadAlthoughNothingWaitsForIt() {
        SsgFake.require();
        DeviceFence fence = context.call("a fence that is pending at first", () -> {
            SsgFake.control().fail("glClientWaitSync", 1, Gl.GL_TIMEOUT_EXPIRED, GlError.NO_ERROR);
            return GlFence.placed(context);
        });
        GlFixture.await(fence::isSignalled);
        fence.outcome().block(GlFixture.LONG);
        fence.close();
    }

    @Test
    void aFenceIsDeletedWhenItIsClosedAndSignalled() {
        DeviceFence early = placed();
        early.close();
        GlFixture.await(early::isSignalled);
        DeviceFence late = placed();
        GlFixture.await(late::isSignalled);
        late.close();
        for (DeviceFence fence : new DeviceFence[] {early, late}) {
            GlFixture.await(() -> !context.call("a query", () -> Gl.glIsSync(fence.nativeHandle()) != 0));
        }
    }

    @Test
    void anImportedFenceIsNotDeleted() {
        long sync = context.call("a sync", () -> {
            long made = Gl.glFenceSync(Gl.GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
            Gl.glFlush();
            return made;
        });
        DeviceFence fence = context.call("an import", () -> GlFence.imported(context, sync));
        GlFixture.await(fence::isSignalled);
        fence.close();
        assertThat(context.<Boolean>call("a query", () -> Gl.glIsSync(sync) != 0))
                .isTrue();
        context.post(() -> Gl.glDeleteSync(sync));
    }

    /** GL keeps an error until it is queried: the next copy would have been taken for failed. */
    @Test
    void aPointWithoutAFenceLeavesNoErrorToOthers() {
        SsgFake.require();
        GlPoint point = new GlPoint(context, true);
        context.call("a point", () -> {
            SsgFake.control().fail("glFenceSync", 1, GlError.OUT_OF_MEMORY);
            point.place(() -> {});
            return context;
        });
        assertThat(point.nativeHandle()).isZero();
        assertThat(context.<Integer>call("a query", GlFailure::takeError)).isEqualTo(GlError.NO_ERROR);
        assertThat(context.ownFences()).isEmpty();
        point.free();
    }

    @Test
    void aWaitThatFailsIsTheOutcome() {
        SsgFake.require();
        for (int error : new int[] {GlError.INVALID_VALUE, GlError.NO_ERROR}) {
            DeviceFence fence = context.call("a fence that fails", () -> {
                SsgFake.control().fail("glClientWaitSync", 1, Gl.GL_WAIT_FAILED, error);
                return GlFence.placed(context);
            });
            assertThat(fence.isSignalled()).isTrue();
            assertThatThrownBy(() -> fence.outcome().block(GlFixture.LONG))
                    .isInstanceOf(PenstockException.class)
                    .hasMessageContaining("glClientWaitSync -> "
                            + (error == 0 ? "GL_WAIT_FAILED (37149)" : "GL_INVALID_VALUE (1281)"));
            fence.close();
        }
    }
}
