// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.core.ResolvableType;
import org.springframework.http.MediaType;
import org.springframework.http.ReactiveHttpOutputMessage;
import org.springframework.http.codec.HttpMessageWriter;
import org.springframework.http.codec.ServerCodecConfigurer;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.adapter.DefaultServerWebExchange;
import org.springframework.web.server.i18n.AcceptHeaderLocaleContextResolver;
import reactor.core.publisher.Mono;

/** Sends the files that handlers return. */
final class FileResourceWriter implements HttpMessageWriter<FileResource> {

    private static final ServerCodecConfigurer CODECS =
            ServerCodecConfigurer.create(); // for forms, which have no files

    private final HttpFiles files;

    FileResourceWriter(HttpFiles files) {
        this.files = files;
    }

    @Override
    public List<MediaType> getWritableMediaTypes() {
        return List.of(MediaType.ALL);
    }

    @Override
    public boolean canWrite(ResolvableType type, @Nullable MediaType mediaType) {
        return FileResource.class.equals(type.toClass());
    }

    /**
     * Spring chooses {@code application/octet-stream} where the handler and the client name no type: the file's name
     * decides then.
     */
    @Override
    public Mono<Void> write(
            Publisher<? extends FileResource> file,
            ResolvableType actualType,
            ResolvableType type,
            @Nullable MediaType mediaType,
            ServerHttpRequest request,
            ServerHttpResponse response,
            Map<String, Object> hints) {
        if (mediaType != null && mediaType.isConcrete() && !MediaType.APPLICATION_OCTET_STREAM.equals(mediaType)) {
            response.getHeaders().setContentType(mediaType);
        }
        ServerWebExchange exchange = new DefaultServerWebExchange(
                request, response, none -> Mono.empty(), CODECS, new AcceptHeaderLocaleContextResolver());
        return Mono.from(file).flatMap(one -> files.send(one.path(), exchange));
    }

    @Override
    public Mono<Void> write(
            Publisher<? extends FileResource> file,
            ResolvableType type,
            @Nullable MediaType mediaType,
            ReactiveHttpOutputMessage message,
            Map<String, Object> hints) {
        return Mono.error(new UnsupportedOperationException("a FileResource is for responses of a server"));
    }
}
