// SPDX-License-Identifier: Apache-2.0
/**
 * {@code penstock view}: a web page that shows a volume which is streamed for every frame, and what the stream does
 * meanwhile.
 *
 * <p>A page requests one frame at a time, over a WebSocket, and the next one once it shows the last: that request is
 * the demand, so nothing is queued for a slow page, and a frame is drawn with the settings of its request.
 * {@link io.penstock.renderer.view.ViewServer} serves the page and its socket,
 * {@link io.penstock.renderer.view.FrameLoop} draws, on one thread, and keeps the backends that pages use open.
 */
@NullMarked
package io.penstock.renderer.view;

import org.jspecify.annotations.NullMarked;
