import Testing

/// Enforces the table of imports: pure targets import nothing, effect targets import pure targets and never each other.
@Suite("Table of imports")
struct ImportTableTests {
    /// The system's interface, and the modules that come with the standard library.
    private static let system: Set = ["CLinux", "Glibc", "Synchronization"]

    /// The modules that the sources of each target may import.
    ///
    /// A new target takes its place here before it is built. ReachabilityCore is pure: no I/O, clock, randomness, lock
    /// or thread. Reachability and the tools go without Foundation, because the programs that use it have to stay
    /// small; NetworkClientFoundation is for those that have it anyway. HTTPSerialization takes the coders of Foundation's small part, and iconv(3) from the C library. Locking
    /// is the one lock that all use, LinuxSystem the one home of threads, clocks, descriptors and name lookups.
    /// NetworkClientCore and RequestGate are pure too: their decisions are carried out by NetworkClient on SwiftNIO. So
    /// is NetwatchCore, which formats what the tool shows, and EventCore, whose decisions EventServer carries out on SwiftNIO. NetworkClient is the one shell that stands on another: the
    /// monitor opens its gate.
    private static let table: [String: Set<String>] = [
        "BrokerCommandLine": [
            "ArgumentParser", "CommandLineSupport", "Glibc", "LinuxSystem", "MQTTClient", "MQTTCore", "NetwatchCore",
            "NetworkClient", "ReachabilityCore",
        ],
        "CGSSAPI": [],
        "CLinux": [],
        "CNcurses": [],
        "CNetlink": [],
        "COutbox": [],
        "CPublicSuffix": [],
        "CSQLite": [],
        "CZlib": [],
        "CommandLineSupport": [
            "ArgumentParser", "CLinux", "Glibc", "LinuxSystem", "Locking", "NetwatchCore", "Reachability",
            "ReachabilityCore", "Synchronization", "ValidationCore",
        ],
        "EventCore": ["NetwatchCore", "ReachabilityCore", "ValidationCore"],
        "EventJournal": [
            "DurableStore", "EventCore", "Glibc", "LinuxSystem", "Locking", "NetwatchCore", "ReachabilityCore",
            "ValidationCore",
        ],
        "EventPage": ["EventCore", "NetwatchCore", "ReachabilityCore", "ValidationCore"],
        "EventServer": [
            "EventCore", "EventPage", "NIOCore", "NIOPosix", "NetwatchCore", "ReachabilityCore", "Synchronization",
        ],
        "EventService": [
            "Glibc", "LinuxSystem", "Locking", "NetwatchCore", "ReachabilityCore", "Synchronization", "ValidationCore",
        ],
        "NetworkClientEventService": ["EventService", "NetworkClient", "Reachability", "ReachabilityCore"],
        "DurableStore": [
            "CSQLite", "FoundationEssentials", "Glibc", "LinuxSystem", "Locking", "ReachabilityCore",
        ],
        "FleetCore": ["EventCore", "MQTTCore", "NetwatchCore", "ReachabilityCore", "ValidationCore"],
        "HTTPSerialization": ["FoundationEssentials", "Glibc", "HTTPTypes"],
        "LinuxSystem": system.union(["Locking", "ReachabilityCore"]),
        "Locking": ["Synchronization"],
        "MQTTClient": ["MQTTCore", "NIOCore", "NetworkClient", "NetworkClientCore"],
        "MQTTCore": [],
        "NetworkClient": [
            "CPublicSuffix", "CZlib", "Crypto", "Dispatch", "FoundationEssentials", "Glibc", "HTTPSerialization",
            "HTTPTypes",
            "LinuxSystem", "Locking", "NIOCore", "NIOHPACK", "NIOHTTP1", "NIOHTTP2", "NIOPosix", "NIOSSL", "NIOTLS",
            "NetworkClientCore",
            "Reachability",
            "ReachabilityCore", "RequestGate", "SwiftASN1", "Synchronization", "X509",
        ],
        "NetwatchCore": ["ReachabilityCore", "ValidationCore"],
        "NetworkClientFoundation": ["Foundation", "FoundationXML", "Locking", "NetworkClient"],
        "NetworkClientNegotiate": ["CGSSAPI", "Dispatch", "NetworkClient"],
        "NetworkClientTesting": ["Locking", "NetworkClient", "Reachability", "ReachabilityCore"],
        "NetworkClientObservability": ["CoreMetrics", "Locking", "Logging", "NetworkClient", "Tracing"],
        "NetworkClientServiceLifecycle": ["NetworkClient", "ServiceLifecycle"],
        "NetworkClientCore": ["ReachabilityCore"],
        "Outbox": [
            "COutbox", "Crypto", "DurableStore", "FoundationEssentials", "Glibc", "HTTPTypes", "LinuxSystem", "Locking",
            "NIOCore", "NetworkClient", "OutboxCore", "Reachability", "ReachabilityCore", "RequestGate",
            "Synchronization",
        ],
        "OutboxCore": [],
        "PathProbing": ["ReachabilityCore", "ValidationCore"],
        "ReachabilityCore": [],
        "ResourceLoader": ["Dispatch", "Glibc", "LinuxSystem", "Locking", "NetworkClient", "ResourceLoaderCore"],
        "ResourceLoaderCore": [],
        "RequestGate": ["NetworkClientCore", "ReachabilityCore"],
        "Validation": [
            "Glibc", "LinuxSystem", "Locking", "NIOCore", "NIOPosix", "NetworkClient", "NetworkClientCore",
            "PathProbing", "Reachability", "ReachabilityCore", "SwiftASN1", "ValidationCore", "X509",
        ],
        "ValidationCore": ["ReachabilityCore"],
        "Reachability": ["CNetlink", "Glibc", "LinuxSystem", "Locking", "ReachabilityCore", "Synchronization"],
        "TerminalDrawing": [
            "CLinux", "CNcurses", "CommandLineSupport", "Glibc", "LinuxSystem", "NetwatchCore", "ReachabilityCore",
        ],
        "netwatch": system.union([
            "ArgumentParser", "CommandLineSupport", "EventService", "LinuxSystem", "Locking", "NetwatchCore",
            "Reachability", "ReachabilityCore", "TerminalDrawing", "ValidationCore",
        ]),
        "netwatchd": system.union([
            "ArgumentParser", "CommandLineSupport", "Crypto", "EventCore", "EventJournal", "EventPage", "EventServer",
            "EventService", "FoundationEssentials", "LinuxSystem", "Locking", "NetwatchCore", "Reachability",
            "ReachabilityCore", "ValidationCore",
        ]),
        "netwatch-fetch": system.union([
            "ArgumentParser", "CommandLineSupport", "LinuxSystem", "Locking", "NetwatchCore", "NetworkClient",
            "NetworkClientCore", "Reachability", "ReachabilityCore", "ResourceLoaderCore",
        ]),
        "netwatch-fleet": system.union([
            "ArgumentParser", "BrokerCommandLine", "CommandLineSupport", "DurableStore", "EventCore", "FleetCore",
            "LinuxSystem", "Locking", "MQTTClient", "MQTTCore", "NIOCore", "NIOPosix", "NetwatchCore", "NetworkClient",
            "Reachability", "ReachabilityCore", "TerminalDrawing", "ValidationCore",
        ]),
        "netwatch-forward": system.union([
            "ArgumentParser", "BrokerCommandLine", "CommandLineSupport", "Crypto", "EventService", "FleetCore",
            "LinuxSystem", "Locking", "MQTTClient", "MQTTCore", "NIOCore", "NIOPosix", "NetwatchCore",
            "NetworkClient", "ReachabilityCore",
        ]),
        "netwatch-outbox": [
            "ArgumentParser", "CommandLineSupport", "DurableStore", "Glibc", "LinuxSystem", "Locking", "NetwatchCore",
            "Outbox", "ReachabilityCore",
        ],
        "netwatch-validate": [
            "ArgumentParser", "CommandLineSupport", "Glibc", "LinuxSystem", "Locking", "NetwatchCore", "Reachability",
            "ReachabilityCore", "Validation",
        ],
    ]

    @Test("The table lists exactly the existing targets")
    func targets() throws {
        #expect(try Repository.names(in: "Sources") == Self.table.keys.sorted())
    }

    @Test("No target imports a module that the table does not allow", arguments: table.keys.sorted())
    func imports(target: String) throws {
        let allowed = try #require(Self.table[target])
        for file in try Repository.swiftFiles(under: "Sources/\(target)") {
            let excess = Self.imports(in: try Repository.read(file)).subtracting(allowed).sorted()
            #expect(excess.isEmpty, "\(file) imports \(excess)")
        }
    }

    @Test("Locks are those of Locking, which the thread sanitizer understands", arguments: ["Sources", "Tests"])
    func locks(folder: String) throws {
        let used = try Regex(#"\bMutex[(<]"#)
        for file in try Repository.swiftFiles(under: folder) where !file.contains("Sources/Locking/") {
            #expect(try Repository.read(file).firstMatch(of: used) == nil, "\(file)")
        }
    }

    /// The modules whose folders depend on each other in one direction; the others are to follow.
    private static let modulesWithOrderedFolders = [
        "DurableStore", "EventCore", "EventJournal", "EventPage", "EventServer", "EventService", "FleetCore",
        "HTTPSerialization", "LinuxSystem", "Locking", "MQTTCore", "NetwatchCore", "NetworkClient", "NetworkClientCore",
        "Outbox", "OutboxCore", "PathProbing", "Reachability", "ReachabilityCore", "RequestGate", "Validation",
        "ValidationCore", "netwatch", "netwatch-fleet", "netwatchd",
    ]

    @Test("No folder of a module is part of a cycle of dependencies", arguments: modulesWithOrderedFolders)
    func folders(module: String) throws {
        let cycles = try FolderGraph(module: module).cycles
        #expect(cycles.isEmpty, "\(module) has a \(cycles.joined(separator: "\n"))")
    }

    @Test("Two folders that name each other's types are reported as a cycle, with the file and the type")
    func cycle() throws {
        let cycles = FolderGraph(files: [
            "Low/Value.swift": "struct Value { var machine: Machine? }",
            "High/Machine.swift": "public final class Machine { let value: Value; let other: Value }",
            "Highest/Tool.swift": "enum Tool { static let machine = Machine() }",
        ]).cycles
        #expect(cycles.count == 1)
        let cycle = try #require(cycles.first)
        #expect(cycle.hasPrefix("cycle of High, Low\n"))
        #expect(cycle.contains("Low -> High: 1 mentions, such as: Low/Value.swift names Machine"))
        #expect(!cycle.contains("Tool"))
    }

    @Test("Folders inside a folder must not form cycles either, and may use that folder")
    func innerFolders() {
        let files = [
            "A/Base.swift": "struct Base { let inner: X }",
            "A/One/X.swift": "struct X { let base: Base }",
            "A/Two/Y.swift": "struct Y { let x: X }",
        ]
        #expect(FolderGraph(files: files).cycles.isEmpty)
        let both = files.merging(["A/One/Z.swift": "extension X { var y: Y { .init(x: self) } }"]) { $1 }
        #expect(FolderGraph(files: both).cycles.count == 1)
    }

    @Test("Comments, strings, private types and nested types are no dependency; an interpolation is one")
    func mentions() {
        func dependsBack(_ text: String, declaring declaration: String = "struct Machine {}") -> Bool {
            let graph = FolderGraph(files: [
                "Low/Value.swift": "struct Value {}\n" + text,
                "High/Machine.swift": declaration + "\nlet value: Value",
            ])
            return !graph.cycles.isEmpty
        }
        #expect(dependsBack("let x = Machine()"))
        #expect(dependsBack(#"let x = "a \(y("b") + Machine.name) c""#))
        #expect(dependsBack("let x = \"\"\"\n \" \\(Machine.name)\n\"\"\""))
        #expect(dependsBack("let x: Machine", declaring: "@frozen public indirect enum Machine { case a }"))
        #expect(dependsBack("let x: Machine", declaring: "package typealias Machine = Int"))
        #expect(!dependsBack("// Machine\n/// Machine\n/* Machine /* Machine */ Machine */"))
        #expect(!dependsBack(##"let x = "Machine \" Machine" + #"\(Machine) " Machine"#"##))
        #expect(!dependsBack("let x = \"\"\"\nMachine \"\" Machine\n\"\"\""))
        #expect(!dependsBack("let x: Machine", declaring: "private struct Machine {}"))
        #expect(!dependsBack("let x: Machine", declaring: "@_exported public import struct Machine.Part"))
        #expect(!dependsBack("let x: Machine", declaring: "struct Outer { struct Machine {} }"))
    }

    @Test("The monitor's tool links no HTTP stack: neither it nor its dependencies import one")
    func withoutHTTP() throws {
        var linked: Set = ["netwatch"]
        while case let next = linked.union(linked.flatMap { Self.table[$0] ?? [] }), next != linked { linked = next }
        #expect(linked.contains("Reachability"))
        let stack: Set = [
            "NetworkClient", "NetworkClientCore", "RequestGate", "HTTPSerialization", "HTTPTypes", "NIOCore", "NIOSSL",
            "X509", "Crypto", "CZlib",
        ]
        #expect(linked.isDisjoint(with: stack), "\(linked.intersection(stack).sorted())")
    }

    @Test("Every form of an import is recognized")
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
    static func imports(in text: String) -> Set<String> {
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
