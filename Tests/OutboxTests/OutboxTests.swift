import DurableStore
import Foundation
import HTTPLab
import NetworkClient
import NetworkLab
import Outbox
import Testing

/// An outbox in a folder of its own, with a server on loopback.
struct OutboxLab {
    let folder: LabFolder
    let server: AnsweringServer
    let session: HTTPSession

    init(
        connectivity: (any Connectivity)? = nil,
        tls: TLSOptions = .init(),
        interceptors: [any RequestInterceptor] = [],
        retry: RetryPolicy = .never,
        respond: @escaping @Sendable (AnsweringServer.Request) -> [ServerStep] = { _ in [.response("done")] }
    ) throws {
        folder = try LabFolder()
        server = try AnsweringServer(respond: respond)
        session = try HTTPSession(
            configuration: .init(
                timeouts: Self.patient,
                tls: tls,
                proxy: .direct,
                retry: retry,
                interceptors: interceptors,
                connectivity: connectivity
            )
        )
    }

    /// Longer than a busy machine takes: the clock of an outbox may stand still, and no attempt would follow.
    static let patient = Timeouts(resolve: .seconds(120), connect: .seconds(120), tls: .seconds(120))

    var path: String { "\(folder.path)/box" }

    func open(
        _ configuration: Outbox.Configuration = .init(minimumFreeSpace: 0),
        credentials: Outbox.CredentialSource? = nil
    ) async throws -> Outbox {
        try await Outbox(at: path, session: session, configuration: configuration, credentials: credentials)
    }

    /// A configuration for a process that only adds.
    static let addsOnly = Outbox.Configuration(minimumFreeSpace: 0, sends: false)

    func lane(_ outbox: Outbox, _ options: LaneOptions = .init()) -> OutboxLane {
        outbox.lane("readings", to: server.url + "/v1", options)
    }
}

extension Outbox {
    /// Returns the next outcomes, and acknowledges them.
    func next(_ count: Int) async throws -> [OutboxOutcome] {
        var found: [OutboxOutcome] = []
        for try await outcome in outcomes {
            found.append(outcome)
            try await outcome.acknowledge()
            if found.count == count { break }
        }
        return found
    }
}

/// Adding, sending and outcomes.
@Suite(.timeLimit(.minutes(15))) struct OutboxTests {
    @Test func `an item is sent with its key, its fields and its body, and its outcome has the response`() async throws
    {
        let lab = try OutboxLab()
        let outbox = try await lab.open()
        let options = ItemOptions(key: .custom("k-1"), headers: [.accept: "text/plain"], userInfo: ["drive": "7"])
        let id = try await lab.lane(outbox).post("readings?x=1", .json([1, 2]), options: options)
        let outcome = try #require(await outbox.next(1).first)
        #expect(outcome.id == id && outcome.end == .delivered && outcome.userInfo == ["drive": "7"])
        #expect(outcome.response?.status == 200 && outcome.response?.body == Array("done".utf8))
        let request = try #require(lab.server.requests.value.first)
        #expect(request.method == "POST" && request.target == "/v1/readings?x=1")
        #expect(request["Idempotency-Key"] == #""k-1""# && request["Accept"] == "text/plain")
        #expect(request.body == Array("[1,2]".utf8) && request["Content-Type"] == "application/json")
        #expect(try await outbox.items().isEmpty)
    }

    @Test func `what an earlier process has added is sent by a later one`() async throws {
        let lab = try OutboxLab()
        let first = try await lab.open(OutboxLab.addsOnly)
        for number in 0..<20 { try await lab.lane(first).post("readings", .text("\(number)")) }
        #expect(try await first.items(in: "readings").count == 20)
        await first.shutdown()
        let second = try await lab.open()
        #expect(try await second.next(20).allSatisfy { $0.end == .delivered })
        #expect(Set(lab.server.requests.value.map(\.body)).count == 20)
    }

    @Test func `outcomes are returned until they are acknowledged, also in a later process`() async throws {
        let lab = try OutboxLab()
        let first = try await lab.open()
        let id = try await lab.lane(first).put("a", .text("x"))
        for try await outcome in first.outcomes {
            #expect(outcome.id == id)
            break
        }
        await first.shutdown()
        let second = try await lab.open(OutboxLab.addsOnly)
        #expect(try await second.next(1).map(\.id) == [id])
        #expect(try await second.statistics().outcomes == 0)
    }

    @Test func `the same request with the same key is one item; another request with it is an error`() async throws {
        let lab = try OutboxLab()
        let outbox = try await lab.open(OutboxLab.addsOnly)
        let lane = lab.lane(outbox)
        let id = try await lane.post("a", .text("x"), options: .init(key: .custom("k")))
        #expect(try await lane.post("a", .text("x"), options: .init(key: .custom("k"))) == id)
        let error = await #expect(throws: OutboxError.self) {
            try await lane.post("a", .text("y"), options: .init(key: .custom("k")))
        }
        #expect(error?.code == .keyInUse)
        #expect(try await outbox.items().count == 1)
    }

    @Test(arguments: ["Authorization", "Cookie", "Proxy-Authorization"])
    func `a secret field is refused`(name: String) async throws {
        let lab = try OutboxLab()
        let lane = lab.lane(try await lab.open(OutboxLab.addsOnly))
        var headers = HTTPFields()
        headers[try #require(.init(name))] = "secret"
        let options = ItemOptions(headers: headers)
        let error = await #expect(throws: OutboxError.self) { try await lane.post("a", options: options) }
        #expect(error?.code == .secretRefused)
        #expect(error?.reason.contains("secret,") == true)
    }

    @Test func `a credential is looked up by its name when the item is sent`() async throws {
        let lab = try OutboxLab()
        let outbox = try await lab.open { name in .bearer("token-of-\(name)") }
        try await lab.lane(outbox).post("a", .text("x"), options: .init(credential: "cloud"))
        _ = try await outbox.next(1)
        #expect(lab.server.requests.value.first?["Authorization"] == "Bearer token-of-cloud")
        await outbox.shutdown()
        let names = try FileManager.default.contentsOfDirectory(atPath: lab.path).filter { $0 != "spool" }
        let stored = try names.flatMap { name in
            try Data(contentsOf: .init(filePath: "\(lab.path)/\(name)")).map(\.self)
        }
        #expect(!String(decoding: stored, as: UTF8.self).contains("token-of-cloud"))
    }

    @Test func `the folder is for its owner only`() async throws {
        let lab = try OutboxLab()
        let outbox = try await lab.open(OutboxLab.addsOnly)
        try await lab.lane(outbox).post("a", .bytes(.init(repeating: 1, count: 100_000)))
        let names = try #require(FileManager.default.enumerator(atPath: lab.path)).compactMap { $0 as? String }
        #expect(names.count > 5)
        for name in names + ["."] {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(lab.path)/\(name)")
            let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
            #expect(mode & 0o077 == 0, "\(name)")
        }
    }

    @Test func `a status about the item refuses it, and the next is sent`() async throws {
        let lab = try OutboxLab {
            $0.path == "/v1/bad" ? [.response("no", status: "422 Unprocessable Content")] : [.response("done")]
        }
        let outbox = try await lab.open()
        let lane = lab.lane(outbox, .init(order: .ordered(isStrict: true)))
        try await lane.post("bad", .text("x"))
        try await lane.post("good", .text("x"))
        let outcomes = try await outbox.next(2)
        #expect(outcomes.map(\.end) == [.refused, .delivered])
        #expect(outcomes[0].response?.status == 422)
        #expect(outcomes[0].reason == "the server responded with status 422")
    }

    @Test func `an ordered lane sends its items one after the other, in their order`() async throws {
        let lab = try OutboxLab()
        let adding = try await lab.open(OutboxLab.addsOnly)
        let lane = lab.lane(adding, .init(order: .ordered(isStrict: true)))
        for number in 0..<30 { try await lane.post("a", .text("\(number)")) }
        await adding.shutdown()
        _ = try await lab.open().next(30)
        let bodies = lab.server.requests.value.map { String(decoding: $0.body, as: UTF8.self) }
        #expect(bodies == (0..<30).map { "\($0)" })
    }

    @Test func `a failure of the destination pauses the lane, and ends no item`() async throws {
        let lab = try OutboxLab { _ in [.response("later", status: "503 Service Unavailable")] }
        let adding = try await lab.open(OutboxLab.addsOnly)
        let lane = lab.lane(adding, .init(order: .ordered(isStrict: false)))
        for number in 0..<5 { try await lane.post("a", .text("\(number)")) }
        let sending = try await lab.open()
        while try await adding.storage.lanes().first?.pause == nil { try await Task.sleep(for: .milliseconds(1)) }
        let items = try await adding.items()
        #expect(items.count == 5 && items.allSatisfy { $0.attempts == 0 })
        #expect(items[0].failure == "the server responded with status 503")
        #expect(lab.server.requests.value.count == 1)
        await sending.shutdown()
    }

    @Test func `without a key, a POST whose response is lost is uncertain, and is not resent`() async throws {
        let lab = try OutboxLab { _ in [.reset] }
        let outbox = try await lab.open()
        try await lab.lane(outbox).post("a", .text("x"), options: .init(key: .none))
        let outcome = try #require(await outbox.next(1).first)
        #expect(outcome.end == .uncertain)
        #expect(lab.server.requests.value.count == 1)
    }

    @Test func `a POST whose response is lost is not resent after the lifetime of its key`() async throws {
        let clock = LabClock()
        let lab = try OutboxLab { _ in
            clock.advance(by: .seconds(25 * 3_600))
            return [.reset]
        }
        let outbox = try await lab.open(clock)
        try await lab.lane(outbox).post("a", .text("x"))
        #expect(try await outbox.next(1).map(\.end) == [.uncertain])
        #expect(lab.server.requests.value.count == 1)
    }

    @Test func `an item of a sender that was killed is uncertain without a key, and resent with one`() async throws {
        let lab = try OutboxLab()
        let adding = try await lab.open(OutboxLab.addsOnly)
        let plain = try await lab.lane(adding).post("a", .text("x"), options: .init(key: .none))
        let keyed = try await lab.lane(adding).post("b", .text("x"))
        for id in [plain, keyed] {
            try await adding.storage.store.write {
                let sending = "state = 1, first_sent = 0, sent_check = ~0"
                try $0.run("UPDATE item SET \(sending) WHERE id = ?", .integer(id.rawValue))
            }
        }
        let outcomes = try await lab.open().next(2)
        #expect(Set(outcomes.map { "\($0.id) \($0.end)" }) == ["\(plain) uncertain", "\(keyed) delivered"])
        #expect(lab.server.requests.value.map(\.path) == ["/v1/b"])
    }

    @Test func `a full outbox refuses items, and drops the oldest of bulk lanes`() async throws {
        let lab = try OutboxLab()
        let outbox = try await lab.open(.init(maximumItems: 10, minimumFreeSpace: 0, sends: false))
        let normal = outbox.lane("normal", to: lab.server.url)
        for _ in 0..<9 { try await normal.post("a") }
        let error = await #expect(throws: OutboxError.self) { try await normal.post("a") }
        #expect(error?.code == .full)
        let other = try OutboxLab()
        let second = try await other.open(.init(maximumItems: 10, minimumFreeSpace: 0, sends: false))
        let bulk = second.lane("bulk", to: lab.server.url, .init(importance: .bulk))
        let first = try await bulk.post("a")
        for _ in 0..<8 { try await bulk.post("a") }
        let outcome = try #require(await second.next(1).first)
        #expect(outcome.id == first && outcome.end == .dropped)
        #expect(try await second.statistics().ended == [.dropped: 1])
    }

    @Test func `files are moved, copied or referenced, and large bodies spooled`() async throws {
        let lab = try OutboxLab()
        let adding = try await lab.open(OutboxLab.addsOnly)
        let content = [UInt8](repeating: 7, count: 300_000)
        let lane = lab.lane(adding)
        let files = try ["moved", "copied", "kept"].map { try lab.folder.write($0, content) }
        try await lane.put("moved", .file(files[0], .move))
        try await lane.put("copied", .file(files[1], .copy))
        try await lane.put("kept", .file(files[2], .reference))
        try await lane.put("bytes", .bytes(content))
        let chunks = AsyncStream { continuation in
            for _ in 0..<3 { continuation.yield([UInt8](repeating: 7, count: 100_000)) }
            continuation.finish()
        }
        try await lane.put("sequence", .sequence(chunks))
        #expect(files.map { FileManager.default.fileExists(atPath: $0) } == [false, true, true])
        try lab.folder.write("copied", "changed")
        await adding.shutdown()
        let outbox = try await lab.open()
        #expect(try await outbox.next(5).allSatisfy { $0.end == .delivered })
        #expect(lab.server.requests.value.allSatisfy { $0.body == content })
        // Files are removed after the commit that ends their items.
        await outbox.shutdown()
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(lab.path)/spool") == [])
    }

    @Test func `a referenced file that has changed is refused`() async throws {
        let lab = try OutboxLab()
        let adding = try await lab.open(OutboxLab.addsOnly)
        let file = try lab.folder.write("kept", "before")
        try await lab.lane(adding).put("kept", .file(file, .reference))
        try lab.folder.write("kept", "after!")
        await adding.shutdown()
        let outcome = try #require(await lab.open().next(1).first)
        #expect(outcome.end == .refused && outcome.reason.contains("have changed"))
        #expect(lab.server.requests.value.isEmpty)
    }

    @Test func `the items of a batch are sent as lines of JSON, and a faulty one alone is refused`() async throws {
        let lab = try OutboxLab { request in
            request.body.contains(UInt8(ascii: "!"))
                ? [.response("bad", status: "400 Bad Request")] : [.response("done")]
        }
        let adding = try await lab.open(OutboxLab.addsOnly)
        let options = LaneOptions(order: .ordered(isStrict: true), batch: .ndjson(items: 8, linger: .zero))
        let lane = lab.lane(adding, options)
        for number in 0..<8 { try await lane.post("batch", .text(number == 5 ? "{\n\"!\":5}" : "{\"n\":\(number)}")) }
        await adding.shutdown()
        let outcomes = try await lab.open().next(8)
        #expect(outcomes.filter { $0.end == .refused }.count == 1)
        #expect(outcomes.filter { $0.end == .delivered }.count == 7)
        let first = try #require(lab.server.requests.value.first)
        #expect(first["Content-Type"] == "application/x-ndjson")
        #expect(String(decoding: first.body, as: UTF8.self).split(separator: "\n").count == 8)
        #expect(
            Set(lab.server.requests.value.compactMap { $0["Idempotency-Key"] }).count == lab.server.requests.value.count
        )
    }

    @Test func `a batch that a captive portal rejects keeps its key`() async throws {
        let isReached = Observed(false)
        let lab = try OutboxLab { _ in
            isReached.value
                ? [.response(headers: ["X-Server: yes"])] : [.response("sign in", status: "400 Bad Request")]
        }
        let clock = LabClock()
        let adding = try await lab.open(clock, sends: false)
        let options = LaneOptions(batch: .ndjson(items: 4, linger: .zero), confirmation: .field("X-Server"))
        let lane = lab.lane(adding, options)
        for number in 0..<4 { try await lane.post("a", .text("\(number)")) }
        let outbox = try await lab.open(clock)
        while try await outbox.storage.lanes().first?.pause == nil { try await Task.sleep(for: .milliseconds(2)) }
        isReached.update { $0 = true }
        clock.advance(by: .seconds(3_700))
        try await outbox.wake()
        #expect(try await outbox.next(4).allSatisfy { $0.end == .delivered })
        let requests = lab.server.requests.value
        #expect(requests.count == 2 && Set(requests.map { $0["Idempotency-Key"] }).count == 1)
        await outbox.shutdown()
        await adding.shutdown()
    }

    @Test(arguments: [false, true])
    func `a rejected batch that may have been processed is divided in repeatable lanes only`(
        isRepeatable: Bool
    ) async throws {
        let lab = try OutboxLab { request in
            request.body.count > 2 ? [.response("bad", status: "400 Bad Request")] : [.response("done")]
        }
        let adding = try await lab.open(OutboxLab.addsOnly)
        let lane = lab.lane(adding, .init(batch: .ndjson(items: 2, linger: .zero), isRepeatable: isRepeatable))
        for number in 0..<2 { try await lane.post("a", .text("\(number)")) }
        try await adding.storage.store.write {
            try $0.run("INSERT INTO batch (id, lane, key) SELECT 7, id, 'b' FROM lane")
            try $0.run("UPDATE item SET batch = 7, first_sent = 0, sent_check = ~0")
        }
        await adding.shutdown()
        let outcomes = try await lab.open().next(2)
        #expect(outcomes.allSatisfy { $0.end == (isRepeatable ? .delivered : .refused) })
        #expect(lab.server.requests.value.count == (isRepeatable ? 3 : 1))
    }

    @Test func `items that can't be lines of a batch are sent singly, under their own keys`() async throws {
        let lab = try OutboxLab()
        let adding = try await lab.open(OutboxLab.addsOnly)
        let plain = lab.lane(adding)
        let large = [UInt8](repeating: 7, count: 100_000)
        try await plain.post("a", options: .init(key: .custom("empty")))
        try await plain.post("a", .bytes(large), options: .init(key: .custom("large")))
        let sent = try await plain.post("a", .text("1"), options: .init(key: .custom("sent")))
        try await adding.storage.store.write {
            try $0.run("UPDATE item SET first_sent = 0, sent_check = ~0 WHERE id = ?", .integer(sent.rawValue))
        }
        let batching = lab.lane(adding, .init(batch: .ndjson(items: 8, linger: .zero)))
        for number in 2...3 { try await batching.post("a", .text("\(number)")) }
        await adding.shutdown()
        #expect(try await lab.open().next(5).allSatisfy { $0.end == .delivered })
        let requests = lab.server.requests.value
        #expect(requests.count == 4)
        let bodies = Dictionary(requests.map { ($0["Idempotency-Key"] ?? "", $0.body) }, uniquingKeysWith: { $1 })
        #expect(bodies[#""empty""#] == [] && bodies[#""large""#] == large && bodies[#""sent""#] == Array("1".utf8))
        #expect(Set(bodies.values).contains(Array("2\n3\n".utf8)))
    }

    @Test func `a stored batch is sent with its key, also after the lane's rule for batches was removed`() async throws
    {
        let lab = try OutboxLab()
        let adding = try await lab.open(OutboxLab.addsOnly)
        let lane = lab.lane(adding, .init(order: .ordered(isStrict: true)))
        for number in 1...3 { try await lane.post("a", .text("\(number)")) }
        try await adding.storage.store.write {
            try $0.run("INSERT INTO batch (id, lane, key) SELECT 7, id, 'b' FROM lane")
            try $0.run("UPDATE item SET batch = 7 WHERE id < 3")
        }
        await adding.shutdown()
        #expect(try await lab.open().next(3).allSatisfy { $0.end == .delivered })
        let requests = lab.server.requests.value
        #expect(requests.map(\.body) == ["1\n2\n", "3"].map { Array($0.utf8) })
        #expect(requests.first?["Idempotency-Key"] == #""b""#)
    }

    @Test func `a second outbox sends as soon as the first is closed, and not before`() async throws {
        let lab = try OutboxLab()
        let (first, second) = (try await lab.open(), try await lab.open())
        try await lab.lane(first).post("a", .text("x"))
        _ = try await first.next(1)
        await first.shutdown()
        try await lab.lane(second).post("b", .text("x"))
        #expect(try await second.next(1).first?.end == .delivered)
        #expect(lab.server.requests.value.map(\.path) == ["/v1/a", "/v1/b"])
    }

    @Test func `a held item stays, and a released one is sent`() async throws {
        let lab = try OutboxLab()
        let adding = try await lab.open(OutboxLab.addsOnly)
        let held = try await lab.lane(adding).post("held", .text("x"))
        let free = try await lab.lane(adding).post("free", .text("x"))
        try await adding.hold(held)
        let sending = try await lab.open()
        #expect(try await sending.next(1).map(\.id) == [free])
        #expect(try await sending.items().map(\.state) == [.held])
        try await adding.release(held)
        #expect(try await sending.next(1).map(\.id) == [held])
    }

    @Test func `a cancelled item is not sent`() async throws {
        let lab = try OutboxLab()
        let outbox = try await lab.open(OutboxLab.addsOnly)
        let id = try await lab.lane(outbox).post("a", .text("x"))
        try await outbox.cancel(id)
        #expect(try await outbox.next(1).map(\.end) == [.cancelled])
        let error = await #expect(throws: OutboxError.self) { try await outbox.cancel(id) }
        #expect(error?.code == .notFound)
    }

    @Test func `an item of a batch that may have been processed can't be cancelled, dropped or held`() async throws {
        let lab = try OutboxLab()
        let outbox = try await lab.open(OutboxLab.addsOnly)
        let id = try await lab.lane(outbox).post("a", .text("x"))
        try await outbox.storage.store.write {
            try $0.run("INSERT INTO batch (id, lane, key) SELECT 7, id, 'b' FROM lane")
            try $0.run("UPDATE item SET batch = 7, first_sent = 0, sent_check = ~0")
        }
        for command in [BoxStorage.Command.cancel, .drop, .hold] {
            let error = await #expect(throws: OutboxError.self) {
                try await outbox.storage.perform(command, on: id.rawValue)
            }
            #expect(error?.code == .isSending)
        }
        #expect(try await outbox.items().map(\.state) == [.waiting])
        await outbox.shutdown()
    }

    @Test func `an item that is cancelled leaves its unsent batch, which gets a new key`() async throws {
        let lab = try OutboxLab()
        let adding = try await lab.open(OutboxLab.addsOnly)
        let lane = lab.lane(adding, .init(batch: .ndjson(items: 3, linger: .zero)))
        let id = try await lane.post("a", .text("1"))
        for number in 2...3 { try await lane.post("a", .text("\(number)")) }
        try await adding.storage.store.write {
            try $0.run("INSERT INTO batch (id, lane, key) SELECT 7, id, 'b' FROM lane")
            try $0.run("UPDATE item SET batch = 7")
        }
        try await adding.cancel(id)
        await adding.shutdown()
        #expect(try await lab.open().next(3).map(\.end) == [.cancelled, .delivered, .delivered])
        let request = try #require(lab.server.requests.value.first)
        #expect(lab.server.requests.value.count == 1 && request.body == Array("2\n3\n".utf8))
        #expect(request["Idempotency-Key"] != #""b""#)
    }

    @Test(arguments: [
        ("ftp://a", "x", "begins with https:// or http://"), ("http://192.0.2.7", "x", "captive portal"),
        ("https://a", "/x", "no slash at its beginning"), ("https://u:p@a", "x", "name a credential"),
        ("https://a", "ä", "percent-encoded"),
    ])
    func `an invalid request is refused, with what to do`(
        destination: String,
        reference: String,
        text: String
    ) async throws {
        let outbox = try await OutboxLab().open(OutboxLab.addsOnly)
        let error = await #expect(throws: OutboxError.self) {
            try await outbox.lane("a", to: destination).post(reference)
        }
        #expect(error?.code == .invalidRequest && error?.reason.contains(text) == true)
    }
}
