// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Each limit, a moment before and when it is reached, on a clock that the test moves. */
class TimeLimitsTest {

    private static final long HEADERS = 10;
    private static final long IDLE = 60;
    private static final long STALLED = 30;
    private static final Limits LIMITS =
            new Limits(1, Duration.ofSeconds(HEADERS), Duration.ofSeconds(IDLE), Duration.ofSeconds(STALLED));

    private EmbeddedChannel channel;
    private Requests requests;

    @BeforeEach
    void connect() {
        TimeLimits times = new TimeLimits(LIMITS);
        channel = new EmbeddedChannel();
        channel.freezeTime();
        requests = new Requests(times);
        channel.pipeline().addLast(times, new HttpServerCodec(), requests);
    }

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    @Test
    void aSilentConnectionIsClosed() {
        assertOpenUntil(HEADERS);
    }

    @Test
    void headersThatComeByteByByteDoNotExtendTheirTime() {
        receive("GET / HTTP/1.1\r\nX: ");
        for (int i = 1; i < HEADERS; i++) {
            pass(1, TimeUnit.SECONDS);
            receive("a");
            assertThat(channel.isOpen()).isTrue();
        }
        assertOpenUntil(1);
    }

    @Test
    void aRequestThatIsBeingAnsweredMayTakeAnyTime() {
        request();
        pass(1, TimeUnit.HOURS);
        assertThat(channel.isOpen()).isTrue();
    }

    @Test
    void aConnectionMayWaitForItsNextRequestAsLongAsIsAllowed() {
        request();
        respond();
        pass(HEADERS, TimeUnit.SECONDS);
        assertThat(channel.isOpen()).isTrue();
        assertOpenUntil(IDLE - HEADERS);
    }

    @Test
    void theHeadersOfTheNextRequestHaveTheirTimeFromItsFirstByteOn() {
        request();
        respond();
        pass(IDLE - 1, TimeUnit.SECONDS);
        receive("G");
        assertOpenUntil(HEADERS);
    }

    @Test
    void aRequestThatCameWhileTheLastWasAnsweredIsNotWaitedFor() {
        request();
        receive("GET / HTTP/1.1\r\n\r\n");
        assertThat(channel.<Object>readInbound()).isNull();
        respond();
        Object next = channel.readInbound();
        assertThat(next).isInstanceOf(HttpRequest.class);
        pass(1, TimeUnit.HOURS);
        assertThat(channel.isOpen()).isTrue();
    }

    @Test
    void aClientThatReadsNoByteOfAResponseIsDisconnected() {
        request();
        beginResponse();
        writeSome();
        pass(STALLED, TimeUnit.SECONDS);
        assertThat(channel.isOpen()).as("looked at for the first time").isTrue();
        assertOpenUntil(STALLED);
    }

    @Test
    void aSlowClientIsNot() {
        request();
        beginResponse();
        for (int i = 0; i < 200; i++) {
            write(40_000);
            passSecondBySecond(STALLED - 1);
            assertThat(channel.isOpen()).isTrue();
            channel.flush(); // it takes 1.4 bytes for each millisecond
        }
    }

    /** The kernel takes much for a client at once, and then nothing for long. */
    @Test
    void aSlowClientWhoseSocketTakesMuchAtOnceIsNotEither() {
        request();
        beginResponse();
        for (int i = 0; i < 200; i++) {
            write(i % 10 == 0 ? 400_000 : 1);
            passSecondBySecond(STALLED - 1);
            assertThat(channel.isOpen()).isTrue();
            channel.flush();
        }
    }

    @Test
    void aClientThatTakesAByteNowAndThenIsDisconnectedWhateverItTookBefore() {
        request();
        beginResponse();
        write(8 << 20);
        channel.flush();
        int periods = 0;
        while (channel.isOpen()) {
            write(1);
            passSecondBySecond(STALLED - 1);
            channel.flush();
            periods++;
        }
        assertThat(periods * (STALLED - 1)).isBetween(STALLED, (1L << 20) / 1000 + 3 * STALLED);
    }

    @Test
    void aClientThatIsWaitedForByNobodyIsNotMeasured() {
        request();
        beginResponse();
        pass(1, TimeUnit.HOURS); // nothing is pending: the disk is slow
        write(10);
        pass(STALLED - 1, TimeUnit.SECONDS);
        assertThat(channel.isOpen()).isTrue();
    }

    /** A body that the kernel sends; of which so much has gone. */
    private final class Region extends DefaultFileRegion {

        private long gone;

        Region(long bytes) {
            super(new File("unused"), 0, bytes);
        }

        @Override
        public long transferred() {
            return gone;
        }

        void write() {
            var unused = channel.write(this);
            channel.unsafe().outboundBuffer().addFlush();
        }

        /** As a socket tells it. */
        void goesOn(long bytes) {
            gone += bytes;
            channel.unsafe().outboundBuffer().progress(bytes);
        }
    }

    @Test
    void aClientThatReadsNoByteOfARegionIsDisconnected() {
        request();
        beginResponse();
        new Region(1_000_000).write();
        passSecondBySecond(STALLED);
        assertThat(channel.isOpen()).as("looked at for the first time").isTrue();
        passSecondBySecond(3 * STALLED);
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void aClientThatReadsARegionSlowlyIsNot() {
        request();
        beginResponse();
        Region region = new Region(1L << 30);
        region.write();
        for (int i = 0; i < 200; i++) {
            passSecondBySecond(STALLED - 1);
            assertThat(channel.isOpen()).isTrue();
            region.goesOn(40_000);
        }
    }

    private void request() {
        receive("GET / HTTP/1.1\r\n\r\n");
        while (channel.readInbound() != null) {
            // the request and its end
        }
    }

    private void respond() {
        channel.writeOutbound(
                new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, Unpooled.EMPTY_BUFFER));
        requests.responseEnded();
        channel.runPendingTasks();
    }

    private void beginResponse() {
        HttpResponse response = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
        response.headers().set(HttpHeaderNames.CONTENT_LENGTH, Long.MAX_VALUE);
        channel.writeOutbound(response);
    }

    /** What is not flushed has not gone. */
    private void writeSome() {
        write(100);
    }

    private void write(int bytes) {
        var unused = channel.write(new DefaultHttpContent(Unpooled.wrappedBuffer(new byte[bytes])));
        assertThat(channel.unsafe().outboundBuffer().totalPendingWriteBytes()).isPositive();
    }

    private void receive(String bytes) {
        channel.writeInbound(Unpooled.copiedBuffer(bytes, StandardCharsets.US_ASCII));
    }

    private void assertOpenUntil(long seconds) {
        pass(TimeUnit.SECONDS.toNanos(seconds) - 1, TimeUnit.NANOSECONDS);
        assertThat(channel.isOpen()).as("a nanosecond early").isTrue();
        pass(1, TimeUnit.NANOSECONDS);
        assertThat(channel.isOpen()).isFalse();
    }

    /** So that what is scheduled runs in time. */
    private void passSecondBySecond(long seconds) {
        for (long i = 0; i < seconds; i++) {
            pass(1, TimeUnit.SECONDS);
        }
    }

    private void pass(long time, TimeUnit unit) {
        channel.advanceTimeBy(time, unit);
        channel.runScheduledPendingTasks();
        channel.runPendingTasks();
    }
}
