// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve.peer;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.penstock.cli.serve.Contents;
import io.penstock.cli.serve.FoundFile;
import io.penstock.netty.http.FileParts;
import java.util.function.Function;
import org.springframework.core.io.FileSystemResource;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.core.io.buffer.NettyDataBufferFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Spring's way, as its {@code ResourceRegionEncoder} goes it: {@code DataBufferUtils.read} into pooled Netty buffers,
 * then {@code takeUntilByteCount}.
 */
final class SpringContents implements Contents {

    private final NettyDataBufferFactory buffers = new NettyDataBufferFactory(PooledByteBufAllocator.DEFAULT);
    private final int bufferBytes;

    SpringContents(int bufferBytes) {
        this.bufferBytes = bufferBytes;
    }

    @Override
    public Mono<Void> use(FoundFile file, Function<Content, Mono<Void>> response) {
        // The file is opened and closed with each read.
        return response.apply(body -> Flux.fromIterable(body.parts()).concatMap(part -> read(file, part)));
    }

    private Flux<ByteBuf> read(FoundFile file, FileParts.Part part) {
        Flux<DataBuffer> read =
                DataBufferUtils.read(new FileSystemResource(file.path()), part.offset(), buffers, bufferBytes);
        return DataBufferUtils.takeUntilByteCount(read, part.length()).map(NettyDataBufferFactory::toByteBuf);
    }
}
