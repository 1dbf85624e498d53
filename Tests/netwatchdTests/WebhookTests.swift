import CommandLineLab
import CommandLineSupport
import EventCore
import EventJournal
import Glibc
import HTTPLab
import NetwatchCore
import NetworkLab
import ReachabilityCore
import Synchronization
import Testing
import ValidationCore

@testable import netwatchd

@Suite(.blocksItsThread, .timeLimit(.minutes(5))) struct WebhookTests {
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    private static let id = EventID(run: 7, sequence: 2)

    private func configuration(_ webhooks: String) throws -> WebhookConfiguration {
        let text = #"{"outbox":"/var/lib/netwatch/outbox","webhooks":[\#(webhooks)]}"#
        return try .init(parsing: Array(text.utf8)) { _ in Array((Self.secret + "\n").utf8) }
    }

    /// The line of a change from Wi-Fi to no path.
    private func line(_ status: String = "notReachable", previous: String = "wifi") -> [UInt8] {
        let path = #"{"interface":null,"carriers":[],"ipv4":null,"ipv6":null,"expensive":false,"constrained":false}"#
        let head = #"{"v":1,"seq":2,"time":"2026-11-23T02:00:00.000000Z","event":"change","status":"\#(status)","#
        let text = head + #""previous":"\#(previous)","path":\#(path),"reasons":["link.carrier.lost"]}"# + "\n"
        return Array(text.utf8)
    }

    private func message(_ webhook: String, _ line: [UInt8]) throws -> WebhookMessage? {
        let webhook = try configuration(webhook).webhooks[0]
        return WebhookMessage(for: webhook, about: Self.id, line, from: "//node/netwatch")
    }

    @Test func `the body is a CloudEvent with the event's object as its data`() throws {
        let message = try #require(try message(#"{"name":"ops","url":"https://hooks.example/n"}"#, line()))
        let event = try JSONParser.parse(message.body)
        #expect(event["specversion"]?.text == "1.0" && event["id"]?.text == Self.id.description)
        #expect(event["source"]?.text == "//node/netwatch" && event["type"]?.text == "netwatch.change")
        #expect(event["time"]?.text == "2026-11-23T02:00:00.000000Z" && event["subject"]?.text == "notReachable")
        #expect(event["datacontenttype"]?.text == "application/json")
        #expect(event["data"] == (try JSONParser.parse(String(decoding: line(), as: UTF8.self))))
        #expect(message.key == "netwatch-ops-\(Self.id)")
        #expect(message.fields == ["webhook-id: \(Self.id)", "webhook-timestamp: 1795399200"])
    }

    @Test func `a message that is built again is the same, signed with the event's time`() throws {
        let webhook = #"{"name":"ops","url":"https://hooks.example/n","secretFile":"/etc/netwatch/key"}"#
        let message = try #require(try message(webhook, line()))
        let signature = WebhookSignature.value(
            of: Array(message.body.utf8),
            id: Self.id.description,
            timestamp: 1_795_399_200,
            secret: try WebhookSignature.secret(in: Array(Self.secret.utf8))
        )
        let fields = ["webhook-id: \(Self.id)", "webhook-timestamp: 1795399200", "webhook-signature: \(signature)"]
        #expect(message.fields == fields)
    }

    @Test func `a template replaces the body, with values escaped for JSON`() throws {
        let webhook =
            #"{"name":"chat","url":"https://c.example","template":"{{\"text\":\"{status} {reasons} {time}\"}}"}"#
        let message = try #require(try message(webhook, line()))
        #expect(message.body == #"{"text":"notReachable link.carrier.lost 2026-11-23T02:00:00.000000Z"}"#)
    }

    @Test(arguments: ["application/json", "Application/JSON", "application/vnd.chat+Json"])
    func `values are escaped for JSON, however its media type is written`(type: String) throws {
        let template = #""template":"{{\"url\":\"{login}\"}}""#
        let webhook = #"{"name":"chat","url":"https://c.example","contentType":"\#(type)",\#(template)}"#
        let portal = ValidationSummary(
            verdict: .portal(.init(loginURL: #"http://h.example/","x":""#)),
            since: .init(seconds: 0, nanoseconds: 0)
        )
        let text = String(decoding: line(), as: UTF8.self)
        let validated = text.replacing("]}\n", with: #"],"validation":\#(portal.json)}"#)
        let message = try #require(try message(webhook, Array(validated.utf8)))
        #expect(message.body == #"{"url":"http://h.example/\",\"x\":\""}"#)
    }

    @Test func `only the states and events that a webhook wants are sent`() throws {
        let some = #"{"name":"a","url":"https://a.example","states":["notReachable","cellular"]}"#
        #expect(try message(some, line()) != nil)
        #expect(try message(some, line("wifi", previous: "cellular")) == nil)
        #expect(try message(some, line("notReachable", previous: "notReachable")) == nil)
        let all = #"{"name":"a","url":"https://a.example","events":"all"}"#
        #expect(try message(all, line("wifi", previous: "wifi")) != nil)
        #expect(try message(all, Array("{}\n".utf8)) == nil)
    }

    @Test func `a change of the verdict is sent to webhooks that want those, with its kind`() throws {
        let text = String(decoding: line("wifi", previous: "wifi"), as: UTF8.self)
        let verdict = Array(text.replacing(#""event":"change""#, with: #""event":"validation""#).utf8)
        let webhook = { (events: String) in #"{"name":"a","url":"https://a.example","events":"\#(events)"}"# }
        for (events, isSent) in [("state", false), ("validation", true), ("all", true)] {
            let message = try message(webhook(events), verdict)
            #expect(message?.body.contains(#""type":"netwatch.validation""#) == (isSent ? true : nil))
        }
        let portal = ValidationSummary(
            verdict: .portal(.init(loginURL: "http://h.example/\"")),
            since: .init(seconds: 0, nanoseconds: 0)
        )
        let member = String(decoding: verdict, as: UTF8.self).replacing(
            "]}\n",
            with: #"],"validation":\#(portal.json)}"#
        )
        let templated =
            #"{"name":"a","url":"https://a.example","events":"all","template":"{event} {validation} {login}"}"#
        let filled = try message(templated, Array(member.utf8))
        #expect(filled?.body == #"validation portal http://h.example/\""#)
        #expect(try message(webhook("validation"), line("wifi", previous: "wifi")) == nil)
        #expect(try message(webhook("validation"), line()) != nil)
    }

    @Test func `signatures are those of Standard Webhooks`() throws {
        // The example of the specification's libraries.
        let secret = try WebhookSignature.secret(in: Array(Self.secret.utf8))
        let signature = WebhookSignature.value(
            of: Array(#"{"test": 2432232314}"#.utf8),
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            timestamp: 1_614_265_330,
            secret: secret
        )
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
        let webhook = #"{"name":"ops","url":"https://hooks.example/n","secretFile":"/etc/netwatch/key"}"#
        #expect(try message(webhook, line())?.fields.last?.hasPrefix("webhook-signature: v1,") == true)
    }

    @Test(arguments: [
        "", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS",
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS!", "whsec_MfKQ9r8GKYqrTwjU=D8ILPZIo2LaLaSw", "whsec_MfKQ9r8GKYqrTwjU",
        "whsec_" + String(repeating: "MfKQ", count: 22),
    ])
    func `a file that has no secret is refused`(text: String) {
        #expect(throws: ConfigurationError.self) { try WebhookSignature.secret(in: Array(text.utf8)) }
    }

    /// Makes a program of lines of shell, in the place of `netwatch-outbox`; returns its path.
    private func program(_ lines: String, in folder: LabFolder) throws -> String {
        let script = try folder.write("script", "#!/bin/sh\n\(lines)\n")
        let command = folder.path + "/command"
        // By another process: a child of another test could hold a file that this one writes (ETXTBSY).
        #expect(try LabProcess.run("/bin/cp", [script, command]).code == 0)
        #expect(chmod(command, 0o755) == 0)
        return command
    }

    @Test func `the arguments of the command, which every user can read, contain neither URL nor body`() throws {
        let folder = try LabFolder()
        let command = try program(
            "printf '%s\\n' \"$@\" >\"${0%/*}/arguments\"\ncat >\"${0%/*}/input\"",
            in: folder
        )
        let url = "https://hooks.example/services/T0/B1/token"
        let webhook = try configuration(#"{"name":"ops","url":"\#(url)"}"#).webhooks[0]
        let message = try #require(
            WebhookMessage(for: webhook, about: Self.id, line(), from: "//node/netwatch")
        )
        try OutboxAddition(folder: "/box", path: command).add(message, for: webhook)
        let arguments = try String(decoding: Repository.bytes(of: folder.path + "/arguments"), as: UTF8.self)
        #expect(arguments.contains("--box\n/box\n") && !arguments.contains("hooks.example"))
        #expect(!arguments.contains("specversion"))
        let input = try String(decoding: Repository.bytes(of: folder.path + "/input"), as: UTF8.self)
        #expect(input == "\(url)\n\(message.body)")
    }

    /// Adds the message about an event to an outbox, and returns the list of what is in it.
    private func added(_ webhook: String, about id: EventID, in folder: LabFolder) throws -> String {
        let box = folder.path + "/box"
        let webhook = try configuration(webhook).webhooks[0]
        let message = try #require(WebhookMessage(for: webhook, about: id, line(), from: "//node/netwatch"))
        try OutboxAddition(folder: box, path: ToolBinary.path + "-outbox").add(message, for: webhook)
        return try LabProcess.run(ToolBinary.path, ["outbox", "list", "--box", box]).output
    }

    @Test func `messages are sent to the webhook's URL, also after it was given another host`() throws {
        let folder = try LabFolder()
        let old = try added(#"{"name":"ops","url":"https://a.example/n"}"#, about: Self.id, in: folder)
        #expect(old.hasPrefix("netwatch-ops to https://a.example: 1 item, "))
        let next = EventID(run: 7, sequence: 3)
        let new = try added(#"{"name":"ops","url":"https://b.example/n"}"#, about: next, in: folder)
        #expect(new.hasPrefix("netwatch-ops to https://b.example: 2 items, "))
    }

    @Test(arguments: ["http://127.0.0.1:9/n", "http://[::1]:9/n", "http://localhost:9/n", "http://127.example/n"])
    func `the outbox takes the plain http URLs that the configuration takes`(url: String) throws {
        let isTaken = (try? configuration(#"{"name":"a","url":"\#(url)"}"#)) != nil
        let folder = try LabFolder()
        let arguments = ["outbox", "add", "--box", folder.path + "/box", "--data", "x", url]
        let added = try LabProcess.run(ToolBinary.path, arguments)
        #expect((added.code == 0) == isTaken, "\(added)")
        withExtendedLifetime(folder) {}
    }

    @Test func `the error about a message that the outbox refuses names the webhook`() throws {
        let folder = try LabFolder()
        let command = try program("exit 64", in: folder)
        let webhook = try configuration(#"{"name":"ops","url":"https://a.example"}"#).webhooks[0]
        let message = try #require(WebhookMessage(for: webhook, about: Self.id, line(), from: "//node/netwatch"))
        let error = try #require(throws: ToolError.self) {
            try OutboxAddition(folder: "/box", path: command).add(message, for: webhook)
        }
        #expect(error.message == "the outbox '/box' does not take the messages of the webhook 'ops'; see above")
    }

    @Test func `plain http to another machine is taken if that is wanted`() throws {
        let folder = try LabFolder()
        let webhook = #"{"name":"ops","url":"http://10.0.0.5/n","trustHTTP":true}"#
        #expect(try added(webhook, about: Self.id, in: folder).hasPrefix("netwatch-ops to http://10.0.0.5: 1 item, "))
    }

    @Test func `a message that was added before its template changed counts as added`() throws {
        let folder = try LabFolder()
        let old = try added(#"{"name":"ops","url":"https://a.example"}"#, about: Self.id, in: folder)
        let webhook = #"{"name":"ops","url":"https://a.example","template":"{status}"}"#
        #expect(old.hasPrefix("netwatch-ops to https://a.example: 1 item, "))
        #expect(try added(webhook, about: Self.id, in: folder) == old)
    }

    @Test(arguments: [
        ("[]", "no object"), ("{", "line 1"), (#"{"outbox":"box","webhooks":[]}"#, "outbox: write the absolute path"),
        (#"{"outbox":"/b","webhooks":[]}"#, "webhooks: write a list"),
        (#"{"outbox":"/b","webhooks":[1]}"#, "webhooks[0]: it is no object"),
        (#"{"outbox":"/b","webhooks":[{"name":"a","url":"ftp://x"}]}"#, "webhooks[0].url: write a URL"),
        (#"{"outbox":"/b","webhooks":[{"name":"a","url":"https:///n"}]}"#, "webhooks[0].url: the host is missing"),
        (#"{"outbox":"/b","webhooks":[{"name":"a","url":"https://u@x"}]}"#, "webhooks[0].url: a user or a password"),
        (#"{"outbox":"/b","webhooks":[{"name":"a","url":"https://x//n"}]}"#, "webhooks[0].url: write a path"),
        (#"{"outbox":"/b","webhooks":[{"name":"a","url":"https://x/http://y"}]}"#, "webhooks[0].url: write a path"),
        (#"{"outbox":"/b","webhooks":[{"name":"a","url":"http://x/n"}]}"#, "webhooks[0].url: over plain http"),
        (#"{"outbox":"/b","webhooks":[{"name":"a","url":"http://localhost.x"}]}"#, "webhooks[0].url: over plain http"),
        (
            #"{"outbox":"/b","webhooks":[{"name":"a","url":"https://x","trustHTTP":1}]}"#,
            "webhooks[0].trustHTTP: write true or false"
        ),
        (#"{"outbox":"/b","webhooks":[{"name":"a b","url":"https://x"}]}"#, "webhooks[0].name: write up to 64"),
        (
            #"{"outbox":"/b","webhooks":[{"name":"a","url":"https://x","state":[]}]}"#,
            "webhooks[0].state: there is no such"
        ),
        (
            #"{"outbox":"/b","webhooks":[{"name":"a","url":"https://x","states":["up"]}]}"#,
            "webhooks[0].states: write a list of"
        ),
        (#"{"outbox":"/b","webhooks":[{"name":"a","url":"https://x","events":"some"}]}"#, "webhooks[0].events: write"),
        (
            #"{"outbox":"/b","webhooks":[{"name":"a","url":"https://x","template":"{x}"}]}"#,
            "webhooks[0].template: at character"
        ),
        (
            #"{"outbox":"/b","webhooks":[{"name":"a","url":"https://x","secretFile":"k"}]}"#,
            "webhooks[0].secretFile: write"
        ),
        (#"{"outbox":"/b","webhooks":[{"name":"a","url":"https://x"},{"name":"a","url":"https://y"}]}"#, "same name"),
    ])
    func `errors name the member and what to write`(text: String, words: String) {
        #expect { try WebhookConfiguration(parsing: Array(text.utf8)) { _ in [] } } throws: { "\($0)".contains(words) }
    }

    @Test(arguments: [
        "https://x", "https://x:8443/n?a=//b", "https://x/@room/n", "http://127.0.0.1?http://y#//",
        "http://[::1]:8080/n", "http://localhost", "http://localhost:8080/n",
    ])
    func `a URL that the outbox takes is accepted`(url: String) throws {
        #expect(try configuration(#"{"name":"a","url":"\#(url)"}"#).webhooks[0].url == url)
    }

    /// A message that was added, or is to fail.
    private final class Box: Sendable {
        let added = LabInbox<String>()
        let attempts = LabInbox<String>()
    }

    /// The keys of the messages of a webhook that were added, in order.
    private func keys(_ box: Box, _ webhook: String) -> [String] {
        box.added.all.filter { $0.hasPrefix("netwatch-\(webhook)-") }
    }

    /// The keys of the messages of a webhook about events of several runs, in order.
    private func keys(_ webhook: String, runs: ClosedRange<UInt64>, _ sequences: ClosedRange<UInt64>) -> [String] {
        runs.flatMap { run in sequences.map { "netwatch-\(webhook)-\(EventID(run: run, sequence: $0))" } }
    }

    @Test func `messages are added in order, each once, over restarts and failures`() throws {
        let folder = try LabFolder()
        let all = #"{"name":"a","url":"https://a.example"},{"name":"b","url":"https://b.example","states":["wifi"]}"#
        let webhooks = try configuration(all)
        let file = WebhookPositions(path: folder.path + "/webhooks.last")
        let box = Box()
        for run in UInt64(1)...3 {
            let journal = EventJournal(JournalOptions(folder: folder.path + "/journal", limits: []).configuration(run))
            let worker = try WebhookWorker(webhooks, journal, run: run, file: file) {
                (message, _) throws(ToolError) in
                box.attempts.put(message.key)
                // In the second run, the outbox is full from the second event on.
                if run == 2, message.key.hasSuffix(".2") { throw .init("full", exit: .outputFailure) }
                box.added.put(message.key)
            }
            for sequence in UInt64(1)...2 {
                let (status, previous) = sequence == 1 ? ("notReachable", "wifi") : ("wifi", "notReachable")
                let change = ReachabilityChange(
                    event: .change,
                    status: sequence == 1 ? .notReachable : .wifi,
                    previous: nil,
                    path: .init(status: .unknown),
                    reasons: [],
                    sequence: sequence
                )
                let line = line(status, previous: previous)
                journal.append(.init(sequence: sequence, change: change, line: line, moment: .now, totals: .init()))
            }
            try worker.start()
            // The third run adds what the second could not.
            let expected = run == 2 ? 4 : Int(run) * 3
            worker.wake()
            try box.added.wait(for: "\(expected) messages") { $0.count >= expected }
            if run == 2 { try box.attempts.wait(for: "the failure") { $0.count >= 5 } }
            worker.stop()
            journal.close()
        }
        #expect(keys(box, "a") == keys("a", runs: 1...3, 1...2))
        #expect(keys(box, "b") == keys("b", runs: 1...3, 2...2))
    }

    /// Opens a journal that keeps events for ten seconds, at a second of the boot.
    private func shortJournal(_ folder: LabFolder, run: UInt64, at second: Int64) -> EventJournal {
        var configuration = JournalOptions(folder: folder.path + "/journal", limits: []).configuration(run)
        configuration.limits.age = .seconds(10)
        configuration.beginning = .init(sinceBoot: second * 1_000_000_000, since1970: second * 1_000_000_000)
        return EventJournal(configuration)
    }

    private func append(_ sequence: UInt64, at second: Int64, to journal: EventJournal) {
        let change = ReachabilityChange(
            event: .change,
            status: .notReachable,
            previous: .wifi,
            path: .init(status: .notReachable),
            reasons: [],
            sequence: sequence
        )
        let moment = EventMetrics.Moment(sinceBoot: second * 1_000_000_000, since1970: second * 1_000_000_000)
        journal.append(.init(sequence: sequence, change: change, line: line(), moment: moment, totals: .init()))
    }

    /// Creates a worker that adds all messages to a box, and puts its reports into an inbox.
    private func makeWorker(
        _ webhooks: WebhookConfiguration,
        _ store: any EventStore,
        run: UInt64,
        file: WebhookPositions,
        _ box: Box,
        _ reports: LabInbox<String>
    ) throws -> WebhookWorker {
        try WebhookWorker(
            webhooks,
            store,
            run: run,
            file: file,
            add: { message, _ in box.added.put(message.key) },
            report: { reports.put($0.message) }
        )
    }

    @Test(arguments: [UInt64(1), 2])
    func `after events that the journal has removed, the oldest stored one follows, and it is reported once`(
        run: UInt64
    ) throws {
        let folder = try LabFolder()
        let earlier = shortJournal(folder, run: 1, at: 0)
        for (index, second) in [Int64(1), 2, 50].enumerated() { append(UInt64(index) + 1, at: second, to: earlier) }
        earlier.close()
        let journal = shortJournal(folder, run: 2, at: 55)
        append(1, at: 55, to: journal)
        let file = WebhookPositions(path: folder.path + "/webhooks.last")
        try file.write(["a": .init(run: 1, sequence: 1)])
        let webhooks = try configuration(#"{"name":"a","url":"https://a.example"}"#)
        let (box, reports) = (Box(), LabInbox<String>())
        let worker = try makeWorker(webhooks, journal, run: run, file: file, box, reports)
        try worker.start()
        let expected = [EventID(run: 1, sequence: 3), EventID(run: 2, sequence: 1)]
        try box.added.wait(for: "the stored events") { $0.count >= expected.count }
        worker.stop()
        journal.close()
        #expect(box.added.all == expected.map { "netwatch-a-\($0)" })
        #expect(file.read(for: webhooks.webhooks) == ["a": expected[1]])
        #expect(reports.all.count == 1)
        #expect(reports.all.first?.contains(" after \(EventID(run: 1, sequence: 1)), ") == true)
    }

    @Test func `events that a webhook has not sent are reported once it is not configured, and kept for a new name`()
        throws
    {
        let folder = try LabFolder()
        let earlier = shortJournal(folder, run: 1, at: 1)
        for sequence in UInt64(1)...3 { append(sequence, at: 1, to: earlier) }
        earlier.close()
        let file = WebhookPositions(path: folder.path + "/webhooks.last")
        let last = EventID(run: 1, sequence: 1)
        // One of the two has sent all.
        try file.write(["old": last, "removed": .init(run: 1, sequence: 3)])
        let webhooks = try configuration(#"{"name":"new","url":"https://a.example"}"#)
        let (box, reports) = (Box(), LabInbox<String>())
        for run in UInt64(2)...3 {
            let journal = shortJournal(folder, run: run, at: Int64(run))
            append(1, at: Int64(run), to: journal)
            let worker = try makeWorker(webhooks, journal, run: run, file: file, box, reports)
            try worker.start()
            let count = run == 2 ? 1 : 5
            try box.added.wait(for: "\(count) messages") { $0.count >= count }
            worker.stop()
            journal.close()
            #expect(file.readOthers(than: webhooks.webhooks) == [:])
            let what = "the webhook 'old' is not configured any more, and has not sent 2 events after \(last)"
            let fix = "stop the service and append the line '\(last) NAME' to '\(file.path)'"
            #expect(reports.all == ["\(what); if it has another name now, \(fix)"])
            let lines = try String(decoding: Repository.bytes(of: file.path), as: UTF8.self)
            try folder.write("webhooks.last", lines + "\(last) new\n")
        }
        let expected: [(run: UInt64, sequence: UInt64)] = [(2, 1), (1, 2), (1, 3), (2, 1), (3, 1)]
        #expect(box.added.all == expected.map { "netwatch-new-\(EventID(run: $0.run, sequence: $0.sequence))" })
    }

    @Test func `events of a run in which no message could be added are added after a restart`() throws {
        let folder = try LabFolder()
        let webhooks = try configuration(#"{"name":"a","url":"https://a.example"}"#)
        let file = WebhookPositions(path: folder.path + "/webhooks.last")
        let box = Box()
        for run in UInt64(1)...2 {
            let journal = shortJournal(folder, run: run, at: Int64(run))
            append(1, at: Int64(run), to: journal)
            let worker = try WebhookWorker(
                webhooks,
                journal,
                run: run,
                file: file,
                add: { (message, _) throws(ToolError) in
                    box.attempts.put(message.key)
                    guard run > 1 else { throw .init("full", exit: .outputFailure) }
                    box.added.put(message.key)
                },
                report: { _ in }
            )
            try worker.start()
            try box.attempts.wait(for: "an attempt") { !$0.isEmpty }
            if run > 1 { try box.added.wait(for: "both messages") { $0.count >= 2 } }
            worker.stop()
            journal.close()
        }
        #expect(box.added.all == (UInt64(1)...2).map { "netwatch-a-\(EventID(run: $0, sequence: 1))" })
    }

    @Test func `a webhook whose messages are refused holds back no other, and has them after a restart`() throws {
        let folder = try LabFolder()
        let two = #"{"name":"a","url":"https://a.example"},{"name":"b","url":"https://b.example"}"#
        let (webhooks, file) = (try configuration(two), WebhookPositions(path: folder.path + "/webhooks.last"))
        let (box, reports) = (Box(), LabInbox<String>())
        for run in UInt64(1)...2 {
            let journal = shortJournal(folder, run: run, at: Int64(run))
            for sequence in UInt64(1)...2 { append(sequence, at: Int64(run), to: journal) }
            let worker = try WebhookWorker(
                webhooks,
                journal,
                run: run,
                file: file,
                add: { (message, webhook) throws(ToolError) in
                    guard run > 1 || webhook.name == "b" else { throw .init("refused", exit: .outputFailure) }
                    box.added.put(message.key)
                },
                report: { reports.put($0.message) }
            )
            try worker.start()
            let expected = run == 1 ? 2 : 8
            try box.added.wait(for: "\(expected) messages") { $0.count >= expected }
            worker.stop()
            journal.close()
        }
        for name in ["a", "b"] { #expect(keys(box, name) == keys(name, runs: 1...2, 1...2)) }
        #expect(reports.all == ["refused"])
    }

    @Test func `a failure that webhooks have in common is reported once`() throws {
        let folder = try LabFolder()
        let two = #"{"name":"a","url":"https://a.example"},{"name":"b","url":"https://b.example"}"#
        let (box, reports) = (Box(), LabInbox<String>())
        let journal = shortJournal(folder, run: 1, at: 1)
        append(1, at: 1, to: journal)
        let worker = try WebhookWorker(
            try configuration(two),
            journal,
            run: 1,
            file: .init(path: folder.path + "/webhooks.last"),
            add: { (message, _) throws(ToolError) in
                box.attempts.put(message.key)
                throw .init("not installed", exit: .notExecutable)
            },
            report: { reports.put($0.message) }
        )
        try worker.start()
        try box.attempts.wait(for: "both webhooks") { $0.count >= 2 }
        worker.wake()
        try box.attempts.wait(for: "both webhooks again") { $0.count >= 4 }
        worker.stop()
        journal.close()
        #expect(reports.all == ["not installed"])
    }

    @Test func `the file of an earlier version has the position of every webhook`() throws {
        let folder = try LabFolder()
        let two = #"{"name":"a","url":"https://a.example"},{"name":"b","url":"https://b.example"}"#
        let webhooks = try configuration(two).webhooks
        let file = WebhookPositions(path: try folder.write("webhooks.last", "\(Self.id)"))
        #expect(file.read(for: webhooks) == ["a": Self.id, "b": Self.id])
        let next = EventID(run: 7, sequence: 3)
        try file.write(["a": next, "b": Self.id])
        #expect(file.read(for: webhooks) == ["a": next, "b": Self.id])
        #expect(file.read(for: [webhooks[1]]) == ["b": Self.id])
    }

    @Test func `after a power failure at any moment, each webhook has one of its positions`() throws {
        let (uplinks, folder) = (try LabUplinks(), try LabFolder())
        let library = folder.path + "/disk-recorder.so"
        try DiskRecording.compileRecorder(to: library)
        let (root, log) = (folder.path + "/disk", try folder.write("log", ""))
        #expect(mkdir(root, 0o700) == 0)
        let webhook = #"{"name":"ops","url":"https://hooks.example/n"}"#
        let json = #"{"outbox":"\#(folder.path)/box","webhooks":[\#(webhook)]}"#
        let webhooks = try folder.write("webhooks.json", json)
        let journal = root + "/journal"
        let service = try ToolProcess(
            ["serve", "--socket", folder.path + "/events.sock", "--journal", journal, "--webhooks", webhooks],
            in: uplinks.home,
            environment: DiskRecording.environment(library, root: root, log: log)
        )
        let file = WebhookPositions(path: journal + "/webhooks.last")
        try waitForPosition(1, of: webhook, in: file)
        try uplinks.loseWiFi()
        try waitForPosition(2, of: webhook, in: file)
        service.send(SIGTERM)
        #expect(try service.exitCode() == 0)
        let recording = try DiskRecording(of: root, from: log)
        let records = recording.records
        let isWrite = { (record: DiskRecording.Record) in record.kind == "W" && record.path == file.path + ".new" }
        let written = records.filter(isWrite).map(\.data)
        #expect(written.count >= 3)
        try recording.forEachFailure(300, seed: 1) { files, _ in
            guard let contents = files["journal/webhooks.last"] else { return }
            #expect(written.contains(contents))
        }
        // The first position is there after every later failure.
        let renamed = try #require(records.firstIndex { $0.kind == "R" && $0.data == Array(file.path.utf8) })
        let next = try #require(records[renamed...].firstIndex(where: isWrite))
        #expect(records[renamed..<next].contains { $0.kind == "S" && $0.path == journal })
    }

    /// Waits until the position of a webhook is an event with this number, or a later one.
    private func waitForPosition(_ sequence: UInt64, of webhook: String, in file: WebhookPositions) throws {
        let webhooks = try configuration(webhook).webhooks
        let deadline = ContinuousClock.now + .seconds(60)
        while file.read(for: webhooks)[webhooks[0].name].map({ $0.sequence < sequence }) ?? true {
            guard ContinuousClock.now < deadline else { throw LabError("store a position", errno: ETIMEDOUT) }
            Polling.pause()
        }
    }

    @Test func `events of an earlier run are added once a journal that could not be read can be read`() throws {
        let folder = try LabFolder()
        let file = WebhookPositions(path: folder.path + "/webhooks.last")
        try file.write(["a": .init(run: 1, sequence: 1)])
        let webhooks = try configuration(#"{"name":"a","url":"https://a.example"}"#)
        let (box, reports) = (Box(), LabInbox<String>())
        let worker = try makeWorker(webhooks, RecoveringStore(line: line()), run: 2, file: file, box, reports)
        try worker.start()
        try reports.wait(for: "the failure") { !$0.isEmpty }
        worker.wake()
        let expected = [EventID(run: 1, sequence: 2), EventID(run: 2, sequence: 1)]
        try box.added.wait(for: "the stored events") { $0.count >= expected.count }
        worker.stop()
        #expect(box.added.all == expected.map { "netwatch-a-\($0)" })
        #expect(file.read(for: webhooks.webhooks) == ["a": expected[1]])
    }

    @Test func `the end of the service does not wait for an outbox that does not respond`() throws {
        let folder = try LabFolder()
        let command = try program(": >\"${0%/*}/started\"\nexec sleep 1000", in: folder)
        let journal = shortJournal(folder, run: 1, at: 1)
        append(1, at: 1, to: journal)
        let file = WebhookPositions(path: folder.path + "/webhooks.last")
        let webhooks = try configuration(#"{"name":"a","url":"https://a.example"}"#)
        let (addition, reports) = (OutboxAddition(folder: "/box", path: command), LabInbox<String>())
        let worker = try WebhookWorker(
            webhooks,
            journal,
            run: 1,
            file: file,
            gracePeriod: .zero,
            add: { (message, webhook) throws(ToolError) in try addition.add(message, for: webhook) },
            cancel: { addition.cancel() },
            report: { reports.put($0.message) }
        )
        try worker.start()
        let deadline = ContinuousClock.now + .seconds(120)
        while access(folder.path + "/started", F_OK) != 0, ContinuousClock.now < deadline { Polling.pause() }
        #expect(access(folder.path + "/started", F_OK) == 0)
        worker.stop()
        journal.close()
        // The next run adds the message.
        #expect(file.read(for: webhooks.webhooks) == ["a": EventID(run: 1, sequence: 0)])
        #expect(reports.all == [])
    }

    @Test func `the outbox has the requests of the webhooks, in the order of the events`() throws {
        let uplinks = try LabUplinks()
        let folder = try LabFolder()
        let file = try folder.write(
            "webhooks.json",
            #"{"outbox":"\#(folder.path)/box","webhooks":[{"name":"ops","url":"https://hooks.example/n"}]}"#
        )
        let socket = folder.path + "/events.sock"
        let service = try ToolProcess(
            ["serve", "--socket", socket, "--journal", folder.path + "/journal", "--webhooks", file],
            in: uplinks.home
        )
        _ = try EventClient(path: socket)
        try uplinks.loseWiFi()
        var listed = ""
        let deadline = ContinuousClock.now + .seconds(60)
        while !listed.contains("hooks.example"), ContinuousClock.now < deadline {
            let list = try LabProcess.run(ToolBinary.path, ["outbox", "list", "--box", folder.path + "/box"])
            listed = list.output
        }
        #expect(listed.contains("netwatch-ops to https://hooks.example"))
        service.send(SIGTERM)
        #expect(try service.exitCode() == 0)
        #expect(try service.errors.rest() == "")
    }
}

/// A journal with two events of an earlier run and one of this, which cannot be read the first time.
private final class RecoveringStore: EventStore {
    let health = JournalHealth()
    private let line: [UInt8]
    private let hasFailed = Atomic(false)

    init(line: [UInt8]) { self.line = line }

    func restore(_ body: @escaping @Sendable (EventTotals?) -> Void) { body(nil) }

    func append(_ event: StoredEvent) {}

    func save(_ totals: EventTotals, at moment: EventMetrics.Moment) {}

    func page(after id: EventID, limit: Int, _ body: @escaping @Sendable (JournalPage<[UInt8]>) -> Void) {
        guard hasFailed.exchange(true, ordering: .relaxed) else {
            return body(.init([], failure: .unknown, isReadable: false))
        }
        let runs = [
            JournalRun(ordinal: 1, run: 1, last: 2, removed: 0), JournalRun(ordinal: 2, run: 2, last: nil, removed: 0),
        ]
        let events: [(Int64, UInt64)] = [(1, 1), (1, 2), (2, 1)]
        let page = JournalOrder(runs).page(after: id) { (ordinal, sequence) -> [JournalOrder.Stored<[UInt8]>] in
            let next = events.filter { $0 > (ordinal, sequence) }
            return next.map { JournalOrder.Stored(ordinal: $0.0, sequence: $0.1, event: line) }
        }
        body(page)
    }

    func start(since age: Duration, at now: EventMetrics.Moment, _ body: @escaping @Sendable (EventID?) -> Void) {
        body(nil)
    }

    func report(since age: Duration, at now: EventMetrics.Moment, _ body: @escaping @Sendable ([UInt8]?) -> Void) {
        body(nil)
    }
}
