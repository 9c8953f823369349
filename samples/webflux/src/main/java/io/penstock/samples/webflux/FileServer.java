// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples.webflux;

import io.penstock.webflux.FileResource;
import io.penstock.webflux.HttpFiles;
import java.nio.file.Path;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.http.HttpStatus;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** Sends the files of a folder, with ranges, and receives new ones. */
@SpringBootApplication
@RestController
public class FileServer {

    private final HttpFiles files;
    private final Path folder;

    FileServer(HttpFiles files, @Value("${files.folder}") Path folder) {
        this.files = files;
        this.folder = folder;
    }

    public static void main(String[] arguments) {
        SpringApplication.run(FileServer.class, arguments);
    }

    @GetMapping("/files/{*name}")
    FileResource get(@PathVariable String name) {
        return files.resource(HttpFiles.below(folder, name));
    }

    @PutMapping("/files/{*name}")
    @ResponseStatus(HttpStatus.CREATED)
    Mono<Void> put(@PathVariable String name, ServerHttpRequest request) {
        return files.receive(request, HttpFiles.below(folder, name)).then();
    }
}
