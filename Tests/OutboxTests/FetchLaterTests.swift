import CommandLineLab
import Foundation
import HTTPLab
import NetworkLab
import Testing

/// `netwatch fetch --later`, and what an outbox then sends.
@Suite(.blocksItsThread, .timeLimit(.minutes(20))) struct FetchLaterTests {
    private let lab: OutboxLab

    init() throws { lab = try OutboxLab() }

    private func fetch(_ arguments: String...) throws -> LabProcess.Outcome {
        try LabProcess.run(ToolBinary.path + "-fetch", ["--later", "--box", lab.path] + arguments)
    }

    private func send() throws {
        let outcome = try LabProcess.run(ToolBinary.path + "-outbox", ["run", "--once", "--box", lab.path])
        #expect(outcome.code == 0, "\(outcome)")
    }

    @Test func `a request is stored with its method, fields, body, lane and key, and sent as fetch would send it`()
        throws
    {
        let added = try fetch(
            "--json",
            #"{"a":1}"#,
            "--lane",
            "l",
            "--key",
            "k-1",
            "-H",
            "X-A: 1",
            "-XPATCH",
            lab.server.url + "/a"
        )
        #expect(added.code == 0 && added.output == "1\n" && added.errors == "", "\(added)")
        #expect(lab.server.requests.value.isEmpty)
        try send()
        let request = try #require(lab.server.requests.value.first)
        #expect(request.method == "PATCH" && request.target == "/a" && request.body == Array(#"{"a":1}"#.utf8))
        #expect(request["Content-Type"] == "application/json" && request["Accept"] == "application/json")
        #expect(request["X-A"] == "1" && request["Idempotency-Key"] == #""k-1""#)
    }

    @Test func `parameters are written into the query or the body`() throws {
        #expect(try fetch("--param", "a[b]=c d", lab.server.url + "?x=1").code == 0)
        #expect(try fetch("-XPOST", "--param", "a[b]=c d", lab.server.url + "/p").code == 0)
        try send()
        let requests = lab.server.requests.value.sorted { $0.method < $1.method }
        #expect(requests.map(\.method) == ["GET", "POST"])
        #expect(requests.first?.target == "/?x=1&a%5Bb%5D=c%20d")
        #expect(requests.last.map { String(decoding: $0.body, as: UTF8.self) } == "a%5Bb%5D=c%20d")
        #expect(requests.last?["Content-Type"]?.hasPrefix("application/x-www-form-urlencoded") == true)
    }

    @Test func `a form and its files, and an upload, are on disk when the command ends`() throws {
        let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let file = try lab.folder.write("photo.png", bytes)
        let form = try fetch("-F", "user=Ann", "-F", "picture=@\(file)", lab.server.url + "/form")
        #expect(form.code == 0, "\(form)")
        #expect(try fetch("--upload", file, lab.server.url + "/in/").code == 0)
        try FileManager.default.removeItem(atPath: file)
        try send()
        let form0 = try #require(lab.server.requests.value.first { $0.path == "/form" })
        #expect(form0["Content-Type"]?.hasPrefix("multipart/form-data; boundary=") == true)
        #expect(form0.body.count > 200_000 && String(decoding: form0.body, as: UTF8.self).contains("Ann"))
        let upload = try #require(lab.server.requests.value.first { $0.path == "/in/photo.png" })
        #expect(upload.method == "PUT" && upload["Content-Type"] == "image/png" && upload.body == bytes)
    }

    @Test(arguments: [
        (["--output", "x"], "--output"), (["-u", "a:b"], "--user"), (["--retry", "1"], "--retry"),
        (["-L"], "--location"), (["-k"], "--insecure"), (["-I"], "--head"), (["--wait", "1s"], "--wait"),
        (["--fail"], "--fail"), (["--interface", "lo"], "--interface"), (["--cert", "x"], "--cert"),
        (["-b", "a=b"], "--cookie"), (["-c", "x"], "--cookie-jar"), (["-j"], "--junk-session-cookies"),
        (["--cache", "x"], "--cache"),
    ])
    func `options about the response or the connection are refused by name`(
        arguments: [String],
        name: String
    ) throws {
        let all = ["--later", "--box", lab.path] + arguments + [lab.server.url]
        let outcome = try LabProcess.run(ToolBinary.path + "-fetch", all)
        #expect(outcome.code == 64 && outcome.errors.contains("\(name) can't be combined with --later"), "\(outcome)")
        #expect(FileManager.default.fileExists(atPath: lab.path) == false)
    }

    @Test func `options of the outbox without --later are refused`() throws {
        let outcome = try LabProcess.run(ToolBinary.path + "-fetch", ["--lane", "l", lab.server.url])
        #expect(outcome.code == 64 && outcome.errors.contains("--lane is of no use without --later"), "\(outcome)")
    }

    @Test func `secrets are refused, and errors of the outbox are those of the command`() throws {
        let secret = try fetch("-H", "Authorization: Bearer x", lab.server.url)
        #expect(secret.code == 64 && secret.errors.contains("the field 'authorization' is a secret"), "\(secret)")
        let lifetime = try fetch("--expires", "soon", lab.server.url)
        #expect(lifetime.code == 64 && lifetime.errors.contains("--expires"), "\(lifetime)")
        #expect(try fetch("--json", "{", lab.server.url).code == 64)
        let portal = try fetch("http://192.0.2.7/")
        #expect(portal.code == 64 && portal.errors.contains("--trust-http"), "\(portal)")
    }
}
