import HTTPLab
import NIOCore
import NetworkClientCore
import NetworkLab

@testable import NetworkClient

/// A namespace with a session whose requests use a proxy.
struct ProxyLab {
    let loops: LabLoops
    var lab: LabNamespace { loops.lab }

    /// Runs a test in a new one.
    static func run<Value>(_ body: (ProxyLab) async throws -> Value) async throws -> Value {
        try await LabLoops.run { try await body(.init(loops: $0)) }
    }

    /// A session; its names are looked up as the resolver has it.
    func session(
        _ proxy: ProxyConfiguration,
        base: String? = nil,
        resolver: NameResolver = .shared,
        change: (inout HTTPConfiguration) throws -> Void = { _ in }
    ) throws -> HTTPSession {
        var configuration = HTTPConfiguration(timeouts: .lasting, proxy: proxy)
        try change(&configuration)
        return try HTTPSession(baseURL: base, configuration, loop: loops.loop, resolver)
    }

    /// A session whose proxy is a test server.
    func session(
        by server: ScriptedServer,
        _ scheme: String = "http",
        user: String = "",
        resolver: NameResolver = .shared,
        change: (inout HTTPConfiguration) throws -> Void = { _ in }
    ) throws -> HTTPSession {
        let login = user.isEmpty ? "" : "\(user)@"
        let proxy = try ProxyServer("\(scheme)://\(login)127.0.0.1:\(server.port)")
        return try session(.all(proxy), resolver: resolver, change: change)
    }

    /// A server that does the same with every connection.
    func server(_ steps: ServerStep...) throws -> ScriptedServer { try .init(in: lab, always: steps) }

    /// An nginx with TLS, for the names that an authority gives it.
    func nginx(_ identity: MintedIdentity, _ folder: LabFolder) throws -> Nginx {
        var options = Nginx.Options()
        options.certificate = try folder.write(identity)
        let nginx = try Nginx(options, in: lab)
        try nginx.files.write("hello", "hello")
        return nginx
    }

    /// The error of a request.
    func failure(_ session: HTTPSession, _ url: String = "http://origin.example/x") async throws -> HTTPError {
        do throws(HTTPError) {
            let response = try await session.get(url).response()
            throw .init(.invalidResponse, processing: .answered, reason: "there was a response: \(response.status)")
        } catch {
            return error
        }
    }
}

extension LabFolder {
    /// Writes a chain and its key, for servers.
    func write(_ identity: MintedIdentity) throws -> (chain: String, key: String) {
        let chain = ([identity.own] + identity.above).map(\.pem).joined(separator: "\n")
        return (try write("chain.pem", chain), try write("key.pem", identity.own.keyPEM))
    }
}
