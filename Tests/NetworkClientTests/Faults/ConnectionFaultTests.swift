import HTTPLab
import NetworkLab
import Testing

@testable import NetworkClient

/// Faults of reused connections, which must not affect other requests.
@Suite(.timeLimit(.minutes(10)))
struct ConnectionFaultTests {
    @Test func `an unsolicited response is discarded`() async throws {
        try await FaultLab.run { faults in
            // Two requests wait for one connection; a second response follows the first.
            let latch = try ServerLatch()
            let server = try ScriptedServer(in: faults.lab) { number in
                let smuggled = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfalse"
                let first = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ntrue"
                return number == 0
                    ? [.readRequest, .await(latch), .send(first + smuggled), .readToEnd]
                    : [.forever([.readRequest, .response("true")])]
            }
            let session = try faults.session(.init(maximumConnectionsPerHost: 1))
            let url = "http://127.0.0.1:\(server.port)/"
            let requests = (0..<3).map { _ in session.get(url) }
            latch.open()
            for request in requests { #expect(try await request.string() == "true") }
            #expect(server.connections.map(\.requests.count) == [1, 2])
            session.invalidate()
            try await server.waitForEnds(2)
            try await server.stop()
        }
    }

    @Test func `a partial response is not retried`() async throws {
        try await FaultLab.run { faults in
            let server = try ScriptedServer(
                in: faults.lab,
                always: [.readRequest, .response("one"), .readRequest, .send("HTTP/1.1 2"), .reset]
            )
            let session = try faults.session()
            let url = "http://127.0.0.1:\(server.port)/"
            #expect(try await session.get(url).string() == "one")
            let error = await #expect(throws: HTTPError.self) { try await session.get(url).response() }
            #expect(error?.code == .connectionLost)
            #expect(error?.processing == .maybeProcessed)
            #expect(server.connections.count == 1)
            try await faults.end(session)
            try await server.stop()
        }
    }

    @Test func `a resent request is subject to the host's limits, and its connection is closed with the session`()
        async throws
    {
        try await FaultLab.run { faults in
            let server = try ScriptedServer(in: faults.lab) { number in
                number == 0
                    ? [.readRequest, .response("one"), .readRequest, .close]
                    : [.forever([.readRequest, .response("again")])]
            }
            let session = try faults.session(.init(maximumConnectionsPerHost: 1, idleTimeout: nil))
            let url = "http://127.0.0.1:\(server.port)/"
            #expect(try await session.get(url).string() == "one")
            #expect(try await session.get(url).string() == "again")
            #expect(try await session.get(url).string() == "again")
            #expect(try await faults.connections(of: session) == 1)
            #expect(server.connections.count == 2)
            session.invalidate()
            try await server.waitForEnds(2)
            try await server.stop()
        }
    }

    @Test func `a resent request keeps its deadline`() async throws {
        try await FaultLab.run { faults in
            // The first connection is lost during its second request, and no other is accepted.
            let server = try ScriptedServer(in: faults.lab, backlog: 0, accepting: 1) { _ in
                [.readRequest, .response("one"), .readRequest, .close]
            }
            let session = try faults.session(.lasting)
            let url = "http://127.0.0.1:\(server.port)/"
            #expect(try await session.get(url).string() == "one")
            let filler = try FilledBacklog(of: server, in: faults.lab)
            var limits = Timeouts.lasting
            // Longer than it takes until the request is sent.
            limits.total = .seconds(10)
            let request = session.get(url, options: .init(timeouts: limits))
            let error = await #expect(throws: HTTPError.self) { try await request.response() }
            #expect(error?.code == .requestTimedOut)
            #expect(error?.processing == .maybeProcessed)
            try await faults.end(session)
            filler.close()
            try await server.stop()
        }
    }

    @Test func `a refusal during the upload is received, although the server then closes`() async throws {
        try await FaultLab.run { faults in
            let refusal = ServerStep.response(
                "too much",
                status: "413 Content Too Large",
                headers: ["Connection: close"]
            )
            let server = try ScriptedServer(
                in: faults.lab,
                receiveBuffer: 16_384,
                always: [.readHead, refusal, .close]
            )
            let session = try faults.session()
            for _ in 0..<10 {
                let url = "http://127.0.0.1:\(server.port)/"
                #expect(try await session.put(url, body: FaultTable.largeUpload).response().status == 413)
            }
            try await faults.end(session)
            try await server.stop()
        }
    }

    @Test func `a length without a body is no body`() async throws {
        try await FaultLab.run { faults in
            let server = try ScriptedServer(in: faults.lab) { number in
                let status = number == 0 ? "200 OK" : "304 Not Modified"
                return [.readRequest, .send("HTTP/1.1 \(status)\r\nContent-Length: 5000\r\nConnection: close\r\n\r\n")]
            }
            let session = try faults.session(.init(maximumBodySize: 1000))
            let url = "http://127.0.0.1:\(server.port)/"
            #expect(try await session.head(url).response()["Content-Length"] == ["5000"])
            #expect(try await session.get(url).response().status == 304)
            try await faults.end(session)
            try await server.stop()
        }
    }
}
