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
    /// the tool, but for the JSON lines that `history` reads, which Foundation's small part decodes; it is linked for
    /// NetworkClient anyway. HTTPSerialization takes the coders of Foundation's small part, and iconv(3) from the C library.
    /// Locking is the one lock that all use, LinuxSystem the one home of threads, clocks, descriptors and name lookups. NetworkClientCore and RequestGate are pure too: what they decide,
    /// NetworkClient carries out on SwiftNIO; and so is NetwatchCore, what the tool shows. It is the one shell that stands on another: the monitor opens its gate.
    private static let table: [String: Set<String>] = [
        "CLinux": [],
        "CNcurses": [],
        "CNetlink": [],
        "CZlib": [],
        "HTTPSerialization": ["FoundationEssentials", "Glibc", "HTTPTypes"],
        "LinuxSystem": system.union(["Locking", "ReachabilityCore"]),
        "Locking": ["Synchronization"],
        "NetworkClient": [
            "CZlib", "Crypto", "Dispatch", "FoundationEssentials", "Glibc", "HTTPSerialization", "HTTPTypes",
            "LinuxSystem", "Locking", "NIOCore", "NIOHTTP1", "NIOPosix", "NIOSSL", "NIOTLS", "NetworkClientCore",
            "Reachability",
            "ReachabilityCore", "RequestGate", "SwiftASN1", "Synchronization", "X509",
        ],
        "NetwatchCore": ["ReachabilityCore"],
        "NetworkClientCore": ["ReachabilityCore"],
        "ReachabilityCore": [],
        "RequestGate": ["NetworkClientCore", "ReachabilityCore"],
        "Reachability": ["CNetlink", "Glibc", "LinuxSystem", "Locking", "ReachabilityCore", "Synchronization"],
        "netwatch": system.union([
            "ArgumentParser", "CNcurses", "FoundationEssentials", "HTTPSerialization", "LinuxSystem", "NetwatchCore",
            "NetworkClient", "Reachability",
            "ReachabilityCore",
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
