// SPDX-License-Identifier: Apache-2.0
/**
 * How a device that the processor cannot address is fed: fillers, one pool of slots, the executor.
 *
 * <p>{@link io.penstock.engine.spi.staging.StagedQueue} is the transport; the lane above it cuts transfers into pieces of at
 * most a slot. A READ takes a slot (FREE), a filler reads the file into it (FILLING, FILLED), the executor has the device
 * copy it (COPYING), the slot is FREE again. A WRITE goes the other way round. Under
 * {@link io.penstock.engine.spi.staging.ThreadRule#MANY} fillers copy what they have filled; else an
 * {@link io.penstock.engine.spi.staging.ExecutorPump} makes all device calls, driven by an
 * {@link io.penstock.engine.spi.staging.ExecutorThread} or by the application.
 *
 * <h2>Memory ordering</h2>
 *
 * <p>There is one {@code Piece} per tag, and at any time one thread holds it; only the holder touches its plain
 * fields. Holding is decided by one atomic word, {@code Piece.state}: the holder gives the piece away by
 * compare-and-set from TAKEN to a place (awaits slot, filler, executor), a taker gets it by compare-and-set from that
 * place to TAKEN, so all that one holder wrote is seen by the next. The queues between them carry references only. An
 * entry may be stale, since {@code cancel} takes pieces back by the same word; the taker's compare-and-set then fails,
 * or finds the piece waiting at that very place again, in which case either entry is as good.
 *
 * <p>A slot's bytes follow the piece that holds the slot; the free list hands a slot from one piece to the next. What
 * the device does to a slot ends before it completes or fails the copy, and only then the slot moves on (rule 204).
 *
 * <p>Sleepers and wakers meet in three places, each of the form "publish, then look whether anyone sleeps" against
 * "say that I sleep, then look for work", on volatile variables, so that one of the two sees the other:
 * {@code Doorbell} (lane, executor thread), {@code ExecutorPump.asleep} (the hook), and {@code SlotPool} (a free slot
 * meets a waiting piece). Fillers sleep on a semaphore that counts pieces.
 *
 * <p>{@code cancel} and the loss of the device are flags that holders look at between two steps.
 */
@NullMarked
package io.penstock.engine.spi.staging;

import org.jspecify.annotations.NullMarked;
