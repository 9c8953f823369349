// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples.kotlin

import io.penstock.Backend
import io.penstock.Backends
import io.penstock.Completion
import io.penstock.FileOption
import io.penstock.StreamPlan
import io.penstock.Transfer
import java.nio.file.Path
import java.util.zip.CRC32
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.fold
import kotlinx.coroutines.reactive.asFlow
import kotlinx.coroutines.reactor.awaitSingle
import kotlinx.coroutines.reactor.mono
import kotlinx.coroutines.runBlocking

/** Reads a whole file into memory of the device. Cancelling the coroutine cancels the transfer. */
suspend fun read(backend: Backend, path: Path): Completion =
    backend.withFile(path, FileOption.READ) { file ->
        backend.withBuffer(file.size()) { buffer ->
            backend.submit(Transfer.read(file.all(), buffer.all()))
        }
    }.awaitSingle()

/** Emits the checksum of each chunk of a file. The function may suspend: the chunk is leased until it returns. */
fun checksums(backend: Backend, path: Path): Flow<Long> =
    backend.stream(StreamPlan.of(path).chunkBytes(1 shl 20).depth(4)) { chunk ->
        mono { CRC32().apply { update(chunk.view().buffer(0, chunk.length().toInt())) }.value }
    }.asFlow()

fun main(arguments: Array<String>) = runBlocking {
    Backends.open().use { backend ->
        val path = Path.of(arguments[0])
        println(read(backend, path))
        println(checksums(backend, path).fold(0) { count, _ -> count + 1 }.toString() + " chunks")
    }
}
