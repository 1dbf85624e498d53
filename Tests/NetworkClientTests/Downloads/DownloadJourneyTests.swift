import HTTPLab
import NetworkClientCore
import NetworkLab
import Testing

@testable import NetworkClient

/// Downloads behind redirects, challenges and proxies.
@Suite(.timeLimit(.minutes(5)))
struct DownloadJourneyTests {
    private static let entity = DownloadLab.entity(300_000)
    private static let retry = RetryPolicy(maximumAttempts: 9, baseDelay: .milliseconds(1))

    /// A server that redirects `/` to `/file`, and truncates each body.
    private func leading(cut: Int?, status: String = "302 Found") throws -> ScriptedServer {
        let file = PartServer(Self.entity, cut: cut)
        let redirect = "HTTP/1.1 \(status)\r\nLocation: /file\r\nContent-Length: 4\r\n\r\ngone"
        let step = ServerStep.respond { request in
            request.target == "/" ? [.sendBytes(Array(redirect.utf8))] : file.steps(for: request)
        }
        return try ScriptedServer(always: [.forever([step])])
    }

    @Test(arguments: ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
    func `the target of a redirect is the file, not the redirect's body`(status: String) async throws {
        let (lab, server) = (try DownloadLab(), try leading(cut: nil, status: status))
        let file = try await DownloadLab.session(server).download("", to: lab.path).response().file
        #expect(file.size == 300_000 && !file.isResumed)
        #expect(lab.file == Self.entity)
        #expect(lab.names == ["file"])
        #expect(server.requests.map(\.target) == ["/", "/file"])
    }

    @Test func `a truncated download is continued behind a redirect`() async throws {
        let (lab, server) = (try DownloadLab(), try leading(cut: 110_000))
        let file = try await DownloadLab.session(server, retry: Self.retry).download("", to: lab.path).response().file
        #expect(file.resumedFrom == 220_000)
        #expect(lab.file == Self.entity)
        #expect(server.requests.filter { $0.target == "/file" }.map(\.rangeStart) == [nil, 110_000, 220_000])
    }

    @Test func `another session continues behind the redirect too`() async throws {
        let (lab, server) = (try DownloadLab(), try leading(cut: 200_000))
        await #expect(throws: HTTPError.self) {
            try await DownloadLab.session(server).download("", to: lab.path).response()
        }
        let file = try await DownloadLab.session(server).download("", to: lab.path).response().file
        #expect(file.resumedFrom == 200_000)
        #expect(lab.file == Self.entity)
        #expect(lab.names == ["file"])
    }

    @Test func `a redirect to another version starts over`() async throws {
        let other = PartServer(DownloadLab.entity(250_000, seed: 2), tag: #""v2""#)
        let lab = try DownloadLab()
        let second = try other.serve()
        let place = "Location: http://127.0.0.1:\(second.port)/file"
        let redirect = "HTTP/1.1 302 Found\r\n\(place)\r\nContent-Length: 0\r\n\r\n"
        let first = PartServer(Self.entity, cut: 100_000)
        let server = try ScriptedServer { number in
            let step = ServerStep.respond { number == 0 ? first.steps(for: $0) : [.sendBytes(Array(redirect.utf8))] }
            return [.forever([step])]
        }
        let file = try await DownloadLab.session(server, retry: Self.retry).download("", to: lab.path).response().file
        #expect(!file.isResumed && file.size == 250_000)
        #expect(lab.file == other.bytes)
    }

    @Test(.enabled(if: Apache.isInstalled, Comment(rawValue: Apache.advice)), arguments: ["basic", "digest"])
    func `downloads behind a challenge, from the beginning and continued`(scheme: String) async throws {
        let (lab, apache) = (try DownloadLab(), try Apache())
        let session = try HTTPSession(
            baseURL: apache.url,
            configuration: .init(
                timeouts: .lasting,
                authentication: .init(
                    credentials: [.init(.init(user: "mufasa", password: "circle"), for: apache.url)]
                )
            )
        )
        let expected = Array("from \(scheme)/file".utf8)
        #expect(try await session.download("\(scheme)/file", to: lab.path).response().file.size == expected.count)
        #expect(lab.file == expected)
        #expect(lab.names == ["file"])
    }

    @Test func `a truncated download is continued behind a challenge, in another session too`() async throws {
        let (lab, file) = (try DownloadLab(), PartServer(Self.entity, cut: 120_000))
        let challenge = "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 4\r\n\r\nwho?"
        let step = ServerStep.respond { request in
            request.field("Authorization") == nil ? [.sendBytes(Array(challenge.utf8))] : file.steps(for: request)
        }
        let server = try ScriptedServer(always: [.forever([step])])
        func session(_ retry: RetryPolicy) throws -> HTTPSession {
            let url = "http://127.0.0.1:\(server.port)/"
            let known = AuthenticationPolicy(credentials: [.init(.init(user: "a", password: "b"), for: url)])
            let configuration = HTTPConfiguration(timeouts: .lasting, retry: retry, authentication: known)
            return try HTTPSession(baseURL: url, configuration: configuration)
        }
        await #expect(throws: HTTPError.self) { try await session(.never).download("file", to: lab.path).response() }
        #expect(lab.bytes(lab.part)?.count == 120_000)
        #expect(try await session(Self.retry).download("file", to: lab.path).response().file.resumedFrom == 240_000)
        #expect(lab.file == Self.entity)
        let asked = server.requests.filter { $0.field("Authorization") != nil }
        #expect(asked.map(\.rangeStart) == [nil, 120_000, 240_000])
    }

    @Test(.enabled(if: Apache.isInstalled, Comment(rawValue: Apache.advice)))
    func `a refusal keeps the part`() async throws {
        let (lab, apache) = (try DownloadLab(), try Apache())
        try lab.leavePart([1, 2, 3], of: "\(apache.url)/basic/file", [#"etag "v1""#, "total 15"])
        let session = try HTTPSession(baseURL: apache.url, configuration: .init(timeouts: .lasting))
        let error = await #expect(throws: HTTPError.self) {
            try await session.download("basic/file", to: lab.path).response()
        }
        #expect(error?.code == .unacceptableStatus)
        #expect(lab.names == ["file.part", "file.part.info"])
    }

    @Test(
        .enabled(if: Nginx.isInstalled, "\(Nginx.advice)"),
        arguments: RealProxy.Kind.allCases.filter(RealProxy.isInstalled)
    )
    func `through proxies, paused on the way`(kind: RealProxy.Kind) async throws {
        let (lab, folder, authority) = (try DownloadLab(), try LabFolder(), try CertificateAuthority())
        let entity = DownloadLab.entity(8 << 20)
        try await ProxyLab.run { proxies in
            let nginx = try proxies.nginx(authority.issue(), folder)
            try nginx.files.write("large", entity)
            var options = RealProxy.Options()
            options.ports = [nginx.securePort]
            let proxy = try RealProxy(kind, options, in: proxies.lab)
            let scheme = kind == .microsocks ? "socks5h" : "http"
            let server = try ProxyServer("\(scheme)://127.0.0.1:\(proxy.port)")
            for url in ["http://127.0.0.1:\(nginx.port)/large", "https://127.0.0.1:\(nginx.securePort)/large"] {
                let session = try proxies.session(.all(server)) { $0.tls = try .trusting(authority) }
                var download = DownloadOptions()
                download.request.startsAtOnce = false
                let request = session.download(url, to: lab.path, options: download)
                let events = request.events
                request.resume()
                var pauses = 0
                for await event in events {
                    switch event {
                    case .received where pauses < 3:
                        pauses += 1
                        request.pause()
                    case .paused: request.resume()
                    default: break
                    }
                }
                #expect(try await request.response().file.size == Int64(entity.count))
                #expect(lab.file == entity)
                #expect(lab.names == ["file"])
                #expect(pauses > 0)
            }
        }
    }
}

extension ServerRecord.Request {
    /// The requested targets.
    fileprivate var target: Substring { head.split(separator: " ").dropFirst().first ?? "" }
}
