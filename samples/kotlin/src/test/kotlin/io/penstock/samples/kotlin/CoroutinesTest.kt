// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples.kotlin

import io.penstock.Backends
import java.nio.file.Files
import java.nio.file.NoSuchFileException
import java.nio.file.Path
import java.util.zip.CRC32
import kotlin.random.Random
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.runBlocking
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.condition.EnabledOnOs
import org.junit.jupiter.api.condition.OS
import org.junit.jupiter.api.io.TempDir

@EnabledOnOs(OS.LINUX) // descriptors are counted in /proc
class CoroutinesTest {

    @TempDir
    lateinit var folder: Path

    private val bytes = Random(1).nextBytes(2_500_000)

    private fun file(): Path = Files.write(folder.resolve("file"), bytes)

    private fun open(): Long = Files.list(Path.of("/proc/self/fd")).use { all ->
        all.filter { it.toFile().canonicalPath.startsWith(folder.toRealPath().toString()) }.count()
    }

    @Test
    fun aFileIsRead() = runBlocking<Unit> {
        Backends.open("host").use { backend ->
            assertThat(read(backend, file()).bytes()).isEqualTo(bytes.size.toLong())
            assertThrows(NoSuchFileException::class.java) { runBlocking { read(backend, folder.resolve("none")) } }
        }
    }

    @Test
    fun chunksAreAFlow() = runBlocking<Unit> {
        val parts = bytes.toList().chunked(1 shl 20) { part -> CRC32().apply { update(part.toByteArray()) }.value }
        Backends.open("host").use { backend ->
            assertThat(checksums(backend, file()).toList()).isEqualTo(parts)
            assertThat(checksums(backend, file()).first()).`as`("which cancels the others").isEqualTo(parts[0])
        }
        assertThat(open()).`as`("files left open").isZero()
    }
}
