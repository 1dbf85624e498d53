import Foundation
import HTTPLab
import NetworkLab
import Synchronization
import Testing

@testable import NetworkClient

/// Stores: the program's access, and the file that curl shares.
@Suite(.timeLimit(.minutes(5)))
struct CookieStoreTests {
    private let folder: LabFolder

    init() throws { folder = try LabFolder() }

    private func text(_ path: String) throws -> String { String(decoding: try FileBytes.read(path), as: UTF8.self) }

    private func kind(_ path: String) throws -> mode_t { try fileMode(path) & S_IFMT }

    @Test func `cookies are inserted, listed and removed`() throws {
        let store = CookieStore()
        try store.insert(.init(name: "a", value: "1", domain: "example.com", isHostOnly: false))
        #expect(try store.insert("b=2; Max-Age=60; Secure", from: "https://www.example.com/x/y"))
        #expect(try !store.insert("c=3; Domain=com", from: "https://www.example.com/"))
        #expect(try store.cookies(for: "https://www.example.com/x/z").map(\.name) == ["b", "a"])
        #expect(try store.cookies(for: "http://www.example.com/x/z").map(\.name) == ["a"])
        #expect(try store.cookies(for: "https://münchen.example.com/").map(\.name) == ["a"])
        #expect(throws: HTTPError.self) { try store.cookies(for: "/x") }
        store.removeSessionCookies()
        #expect(store.cookies.map(\.name) == ["b"])
        store.removeAll()
        #expect(store.cookies.isEmpty)
    }

    @Test(arguments: [
        (Cookie(name: "a", value: "b", domain: "co.uk", isHostOnly: false), "public suffix"),
        (Cookie(name: "a", value: "b", domain: ""), "domain"),
        (Cookie(name: "", value: "", domain: "example.com"), "4096"),
        (Cookie(name: "a", value: "b", domain: "example.com", path: "x"), "slash"),
        (Cookie(name: "a", value: "b\r\nEvil: c", domain: "example.com"), "control characters"),
    ])
    func `a cookie that no server could set is refused`(cookie: Cookie, words: String) throws {
        let store = CookieStore()
        let error = #expect(throws: HTTPError.self) { try store.insert(cookie) }
        #expect(error?.reason.contains(words) == true && store.isEmpty)
    }

    @Test func `cookies expire by the clock`() throws {
        let time = SharedTime()
        let store = CookieStore(accepts: .always) { time.value.load(ordering: .relaxed) }
        try store.insert("a=1; Max-Age=10", from: "http://example.com/")
        #expect(store.cookies.first?.expires == 1_010)
        time.value.store(1_010, ordering: .relaxed)
        #expect(store.cookies.isEmpty)
    }

    private final class SharedTime: Sendable { let value = Atomic<Int64>(1_000) }

    @Test func `a file is written for its owner only, and read again`() throws {
        let path = "\(folder.path)/cookies.txt"
        let store = try CookieStore(file: path)
        try store.insert("kept=1; Max-Age=1000", from: "https://example.com/")
        try store.insert("session=2", from: "https://example.com/")
        try store.save()
        #expect(try fileMode(path) & 0o777 == 0o600)
        #expect(try text(path).contains("example.com\tFALSE\t/\tFALSE\t"))
        let all = try CookieStore(file: path, keepsSessionCookies: true)
        try all.insert("session=2", from: "https://example.com/")
        try all.save()
        #expect(try CookieStore(file: path).cookies.map(\.name) == ["kept"])
        #expect(try CookieStore(file: path, keepsSessionCookies: true).cookies.map(\.name) == ["kept", "session"])
        // What a killed process has left is replaced.
        try folder.write("cookies.txt.new", "half")
        all.removeAll()
        try all.save()
        #expect(try !text(path).contains("example.com") && FileCall.status(path + ".new") == nil)
    }

    @Test func `of files written at the same time, one whole one is kept`() async throws {
        let path = "\(folder.path)/cookies.txt"
        let texts = (0..<8).map { [UInt8](repeating: UInt8(48 + $0), count: 20_000 + $0) }
        try await withThrowingTaskGroup { group in
            for text in texts {
                group.addTask {
                    for _ in 0..<50 {
                        try WholeFile.write(text, to: path)
                        let read = Array(FileManager.default.contents(atPath: path) ?? Data())
                        guard texts.contains(read) else { throw LabError("a file of \(read.count) bytes", errno: 0) }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["cookies.txt"])
    }

    @Test func `a change is written without the program's help`() async throws {
        let path = "\(folder.path)/cookies.txt"
        let store = try CookieStore(file: path)
        try store.insert("kept=1; Max-Age=1000", from: "https://example.com/")
        while try FileCall.status(path) == nil { try await Task.sleep(for: .milliseconds(20)) }
        #expect(try text(path).hasSuffix("\tkept\t1\n"))
    }

    @Test func `a link is followed, a device is written to, and a file without changes is left alone`() throws {
        let target = try folder.write("target", "example.com\tFALSE\t/\tFALSE\t9999999999\ta\t1\n")
        let link = "\(folder.path)/link"
        symlink(target, link)
        let store = try CookieStore(file: link)
        try store.save()
        #expect(try text(target).hasPrefix("example.com"))
        try store.insert("b=2; Max-Age=1000", from: "https://example.com/")
        try store.save()
        #expect(try text(target).hasPrefix("# Netscape") && kind(link) == S_IFLNK)
        let null = try CookieStore(file: "/dev/null")
        try null.insert("b=2; Max-Age=1000", from: "https://example.com/")
        try null.save()
        #expect(try kind("/dev/null") == S_IFCHR)
    }

    @Test func `a file that is none of cookies is refused, and one that can't be written is an error`() throws {
        let path = try folder.write("passwd", "root:x:0:0:root:/root:/bin/bash\n")
        let error = #expect(throws: HTTPError.self) { try CookieStore(file: path) }
        #expect(error?.reason.contains("line 1: it has 1 fields") == true)
        let store = try CookieStore(file: "\(folder.path)/missing/cookies")
        try store.insert("b=2; Max-Age=1000", from: "https://example.com/")
        for _ in 1...2 {
            let failure = #expect(throws: HTTPError.self) { try store.save() }
            #expect(failure?.code == .fileFailed && failure?.errno == ENOENT)
        }
    }

    @Test func `a file's cookie for a public suffix is left out`() throws {
        let lines = [".com", ".example.com", "github.io"].map { "\($0)\tTRUE\t/\tFALSE\t9999999999\ta\t1\n" }
        let path = try folder.write("cookies", lines.joined())
        #expect(try CookieStore(file: path).cookies.map(\.domain) == ["example.com"])
    }

    @Test func `curl reads the file and writes it back`() async throws {
        let server = try AnsweringServer { request in
            let fields = [
                "Set-Cookie: curl=1; Max-Age=1000; Path=/",
                "Set-Cookie: both=\(request.path.dropFirst()); Path=/; HttpOnly; Max-Age=10000",
            ]
            return [.response("", headers: fields + ["Connection: close"]), .close]
        }
        let path = "\(folder.path)/jar"
        let store = try CookieStore(file: path, keepsSessionCookies: true)
        let configuration = HTTPConfiguration(timeouts: .lasting, cookies: .store(store))
        try store.insert("session=2; Path=/", from: server.url)
        try store.insert("deep=3; Path=/a/b; Max-Age=10000", from: server.url)
        try store.insert("tls=4; Secure; Path=/", from: "https://127.0.0.1/")
        let session = try HTTPSession(baseURL: server.url, configuration: configuration)
        _ = try await session.get("netwatch").response()
        try store.save()
        let curl = ["-sS", "--noproxy", "*", "-b", path, "-c", path, "\(server.url)/a/b"]
        let outcome = try LabProcess.run("/usr/bin/curl", curl)
        #expect(outcome.code == 0, "\(outcome)")
        let sent = server.requests.value.last?["Cookie"]?.split(separator: "; ").map(String.init)
        // Unlike netwatch, curl sends cookies that require TLS to loopback addresses without.
        #expect(sent.map(Set.init) == ["deep=3", "session=2", "curl=1", "both=netwatch", "tls=4"])
        let read = try CookieStore(file: path, keepsSessionCookies: true)
        let names = Set(read.cookies.map { "\($0.name)=\($0.value)" })
        #expect(names == ["session=2", "deep=3", "tls=4", "curl=1", "both=a/b"])
        let both = try #require(read.cookies.first { $0.name == "both" })
        #expect(both.isHTTPOnly && both.isHostOnly && both.domain == "127.0.0.1" && both.expires != nil)
        #expect(read.cookies.first { $0.name == "tls" }?.isSecure == true)
    }
}
