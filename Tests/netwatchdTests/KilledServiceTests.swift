import CommandLineLab
import EventCore
import Glibc
import HTTPLab
import NetworkLab
import Testing

/// A client that reconnects as `EventSource` does, and a service that is killed.
///
/// `NETWATCH_KILLS` sets how often it is ended, by SIGKILL and SIGTERM in turn.
@Suite(.blocksItsThread, .timeLimit(.minutes(20))) struct KilledServiceTests {
    /// A client in Python: prints each event as a line of JSON, and reconnects with the id of the last one.
    private static let client = #"""
        import json, socket, sys, time
        last = None
        while True:
            try:
                connection = socket.socket(socket.AF_UNIX)
                connection.connect(sys.argv[1])
                head = "GET /v1/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
                if last: head += "Last-Event-ID: %s\r\n" % last
                connection.sendall((head + "\r\n").encode())
                stream = connection.makefile("rb")
                if b" 200 " not in stream.readline(): raise OSError("no stream")
                while stream.readline().strip(): pass
                event = {}
                for line in stream:
                    line = line.decode().rstrip("\n")
                    if not line:
                        if "data" in event:
                            data = json.loads(event["data"])
                            last = event.get("id", last)
                            print(json.dumps({"id": event.get("id"), "gap": data.get("gap"), "time": data["time"]}), flush=True)
                        event = {}
                    elif not line.startswith(":"):
                        name, _, value = line.partition(": ")
                        event[name] = value
            except OSError:
                pass
            time.sleep(0.002)
        """#

    private struct Received {
        let id: EventID
        let gap: JSONValue?
        /// Its time, which tells events of different runs apart.
        let time: String
    }

    @Test func `a client receives every event once, by its id, however often the service is killed`() throws {
        let kills = getenv("NETWATCH_KILLS").flatMap { Int(String(cString: $0)) } ?? 6
        let uplinks = try LabUplinks()
        let folder = try LabFolder()
        let path = folder.path + "/events.sock"
        let client = try LabProcess("/usr/bin/python3", ["-c", Self.client, path])
        var random = SeededGenerator(seed: 19)
        for round in 0...kills {
            let service = try ToolProcess(
                ["serve", "--socket", path, "--journal", folder.path + "/journal"],
                in: uplinks.home
            )
            try client.waitForOutput(within: .seconds(60)) { Set(Self.ids(in: $0).map(\.run)).count == round + 1 }
            try waitUntilStored(path)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                try uplinks.home.rtnl.deleteRoute("default", via: "192.0.2.1", on: "wlan0", metric: 600)
                try uplinks.home.rtnl.addRoute("default", via: "192.0.2.1", on: "wlan0", metric: 600)
            }
            if round == kills { try check(client, path) }
            let isKilled = round % 3 != 2 && round < kills
            service.send(isKilled ? SIGKILL : SIGTERM)
            #expect(try service.exitCode() == (isKilled ? 1000 + SIGKILL : 0))
        }
        try client.send(SIGKILL)
        _ = try client.finish()
    }

    /// Waits until the journal has the service's run: the gap after one that it does not have is of unknown length.
    private func waitUntilStored(_ path: String) throws {
        let client = try EventClient(path: path)
        // The counters of earlier runs are read, which the response waits for, when the run has been stored.
        client.request("/metrics")
        #expect(try client.response().status == 200)
    }

    /// Compares what the client has received with itself, and with what the service has stored.
    private func check(_ client: LabProcess, _ path: String) throws {
        let service = try EventClient(path: path)
        service.request("/v1/state")
        let tag = try #require(try service.response().fields["etag"]?.dropFirst().dropLast())
        let newest = try EventID(parsing: tag)
        let output = try client.waitForOutput(within: .seconds(60)) { Self.ids(in: $0).contains(newest) }
        let events = Self.events(in: output)
        #expect(Set(events.map(\.id)).count == events.count)
        for (last, next) in zip(events, events.dropFirst()) {
            let isNext = next.id.run == last.id.run ? next.id.sequence == last.id.sequence + 1 : next.id.sequence == 1
            #expect(isNext || next.gap != nil, "\(next.id) after \(last.id)")
            if let gap = next.gap { #expect(gap["from"]?.text == last.id.description && gap["reason"]?.text == "lost") }
        }
        try checkStored(events, upTo: newest, path)
    }

    /// The client has every event that the service has stored since it connected, up to one that it has: later ones may
    /// be on their way.
    private func checkStored(_ events: [Received], upTo newest: EventID, _ path: String) throws {
        let client = try EventClient(path: path)
        client.request("/v1/history?since=1d", "Accept: application/x-ndjson", "Connection: close")
        #expect(try client.head().status == 200)
        var stored: [String] = []
        while let line = try client.line() {
            let object = try JSONParser.parse(line)
            stored.append("\(UInt64(try #require(object["seq"]?.number))) \(object["time"]?.text ?? "")")
        }
        let received = events.map { "\($0.id.sequence) \($0.time)" }
        // The first connection begins with the state, of whichever event that is.
        let beginning = try #require(stored.firstIndex { received.contains($0) })
        let last = try #require(events.first { $0.id == newest })
        let end = try #require(stored.lastIndex(of: "\(newest.sequence) \(last.time)"))
        let expected = Array(stored[beginning...end])
        let isStored = Set(expected)
        #expect(received.filter { isStored.contains($0) } == expected)
        #expect(beginning < 5, "\(beginning)")
    }

    private static func ids(in output: String) -> [EventID] { events(in: output).map(\.id) }

    private static func events(in output: String) -> [Received] {
        var gap: JSONValue?
        return output.split(separator: "\n").compactMap { line in
            guard let object = try? JSONParser.parse(String(line)) else { return nil }
            guard let text = object["id"]?.text, let id = try? EventID(parsing: text) else {
                gap = object["gap"]
                return nil
            }
            defer { gap = nil }
            return Received(id: id, gap: gap, time: object["time"]?.text ?? "")
        }
    }
}
