import EventCore
import NIOCore
import NetwatchCore

/// A browser's connection: reads requests one after the other, and sends their responses.
///
/// A stream that its client does not read keeps only the numbers of the rows that have changed.
final class PageConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let hub: PageHub
    private var context: ChannelHandlerContext?
    private var received = ByteBuffer()
    private var deadline: Scheduled<Void>?
    /// The rows to send; nil if this is no stream.
    private var changed: Set<Int>?
    private var keepsAlive = true
    private var isDraining = false

    /// The maximum time for a request's head, and for an idle connection.
    private static let headTimeout = TimeAmount.seconds(30)
    /// The number of rows of an event.
    private static let rowsOfEvent = 250

    init(_ hub: PageHub) { self.hub = hub }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        guard hub.add(self) else { return context.close(promise: nil) }
        wait()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        deadline?.cancel()
        hub.remove(self)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard changed == nil, !isDraining else { return }
        var bytes = unwrapInboundIn(data)
        received.writeBuffer(&bytes)
        readRequests()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if changed != nil { sendChanges() } else { readRequests() }
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    /// Closes the connection.
    func end() { context?.close(promise: nil) }

    private func wait() {
        deadline?.cancel()
        // Cancelled when the connection ends.
        deadline = hub.loop.assumeIsolated().scheduleTask(in: Self.headTimeout) { self.end() }
    }
}

// MARK: - Requests

extension PageConnection {
    private func readRequests() {
        while let context, context.channel.isWritable, changed == nil, !isDraining, let head = nextHead() {
            wait()
            serve(head)
        }
        guard changed == nil, !isDraining, received.readableBytes > RequestHead.maximumLength else { return }
        refuse(.init(431, "the request's head is longer than \(RequestHead.maximumLength) bytes"))
    }

    /// Takes a whole head out of what was received; nil if there is none, or it is too long.
    private func nextHead() -> [UInt8]? {
        let view = received.readableBytesView.prefix(RequestHead.maximumLength)
        let end = Array("\r\n\r\n".utf8)
        guard view.count >= end.count else { return nil }
        for start in view.startIndex...(view.endIndex - end.count) where view[start] == end[0] {
            guard view[start..<start + end.count].elementsEqual(end) else { continue }
            return received.readBytes(length: start + end.count - view.startIndex)
        }
        return nil
    }

    private func serve(_ bytes: [UInt8]) {
        do throws(RequestRefusal) {
            let head = try RequestHead(parsing: bytes)
            keepsAlive = head.keepsAlive
            _ = try hub.rules.check(head)
            guard ["GET", "HEAD"].contains(head.method) else { throw .init(405, "only GET and HEAD are served") }
            try respond(head.target, isHead: head.method == "HEAD")
        } catch {
            // The rules name an option of the event service, which this tool has not.
            refuse(error.status == 403 ? .init(403, "pages of other origins may not read the fleet") : error)
        }
    }

    private func respond(_ target: String, isHead: Bool) throws(RequestRefusal) {
        switch target.prefix(while: { $0 != "?" }) {
        case "/":
            let page = PageDocument(broker: hub.broker)
            respond(200, page.text, type: "text/html; charset=utf-8", fields: page.fields, isHead: isHead)
        case "/v1/fleet":
            let rows = hub.rows.map(\.json).joined(separator: ",")
            respond(200, "{\"fleet\":\(hub.fleet),\"nodes\":[\(rows)]}\n", isHead: isHead)
        case "/v1/fleet/events" where isHead: respond(200, "", type: "text/event-stream", isHead: true)
        case "/v1/fleet/events": startStream()
        default: throw .init(404, "there is no such resource; there are /, /v1/fleet and /v1/fleet/events")
        }
    }

    private func refuse(_ refusal: RequestRefusal) {
        keepsAlive = false
        respond(refusal.status, "{\"error\":\"\(refusal.message.escapedForJSONAndTerminal)\"}\n")
    }

    private func respond(
        _ status: Int,
        _ body: String,
        type: String = "application/json",
        fields: String = "",
        isHead: Bool = false
    ) {
        let length = "Content-Length: \(body.utf8.count)\r\n"
        var bytes = head(status, type, length + (keepsAlive ? "" : "Connection: close\r\n") + fields)
        if !isHead { bytes.writeString(body) }
        context?.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
        guard !keepsAlive else { return }
        // The client reads the response before the connection is closed: what it still sends is dropped.
        isDraining = true
        context?.close(mode: .output, promise: nil)
    }

    private func head(_ status: Int, _ type: String, _ fields: String) -> ByteBuffer {
        ByteBuffer(
            string: "HTTP/1.1 \(status) \(RequestRefusal.phrase(of: status))\r\nCache-Control: no-store\r\n"
                + "Content-Type: \(type)\r\nX-Content-Type-Options: nosniff\r\nVary: Origin\r\n"
                + (status == 405 ? "Allow: GET, HEAD\r\n" : "") + fields + "\r\n"
        )
    }
}

// MARK: - The stream

extension PageConnection {
    private func startStream() {
        deadline?.cancel()
        context?.writeAndFlush(wrapOutboundOut(head(200, "text/event-stream", "")), promise: nil)
        changed = Set(hub.rows.indices)
        sendChanges()
    }

    /// Sends rows that have changed, if this is a stream; those that its client does not take yet later, as they are then.
    func follow(_ places: [Int]) {
        guard changed != nil else { return }
        changed?.formUnion(places)
        sendChanges()
    }

    private func sendChanges() {
        guard let context else { return }
        repeat {
            guard context.channel.isWritable, let rest = changed else { return }
            let part = rest.sorted().prefix(Self.rowsOfEvent)
            changed?.subtract(part)
            let rows = part.map { hub.rows[$0].json }.joined(separator: ",")
            let event = "data: {\"fleet\":\(hub.fleet),\"nodes\":[\(rows)]}\n\n"
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: event)), promise: nil)
        } while changed?.isEmpty == false
    }

    /// Sends a comment, if this is a stream, so that a dead connection is noticed.
    func comment() {
        guard changed != nil, let context, context.channel.isWritable else { return }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: EventText.comment)), promise: nil)
    }
}
