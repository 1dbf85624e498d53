import Testing

/// Holds the table of imports: pure targets import nothing, shells import pure targets and never each other.
@Suite("Table of imports")
struct ImportTableTests {
    /// The system's interface, and what the standard library ships beside itself.
    private static let system: Set = ["CLinux", "Glibc", "Synchronization"]

    /// What the sources of each target may import.
    ///
    /// A new target takes its place here before it is built. ReachabilityCore is pure: no I/O, clock, randomness, lock
    /// or thread. Reachability goes without Foundation, because the programs that use it have to stay small; so does
    /// the tool. HTTPSerialization takes the coders of Foundation's small part, and iconv(3) from the C library.
    /// Locking is the one lock that all use. NetworkClientCore and RequestGate are pure too: what they decide,
    /// NetworkClient carries out on SwiftNIO; and so is NetwatchCore, what the tool shows. It is the one shell that stands on another: the monitor opens its gate.
    private static let table: [String: Set<String>] = [
        "CLinux": [],
        "CNcurses": [],
        "CNetlink": [],
        "CZlib": [],
        "CommandLineSupport": [
            "ArgumentParser", "CLinux", "Glibc", "NetwatchCore", "Reachability", "ReachabilityCore",
        ],
        "HTTPSerialization": ["FoundationEssentials", "Glibc", "HTTPTypes"],
        "Locking": ["Synchronization"],
        "NetworkClient": [
            "CZlib", "Crypto", "Dispatch", "FoundationEssentials", "Glibc", "HTTPSerialization", "HTTPTypes", "Locking",
            "NIOCore", "NIOHTTP1", "NIOPosix", "NIOSSL", "NIOTLS", "NetworkClientCore", "Reachability",
            "ReachabilityCore", "RequestGate", "SwiftASN1", "Synchronization", "X509",
        ],
        "NetwatchCore": ["ReachabilityCore"],
        "NetworkClientCore": ["ReachabilityCore"],
        "ReachabilityCore": [],
        "RequestGate": ["NetworkClientCore", "ReachabilityCore"],
        "Reachability": system.union(["CNetlink", "Locking", "Logging", "ReachabilityCore"]),
        "netwatch": system.union([
            "ArgumentParser", "CNcurses", "CommandLineSupport", "NetwatchCore",
            "NetworkClientCore", "Reachability", "ReachabilityCore", "RequestGate",
        ]),
        "netwatch-fetch": system.union([
            "ArgumentParser", "CommandLineSupport", "NetwatchCore", "NetworkClient", "Reachability", "ReachabilityCore",
        ]),
    ]

    @Test("Every target has its place in the table, and every place its target")
    func targets() throws {
        #expect(try Repository.names(in: "Sources") == Self.table.keys.sorted())
    }

    @Test("No target imports what the table does not allow it", arguments: table.keys.sorted())
    func imports(target: String) throws {
        let allowed = try #require(Self.table[target])
        for file in try Repository.swiftFiles(under: "Sources/\(target)") {
            let excess = Self.imports(in: try Repository.read(file)).subtracting(allowed).sorted()
            #expect(excess.isEmpty, "\(file) imports \(excess)")
        }
    }

    @Test("The monitor's tool links no HTTP stack: it imports none, nor does what it imports")
    func withoutHTTP() throws {
        var linked: Set = ["netwatch"]
        while case let next = linked.union(linked.flatMap { Self.table[$0] ?? [] }), next != linked { linked = next }
        #expect(linked.contains("Reachability"))
        let stack: Set = [
            "NetworkClient", "HTTPSerialization", "HTTPTypes", "NIOCore", "NIOSSL", "X509", "Crypto", "CZlib",
        ]
        #expect(linked.isDisjoint(with: stack), "\(linked.intersection(stack).sorted())")
    }

    @Test("Every form of an import is seen")
    func forms() {
        let text = """
            import A
            public import B
            @_exported public import C
              @testable import D // why
            import struct E.F
            internal import class G.H.I
            @preconcurrency @_implementationOnly import J
            @_spi(K) import L;import M
            #if canImport(N)
            // import O
            let text = "import P"
            let imported = Q
            """
        #expect(Self.imports(in: text).sorted() == ["A", "B", "C", "D", "E", "G", "J", "L", "M"])
    }

    /// The modules that a source imports; of a submodule or a single declaration, the module.
    private static func imports(in text: String) -> Set<String> {
        let statement =
            #/
            (?:^|;) \s*
            (?: (?: @\w+ (?: \(\w+\) )? | public | package | internal | fileprivate | private ) \s+ )*
            import \s+
            (?: (?: struct | class | enum | protocol | typealias | func | let | var ) \s+ )?
            (\w+)
            /#
        return Set(
            text.split(separator: "\n").flatMap { line in
                line.matches(of: statement).map { String($0.1) }
            }
        )
    }
}
