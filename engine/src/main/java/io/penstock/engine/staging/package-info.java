// SPDX-License-Identifier: Apache-2.0
/**
 * Transfers to devices that the processor cannot address: staging workers and a pool of staging buffers, behind
 * {@link io.penstock.engine.spi.staging.StagingPath}.
 *
 * <p>{@link io.penstock.engine.staging.StagedQueue} is the transport; the I/O queue above it splits transfers into
 * requests of at most a staging buffer. A READ waits for a permit and for a staging worker, which takes a staging
 * buffer (FREE) and reads the file into it (FILLING, FILLED); the executor makes the device copy it (COPYING), and the
 * staging buffer is FREE again. A WRITE takes the reverse order. Under
 * {@link io.penstock.engine.spi.staging.ThreadRule#MANY} staging workers copy what they have filled; else an
 * {@link io.penstock.engine.kit.staging.ExecutorPump} makes all device calls, driven by an
 * {@link io.penstock.engine.kit.staging.ExecutorThread} or by the application.
 *
 * <h2>Memory ordering</h2>
 *
 * <p>There is one {@code StagedRequest} per tag, and at any time one thread holds it; only the holder touches its plain
 * fields. One atomic word, {@code StagedRequest.state}, determines the holder: the holder releases the request by
 * compare-and-set from TAKEN to a place (awaits staging buffer, staging worker, executor), a taker acquires it by
 * compare-and-set from that place to TAKEN, so the next holder sees all that the previous one wrote. The queues between
 * them carry references only. An entry may be stale, since {@code cancel} takes requests back by the same word; the
 * taker's compare-and-set then fails, or finds the request waiting at that very place again, in which case the two
 * entries are equivalent.
 *
 * <p>A staging buffer's bytes follow the request that holds the staging buffer; the free list passes a staging buffer
 * from one request to the next. The device's access to a staging buffer ends before it completes or fails the copy, and
 * only then is the staging buffer released (rule 204).
 *
 * <p>The I/O queue, the executor, its hook and the staging worker that polls are woken by a
 * {@link io.penstock.engine.spi.Wakeup} each, whose documentation has the argument. {@code StagingBuffers} has the same
 * form: a free permit is matched with a waiting request, and each is published before the check for the other, so one
 * of the two threads sees both. A staging buffer is returned before its permit, and each permit takes one: its holder
 * finds one. Staging workers sleep on a semaphore that counts requests.
 *
 * <p>{@code cancel} and the loss of the device are flags that holders check between two steps.
 */
@NullMarked
package io.penstock.engine.staging;

import org.jspecify.annotations.NullMarked;
