// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.DeviceBuffer;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Arrays;
import java.util.Random;
import java.util.Set;
import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.startup.Tomcat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.annotation.AnnotatedBeanDefinitionReader;
import org.springframework.http.ResponseEntity;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.web.servlet.request.MockMvcRequestBuilders;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.support.GenericWebApplicationContext;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;

/** Files by Spring MVC, whose container sends them, with Spring's own ranges. */
class MvcFilesTest {

    @TempDir
    Path folder;

    private final byte[] bytes = new byte[3_000_000];
    private Backend backend;
    private Handlers handlers;
    private Tomcat tomcat;

    @RestController
    static final class Handlers {

        private final HttpFiles files;
        private final Path folder;

        Handlers(HttpFiles files, Path folder) {
            this.files = files;
            this.folder = folder;
        }

        @GetMapping("/files/{*name}")
        FileResource get(@PathVariable("name") String name) {
            return files.resource(HttpFiles.below(folder, name));
        }

        @GetMapping("/tagged/{*name}")
        ResponseEntity<FileResource> tagged(@PathVariable("name") String name) throws IOException {
            FileResource file = files.resource(HttpFiles.below(folder, name));
            return ResponseEntity.ok()
                    .eTag(file.eTag())
                    .lastModified(file.lastModified())
                    .body(file);
        }

        @GetMapping("/replaced/{*name}")
        ResponseEntity<FileResource> replaced(@PathVariable("name") String name) throws IOException {
            ResponseEntity<FileResource> file = tagged(name);
            replace(HttpFiles.below(folder, name));
            return file;
        }
    }

    private static void replace(Path file) throws IOException {
        Path other = Files.writeString(file.resolveSibling("other"), "another version");
        Files.move(other, file, StandardCopyOption.REPLACE_EXISTING);
    }

    @EnableWebMvc
    static class Application {}

    @BeforeEach
    void start() throws IOException, LifecycleException {
        new Random(6).nextBytes(bytes);
        Files.write(folder.resolve("data.txt"), bytes);
        Files.createDirectory(folder.resolve("folder"));
        backend = Backends.open("host");
        handlers = new Handlers(new HttpFiles(backend), folder);
        GenericWebApplicationContext application = new GenericWebApplicationContext();
        new AnnotatedBeanDefinitionReader(application).register(Application.class);
        application.registerBean(Handlers.class, () -> handlers);
        tomcat = new Tomcat();
        tomcat.setBaseDir(folder.resolve("tomcat").toString());
        tomcat.setHostname("localhost");
        tomcat.setPort(0);
        Context context = tomcat.addContext("", null);
        context.addServletContainerInitializer(
                (none, servlets) -> servlets.addServlet("mvc", new DispatcherServlet(application))
                        .addMapping("/"),
                Set.of());
        tomcat.getConnector();
        tomcat.start();
    }

    @AfterEach
    void stop() throws LifecycleException {
        tomcat.stop(); // once its requests have ended
        tomcat.destroy();
        assertThat(backend.counters().files()).as("open files").isZero();
        assertThat(backend.counters().buffers()).as("open buffers").isZero();
        backend.close();
    }

    private HttpRequest.Builder to(String path) {
        return HttpRequest.newBuilder(
                URI.create("http://localhost:" + tomcat.getConnector().getLocalPort() + path));
    }

    private static HttpResponse<byte[]> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        return HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
    }

    @Test
    void tomcatSendsAFileWithRanges() throws Exception {
        HttpResponse<byte[]> whole = send(to("/files/data.txt"));
        assertThat(whole.body()).isEqualTo(bytes);
        assertThat(whole.headers().firstValue("Content-Type")).hasValue("text/plain");
        assertThat(whole.headers().firstValue("Accept-Ranges")).hasValue("bytes");
        assertThat(whole.headers().firstValueAsLong("Content-Length")).hasValue(bytes.length);
        HttpResponse<byte[]> part = send(to("/files/data.txt").header("Range", "bytes=1000-1999999"));
        assertThat(part.statusCode()).isEqualTo(206);
        assertThat(part.headers().firstValue("Content-Range")).hasValue("bytes 1000-1999999/3000000");
        assertThat(part.body()).isEqualTo(Arrays.copyOfRange(bytes, 1000, 2_000_000));
        HttpResponse<byte[]> parts = send(to("/files/data.txt").header("Range", "bytes=0-0,-2"));
        assertThat(parts.headers().firstValue("Content-Type").orElse("")).startsWith("multipart/byteranges;");
        assertThat(send(to("/files/data.txt").header("Range", "bytes=3000000-")).statusCode())
                .isEqualTo(416);
        HttpResponse<byte[]> head = send(to("/files/data.txt").method("HEAD", HttpRequest.BodyPublishers.noBody()));
        assertThat(head.headers().firstValueAsLong("Content-Length")).hasValue(bytes.length);
    }

    @Test
    void whatIsNoFileIsNotFound() throws Exception {
        for (String nothing : new String[] {"missing", "folder", "data.txt/x", ".hidden"}) {
            assertThat(send(to("/files/" + nothing)).statusCode()).as(nothing).isEqualTo(404);
            assertThat(send(to("/files/" + nothing).header("Range", "bytes=0-")).statusCode())
                    .as(nothing)
                    .isEqualTo(404);
        }
    }

    @Test
    void aFileThatTheClientHasIsNotSentAgain() throws Exception {
        Files.setLastModifiedTime(folder.resolve("data.txt"), FileTime.from(Instant.parse("2026-11-29T12:00:00Z")));
        HttpHeaders first = send(to("/tagged/data.txt")).headers();
        assertThat(first.firstValue("Last-Modified")).hasValue("Sun, 29 Nov 2026 12:00:00 GMT");
        String tag = first.firstValue("ETag").orElseThrow();
        assertThat(send(to("/tagged/data.txt").header("If-None-Match", tag)).statusCode())
                .isEqualTo(304);
        Files.writeString(folder.resolve("data.txt"), "another version");
        assertThat(send(to("/tagged/data.txt").header("If-None-Match", tag)).body())
                .asString()
                .isEqualTo("another version");
    }

    /** The bytes of one version were sent with the tag of another. */
    @Test
    void aFileThatIsReplacedMeanwhileIsAFailureNotAMixture() throws Exception {
        String tag = send(to("/tagged/data.txt")).headers().firstValue("ETag").orElseThrow();
        HttpResponse<InputStream> mixed = HttpClient.newHttpClient()
                .send(to("/replaced/data.txt").build(), HttpResponse.BodyHandlers.ofInputStream());
        assertThat(mixed.statusCode()).as("its tag was " + tag).isEqualTo(500);
        mixed.body().close();
        Path path = folder.resolve("data.txt");
        FileResource file = new HttpFiles(backend).resource(path);
        assertThat(file.contentLength()).isEqualTo(15);
        String first = file.eTag();
        Files.writeString(path, "and another version");
        assertThat(file.contentLength()).isEqualTo(15);
        assertThat(file.eTag()).isEqualTo(first).isNotEqualTo(tag);
        assertThatThrownBy(file::getInputStream)
                .isInstanceOf(IOException.class)
                .hasMessage("file " + path + " was replaced or changed after its length, time or tag was asked for;"
                        + " a new resource(path) is of the file that is there now");
        try (InputStream now = new HttpFiles(backend).resource(path).getInputStream()) {
            assertThat(now.readAllBytes()).asString().isEqualTo("and another version");
        }
    }

    @Test
    void aStreamClosesItsFileAlsoIfItsMemoryCannotBeFreed() throws IOException {
        Backend failing = (Backend) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Backend.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("allocate")) {
                        return backend.allocate((long) arguments[0]).map(MvcFilesTest::unclosable);
                    }
                    return method.isDefault()
                            ? InvocationHandler.invokeDefault(proxy, method, arguments)
                            : method.invoke(backend, arguments);
                });
        InputStream stream =
                new HttpFiles(failing).resource(folder.resolve("data.txt")).getInputStream();
        assertThat(backend.counters().files()).isEqualTo(1);
        assertThatThrownBy(stream::close).hasMessage("freed, and failed");
    }

    private static DeviceBuffer unclosable(DeviceBuffer buffer) {
        return Watched.like(DeviceBuffer.class, buffer, (method, arguments) -> {
            if (method.equals("close")) {
                buffer.close();
                throw new IllegalStateException("freed, and failed");
            }
        });
    }

    @Test
    void mockMvcGetsTheRange() throws Exception {
        MockHttpServletResponse response = MockMvcBuilders.standaloneSetup(handlers)
                .build()
                .perform(MockMvcRequestBuilders.get("/files/data.txt").header("Range", "bytes=2999998-"))
                .andReturn()
                .getResponse();
        assertThat(response.getStatus()).isEqualTo(206);
        assertThat(response.getHeader("Content-Range")).isEqualTo("bytes 2999998-2999999/3000000");
        assertThat(response.getContentAsByteArray()).isEqualTo(Arrays.copyOfRange(bytes, 2_999_998, 3_000_000));
    }

    @Test
    void anInterruptEndsAnOpeningOrIsKept() throws IOException {
        FileResource file = new HttpFiles(backend).resource(folder.resolve("data.txt"));
        try (InputStream open = file.getInputStream()) {
            assertThat(open.readNBytes(5)).isEqualTo(Arrays.copyOf(bytes, 5));
            assertThat(open.skip(2_000_000)).isEqualTo(2_000_000);
            assertThat(open.readAllBytes()).isEqualTo(Arrays.copyOfRange(bytes, 2_000_005, bytes.length));
        }
        assertThat(file.exists()).isTrue();
        assertThat(new HttpFiles(backend).resource(folder).exists()).isFalse();
        assertThat(file).hasToString("file " + folder.resolve("data.txt"));
        Thread.currentThread().interrupt();
        try (InputStream open = file.getInputStream()) {
            assertThat(open).as("a file that was open before its opener waited").isNotNull();
        } catch (InterruptedIOException interrupted) {
            assertThat(interrupted).hasMessageContaining("the thread was interrupted");
        }
        assertThat(Thread.interrupted()).isTrue();
    }
}
