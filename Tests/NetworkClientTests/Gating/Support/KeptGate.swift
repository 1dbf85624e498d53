import HTTPLab
import NIOCore
import NIOPosix
import NetworkLab
import ReachabilityCore

@testable import NetworkClient

/// A keeper on its own event loop, with its notifications.
final class KeptGate: Sendable {
    /// A notification about a key.
    struct Word: Sendable, Equatable {
        var key: GateKey
        var verdict: GateKeeper.Verdict
    }

    let told = Observed<[Word]>([])
    private let loop: any EventLoop
    private let keeper: GateKeeper

    private init(_ connectivity: any Connectivity, _ resolver: NameResolver, _ loop: any EventLoop) async throws {
        self.loop = loop
        let told = told
        keeper = try await loop.submit {
            GateKeeper(connectivity: connectivity, resolver: resolver, loop: loop) { key, verdict in
                told.update { $0.append(.init(key: key, verdict: verdict)) }
            }
        }.get()
    }

    /// Runs a test with a keeper; ends it and its loop after.
    static func run(
        _ connectivity: any Connectivity,
        _ resolver: NameResolver = .shared,
        in lab: LabNamespace? = nil,
        _ body: (KeptGate) async throws -> Void
    ) async throws {
        try await LabLoops.run(in: lab) { loops in
            let gate = try await KeptGate(connectivity, resolver, loops.loop)
            do {
                try await body(gate)
                await gate.on { $0.shutDown() }
            } catch {
                await gate.on { $0.shutDown() }
                throw error
            }
        }
    }

    /// Does something with the keeper on its loop.
    @discardableResult
    func on<Value: Sendable>(_ body: @escaping @Sendable (GateKeeper) -> Value) async -> Value {
        let keeper = keeper
        do { return try await loop.submit { body(keeper) }.get() } catch { preconditionFailure("\(error)") }
    }

    /// Returns the keeper's verdict on a key.
    func verdict(_ key: GateKey) async -> GateKeeper.Verdict { await on { $0.verdict(for: key) } }

    /// Waits for a key from now on; returns the current verdict.
    @discardableResult
    func hold(_ key: GateKey) async -> GateKeeper.Verdict {
        await on { keeper in
            let verdict = keeper.verdict(for: key)
            keeper.hold(key)
            return verdict
        }
    }

    /// Waits until the last verdict that the waiting requests received satisfies the condition.
    func settle(
        _ key: GateKey,
        for what: String,
        _ condition: @escaping @Sendable (GateKeeper.Verdict) -> Bool
    ) async throws {
        try await told.wait(for: what) { words in
            condition(words.last { $0.key == key }?.verdict ?? .free)
        }
    }

    /// Waits until the last notification about a key satisfies the condition.
    func wait(
        _ key: GateKey,
        for what: String,
        _ condition: @escaping @Sendable (GateKeeper.Verdict) -> Bool
    ) async throws {
        try await told.wait(for: what) { words in words.last { $0.key == key }.map { condition($0.verdict) } ?? false }
    }
}

extension GateKey {
    /// Port 80 of a host.
    init(_ host: String, _ requirement: PathRequirement = .any) {
        self.init(host: host, port: 80, socketPath: nil, requirement: requirement)
    }
}

extension GateKeeper.Verdict {
    var mayGo: Bool { if case .open = self { true } else { false } }

    var binding: LocalBinding? { if case .open(let binding, _) = self { binding } else { nil } }

    /// The addresses as text.
    var addresses: [String]? { if case .open(_, let addresses) = self { addresses?.map(\.text) } else { nil } }

    var missing: GateWait? { if case .closed(let wait) = self { wait } else { nil } }
}
