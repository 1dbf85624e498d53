// swift-tools-version: 6.2
import PackageDescription

/// Every target is held to the same language: Swift 6, upcoming features on, no warning left standing.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// Links the compiler's own libraries from their archives, so that an executable needs no package but libnl's and ncurses',
/// and the dynamic linker has 1,500 fewer symbols to search (docs/decisions/0005-linking-the-tool.md).
///
/// No symbol of an executable is exported: nothing is loaded that would need one. The part about zlib is in
/// `packaging/pkgconfig/zlib.pc`.
let archives: LinkerSetting = .unsafeFlags(
    [
        "-Xclang-linker", "-static-libgcc", "-L", "\(Context.packageDirectory)/packaging/linking",
        "-Xlinker", "-l:libstdc++.a", "-Xlinker", "--no-export-dynamic",
    ],
    .when(platforms: [.linux], configuration: .release)
)

/// Links an executable at a fixed address, which spares the dynamic linker 40,000 relocations.
let fixedAddress: LinkerSetting = .unsafeFlags(
    ["-Xclang-linker", "-no-pie"],
    .when(platforms: [.linux], configuration: .release)
)

let package = Package(
    name: "netwatch",
    products: [
        .library(name: "Reachability", targets: ["Reachability"]),
        .library(name: "EventService", targets: ["EventService"]),
        .library(name: "NetworkClient", targets: ["NetworkClient"]),
        .library(name: "NetworkClientEventService", targets: ["NetworkClientEventService"]),
        .library(name: "NetworkClientFoundation", targets: ["NetworkClientFoundation"]),
        .library(name: "NetworkClientNegotiate", targets: ["NetworkClientNegotiate"]),
        .library(name: "NetworkClientObservability", targets: ["NetworkClientObservability"]),
        .library(name: "NetworkClientServiceLifecycle", targets: ["NetworkClientServiceLifecycle"]),
        .library(name: "NetworkClientTesting", targets: ["NetworkClientTesting"]),
        .library(name: "ResourceLoader", targets: ["ResourceLoader"]),
        .library(name: "HTTPSerialization", targets: ["HTTPSerialization"]),
        .library(name: "Outbox", targets: ["Outbox"]),
        .library(name: "Validation", targets: ["Validation"]),
        .executable(name: "netwatch", targets: ["netwatch"]),
        .executable(name: "netwatch-fetch", targets: ["netwatch-fetch"]),
        .executable(name: "netwatch-fleet", targets: ["netwatch-fleet"]),
        .executable(name: "netwatch-forward", targets: ["netwatch-forward"]),
        .executable(name: "netwatch-outbox", targets: ["netwatch-outbox"]),
        .executable(name: "netwatch-validate", targets: ["netwatch-validate"]),
        .executable(name: "netwatchd", targets: ["netwatchd"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CNetlink",
            pkgConfig: "libnl-route-3.0 libnl-genl-3.0",
            providers: [.apt(["libnl-3-dev", "libnl-route-3-dev", "libnl-genl-3-dev"])]
        ),
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "CNcurses", providers: [.apt(["libncurses-dev"])]),
        .systemLibrary(name: "CGSSAPI", providers: [.apt(["libkrb5-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CPublicSuffix", pkgConfig: "libpsl", providers: [.apt(["libpsl-dev"])]),
        .target(name: "Locking", swiftSettings: settings),
        .target(name: "ReachabilityCore", swiftSettings: settings),
        .target(name: "ValidationCore", dependencies: ["ReachabilityCore"], swiftSettings: settings),
        .target(name: "PathProbing", dependencies: ["ReachabilityCore", "ValidationCore"], swiftSettings: settings),
        .target(
            name: "LinuxSystem",
            dependencies: ["CLinux", "Locking", "ReachabilityCore"],
            swiftSettings: settings
        ),
        .target(
            name: "Reachability",
            dependencies: ["CNetlink", "LinuxSystem", "Locking", "ReachabilityCore"],
            swiftSettings: settings
        ),
        .target(
            name: "HTTPSerialization",
            dependencies: [.product(name: "HTTPTypes", package: "swift-http-types")],
            swiftSettings: settings
        ),
        .target(name: "NetworkClientCore", dependencies: ["ReachabilityCore"], swiftSettings: settings),
        .target(
            name: "RequestGate",
            dependencies: ["NetworkClientCore", "ReachabilityCore"],
            swiftSettings: settings
        ),
        .target(
            name: "NetworkClient",
            dependencies: [
                "CPublicSuffix", "CZlib", "HTTPSerialization", "LinuxSystem", "Locking", "NetworkClientCore",
                "Reachability", "ReachabilityCore", "RequestGate",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "Validation",
            dependencies: [
                "LinuxSystem", "Locking", "NetworkClient", "NetworkClientCore", "PathProbing", "Reachability",
                "ReachabilityCore", "ValidationCore",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ],
            swiftSettings: settings
        ),
        .target(name: "NetworkClientFoundation", dependencies: ["Locking", "NetworkClient"], swiftSettings: settings),
        .target(
            name: "NetworkClientNegotiate",
            dependencies: ["CGSSAPI", "NetworkClient"],
            swiftSettings: settings
        ),
        .target(
            name: "NetworkClientTesting",
            dependencies: ["Locking", "NetworkClient", "Reachability", "ReachabilityCore"],
            swiftSettings: settings
        ),
        .target(
            name: "NetworkClientObservability",
            dependencies: [
                "Locking", "NetworkClient",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "NetworkClientServiceLifecycle",
            dependencies: [
                "NetworkClient", .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings
        ),
        .target(name: "ResourceLoaderCore", swiftSettings: settings),
        .target(
            name: "ResourceLoader",
            dependencies: ["LinuxSystem", "Locking", "NetworkClient", "ResourceLoaderCore"],
            swiftSettings: settings
        ),
        .target(name: "NetwatchCore", dependencies: ["ReachabilityCore", "ValidationCore"], swiftSettings: settings),
        .target(
            name: "EventCore",
            dependencies: ["NetwatchCore", "ReachabilityCore", "ValidationCore"],
            swiftSettings: settings
        ),
        .target(
            name: "EventJournal",
            dependencies: [
                "DurableStore", "EventCore", "LinuxSystem", "Locking", "NetwatchCore", "ReachabilityCore",
                "ValidationCore",
            ],
            swiftSettings: settings
        ),
        .target(
            name: "EventService",
            dependencies: ["LinuxSystem", "Locking", "NetwatchCore", "ReachabilityCore", "ValidationCore"],
            swiftSettings: settings
        ),
        .target(
            name: "NetworkClientEventService",
            dependencies: ["EventService", "NetworkClient", "Reachability", "ReachabilityCore"],
            swiftSettings: settings
        ),
        .target(
            name: "EventPage",
            dependencies: ["EventCore", "NetwatchCore", "ReachabilityCore", "ValidationCore"],
            swiftSettings: settings
        ),
        .target(
            name: "EventServer",
            dependencies: [
                "EventCore", "EventPage", "NetwatchCore", "ReachabilityCore",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: settings
        ),
        .target(name: "MQTTCore", swiftSettings: settings),
        .target(
            name: "MQTTClient",
            dependencies: [
                "MQTTCore", "NetworkClient", "NetworkClientCore",
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "FleetCore",
            dependencies: ["EventCore", "MQTTCore", "NetwatchCore", "ReachabilityCore", "ValidationCore"],
            swiftSettings: settings
        ),
        .target(
            name: "CommandLineSupport",
            dependencies: [
                "CLinux", "LinuxSystem", "Locking", "NetwatchCore", "Reachability", "ReachabilityCore",
                "ValidationCore",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "TerminalDrawing",
            dependencies: [
                "CLinux", "CNcurses", "CommandLineSupport", "LinuxSystem", "NetwatchCore", "ReachabilityCore",
            ],
            swiftSettings: settings
        ),
        .target(
            name: "BrokerCommandLine",
            dependencies: [
                "CommandLineSupport", "LinuxSystem", "MQTTClient", "MQTTCore", "NetwatchCore", "NetworkClient",
                "ReachabilityCore",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "netwatch",
            dependencies: [
                "CLinux", "CommandLineSupport", "EventService", "LinuxSystem", "Locking", "NetwatchCore",
                "Reachability", "ReachabilityCore", "TerminalDrawing", "ValidationCore",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings,
            linkerSettings: [archives, fixedAddress]
        ),
        .executableTarget(
            name: "netwatch-fetch",
            dependencies: [
                "CLinux", "CommandLineSupport", "LinuxSystem", "Locking", "NetwatchCore", "NetworkClient",
                "NetworkClientCore", "Reachability", "ReachabilityCore", "ResourceLoaderCore",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings,
            linkerSettings: [archives]
        ),
        .executableTarget(
            name: "netwatch-validate",
            dependencies: [
                "CommandLineSupport", "LinuxSystem", "Locking", "NetwatchCore", "Reachability", "ReachabilityCore",
                "Validation",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings,
            linkerSettings: [archives]
        ),
        .executableTarget(
            name: "netwatch-forward",
            dependencies: [
                "BrokerCommandLine", "CommandLineSupport", "EventService", "FleetCore", "LinuxSystem", "Locking",
                "MQTTClient", "MQTTCore", "NetwatchCore", "NetworkClient", "ReachabilityCore",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: settings,
            linkerSettings: [archives]
        ),
        .executableTarget(
            name: "netwatch-fleet",
            dependencies: [
                "BrokerCommandLine", "CommandLineSupport", "DurableStore", "EventCore", "FleetCore", "LinuxSystem",
                "Locking", "MQTTClient", "MQTTCore", "NetwatchCore", "NetworkClient", "Reachability",
                "ReachabilityCore", "ValidationCore",
                "TerminalDrawing",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: settings,
            linkerSettings: [archives]
        ),
        .executableTarget(
            name: "netwatchd",
            dependencies: [
                "CLinux", "CommandLineSupport", "EventCore", "EventJournal", "EventPage", "EventServer", "EventService",
                "LinuxSystem", "Locking", "NetwatchCore", "Reachability", "ReachabilityCore", "ValidationCore",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: settings,
            linkerSettings: [archives, fixedAddress]
        ),
        .executableTarget(
            name: "FirstProgram",
            dependencies: ["Reachability"],
            path: "Examples/FirstProgram",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "OtherWays",
            dependencies: ["Reachability"],
            path: "Examples/OtherWays",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "FirstRequest",
            dependencies: ["NetworkClient"],
            path: "Examples/FirstRequest",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "SteadyUpload",
            dependencies: ["NetworkClient"],
            path: "Examples/SteadyUpload",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "SendingBodies",
            dependencies: ["NetworkClient"],
            path: "Examples/SendingBodies",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "ComingFrom",
            dependencies: ["NetworkClient"],
            path: "Examples/ComingFrom",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "OtherClients",
            dependencies: ["NetworkClient"],
            path: "Examples/OtherClients",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "Guides",
            dependencies: [
                "EventService", "NetworkClient", "NetworkClientEventService", "NetworkClientFoundation",
                "NetworkClientNegotiate", "NetworkClientObservability", "NetworkClientServiceLifecycle",
                "NetworkClientTesting", "Outbox", "Reachability", "ResourceLoader", "Validation",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            path: "Examples/Guides",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "PortedPrograms",
            dependencies: ["NetworkClient", "Reachability"],
            path: "Examples/PortedPrograms",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "RunningService",
            dependencies: [
                "NetworkClient", "NetworkClientObservability", "NetworkClientServiceLifecycle",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            path: "Examples/RunningService",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "SigningRequests",
            dependencies: ["NetworkClient", .product(name: "Crypto", package: "swift-crypto")],
            path: "Examples/SigningRequests",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "FollowingEvents",
            dependencies: ["NetworkClient"],
            path: "Examples/FollowingEvents",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "ExchangingMessages",
            dependencies: ["NetworkClient"],
            path: "Examples/ExchangingMessages",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "DurableReadings",
            dependencies: ["Outbox"],
            path: "Examples/DurableReadings",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "CountingBytes",
            dependencies: [
                "NetworkClient",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            path: "Examples/CountingBytes",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "PipeConnection",
            dependencies: [
                "NetworkClient",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Examples/PipeConnection",
            swiftSettings: settings
        ),
        .target(
            name: "DurableStore",
            dependencies: ["CSQLite", "LinuxSystem", "Locking", "ReachabilityCore"],
            swiftSettings: settings
        ),
        .systemLibrary(name: "COutbox"),
        .target(name: "OutboxCore", swiftSettings: settings),
        .target(
            name: "Outbox",
            dependencies: [
                "COutbox", "DurableStore", "LinuxSystem", "Locking", "NetworkClient", "OutboxCore", "Reachability",
                "ReachabilityCore", "RequestGate",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "netwatch-outbox",
            dependencies: [
                "CommandLineSupport", "DurableStore", "LinuxSystem", "Locking", "NetwatchCore", "Outbox",
                "ReachabilityCore",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings,
            linkerSettings: [archives]
        ),
        .target(name: "CNetworkLab", path: "Tests/CNetworkLab", publicHeadersPath: "."),
        .target(name: "CThreadSanitizer", path: "Tests/CThreadSanitizer", publicHeadersPath: "."),
        .target(
            name: "NetworkLab",
            dependencies: ["CNetworkLab", "CThreadSanitizer", "Locking", "ReachabilityCore"],
            path: "Tests/NetworkLab",
            swiftSettings: settings
        ),
        .testTarget(
            name: "HTTPSerializationTests",
            dependencies: ["HTTPSerialization", .product(name: "HTTPTypes", package: "swift-http-types")],
            swiftSettings: settings
        ),
        .target(
            name: "HTTPLab",
            dependencies: [
                "CNetworkLab", "Locking", "NetworkLab", "ReachabilityCore",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ],
            path: "Tests/HTTPLab",
            swiftSettings: settings
        ),
        .testTarget(
            name: "HTTPLabTests",
            dependencies: ["HTTPLab", "NetworkLab", "ReachabilityCore"],
            swiftSettings: settings
        ),
        .testTarget(name: "MQTTCoreTests", dependencies: ["MQTTCore"], swiftSettings: settings),
        .testTarget(
            name: "MQTTClientTests",
            dependencies: [
                "HTTPLab", "MQTTClient", "MQTTCore", "NetworkClient", "NetworkLab",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "FleetCoreTests",
            dependencies: [
                "EventCore", "FleetCore", "MQTTCore", "NetwatchCore", "NetworkLab", "ReachabilityCore",
                "ValidationCore",
            ],
            exclude: ["Snapshots"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "EventCoreTests",
            dependencies: ["EventCore", "NetwatchCore", "NetworkLab", "ReachabilityCore", "ValidationCore"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "EventJournalTests",
            dependencies: [
                "CommandLineLab", "DurableStore", "EventCore", "EventJournal", "HTTPLab", "NetwatchCore", "NetworkLab",
                "ReachabilityCore", "ValidationCore",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "EventPageTests",
            dependencies: [
                "EventCore", "EventPage", "NetwatchCore", "NetworkLab", "ReachabilityCore", "ValidationCore",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "NetwatchCoreTests",
            dependencies: ["NetwatchCore", "NetworkLab", "ReachabilityCore", "ValidationCore"],
            exclude: ["Snapshots"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "NetworkClientCoreTests",
            dependencies: ["NetworkClientCore", "NetworkLab", "ReachabilityCore"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "NetworkClientTests",
            dependencies: [
                "CZlib", "HTTPLab", "HTTPSerialization", "Locking", "NetworkClient", "NetworkClientCore",
                "NetworkClientFoundation", "NetworkClientNegotiate", "NetworkClientTesting", "NetworkLab",
                "Reachability", "ReachabilityCore",
                "RequestGate",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ResourceLoaderTests",
            dependencies: ["HTTPLab", "NetworkClient", "ResourceLoader", "ResourceLoaderCore"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "NetworkClientAdapterTests",
            dependencies: [
                "HTTPLab", "Locking", "NetworkClient", "NetworkClientObservability", "NetworkClientServiceLifecycle",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "NetworkLabTests",
            dependencies: ["NetworkLab", "ReachabilityCore"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ReachabilityCoreTests",
            dependencies: ["ReachabilityCore", "NetworkLab"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ValidationCoreTests",
            dependencies: ["ReachabilityCore", "ValidationCore"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "PathProbingTests",
            dependencies: ["NetworkLab", "PathProbing", "ReachabilityCore", "ValidationCore"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "validation-watcher",
            dependencies: ["LinuxSystem", "Validation"],
            path: "Tests/ValidationWatcher",
            swiftSettings: settings
        ),
        .testTarget(
            name: "ValidationTests",
            dependencies: [
                "HTTPLab", "NetworkClient", "NetworkLab", "PathProbing", "Reachability", "ReachabilityCore",
                "Validation", "ValidationCore", "validation-watcher",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ReachabilityTests",
            dependencies: ["LinuxSystem", "Locking", "Reachability", "ReachabilityCore", "NetworkLab"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "RequestGateTests",
            dependencies: ["NetworkClientCore", "NetworkLab", "ReachabilityCore", "RequestGate"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "DurableStoreTests",
            dependencies: ["DurableStore", "HTTPLab", "NetworkLab"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "OutboxCoreTests",
            dependencies: ["NetworkLab", "OutboxCore"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "OutboxTests",
            dependencies: [
                "CommandLineLab", "DurableStore", "HTTPLab", "LinuxSystem", "Locking", "NetworkClient",
                "NetworkClientTesting", "NetworkLab", "Outbox", "OutboxCore", "Reachability", "ReachabilityCore",
                "netwatch-fetch", "netwatch-outbox",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "RepositoryTests",
            dependencies: [
                "ComingFrom", "CountingBytes", "DurableReadings", "ExchangingMessages", "FirstProgram", "FirstRequest",
                "FollowingEvents", "Guides", "HTTPLab", "Locking", "NetworkLab", "OtherClients", "OtherWays",
                "PipeConnection", "PortedPrograms", "ReachabilityCore", "RunningService", "SendingBodies",
                "SigningRequests", "SteadyUpload", "netwatch", "netwatch-fetch", "netwatch-fleet", "netwatch-forward",
                "netwatch-outbox", "netwatch-validate", "netwatchd",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            exclude: [
                "Install/Support/offers.bash", "Install/Support/offers.fish", "Install/Support/offers.zsh",
                "Scripts/Support/stand-in",
            ],
            swiftSettings: settings
        ),
        .target(
            name: "CommandLineLab",
            dependencies: ["CLinux", "Locking", "NetworkLab"],
            path: "Tests/CommandLineLab",
            swiftSettings: settings
        ),
        .target(
            name: "BrokerLab",
            dependencies: [
                "CommandLineLab", "EventService", "FleetCore", "HTTPLab", "MQTTCore", "NetwatchCore", "NetworkLab",
                "ReachabilityCore",
            ],
            path: "Tests/BrokerLab",
            swiftSettings: settings
        ),
        .testTarget(
            name: "netwatchTests",
            dependencies: [
                "CLinux", "CNcurses", "CommandLineLab", "CommandLineSupport", "HTTPLab", "LinuxSystem", "Locking",
                "NetwatchCore", "NetworkLab", "Reachability", "ReachabilityCore", "TerminalDrawing", "ValidationCore",
                "netwatch",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            exclude: ["Live/Snapshots"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "netwatchdTests",
            dependencies: [
                "CommandLineLab", "CommandLineSupport", "EventCore", "EventJournal", "EventPage", "EventServer",
                "EventService", "HTTPLab", "LinuxSystem", "Locking", "NetwatchCore", "NetworkClient",
                "NetworkClientEventService", "NetworkClientTesting", "NetworkLab", "Reachability", "ReachabilityCore",
                "ValidationCore", "netwatch", "netwatch-validate", "netwatchd",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "netwatch-forwardTests",
            dependencies: [
                "BrokerLab", "CommandLineLab", "EventService", "FleetCore", "HTTPLab", "MQTTCore", "NetwatchCore",
                "NetworkLab",
                "ReachabilityCore", "netwatch", "netwatch-forward", "netwatchd",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "netwatch-fleetTests",
            dependencies: [
                "BrokerLab", "CommandLineLab", "FleetCore", "HTTPLab", "MQTTCore", "NetwatchCore", "NetworkLab",
                "ReachabilityCore", "ValidationCore", "netwatch", "netwatch-fleet", "netwatch-forward",
                "netwatch-validate", "netwatchd",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "netwatch-validateTests",
            dependencies: [
                "CommandLineLab", "CommandLineSupport", "HTTPLab", "NetwatchCore", "NetworkLab", "ReachabilityCore",
                "ValidationCore", "netwatch", "netwatch-validate",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "netwatch-fetchTests",
            dependencies: [
                "CLinux", "CommandLineLab", "CommandLineSupport", "HTTPLab", "LinuxSystem", "Locking",
                "NetwatchCore", "NetworkClient", "NetworkLab", "ReachabilityCore", "netwatch", "netwatch-fetch",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings
        ),
    ]
)

// The build for the thread sanitizer leaves out what has no threads of its own: the tests of the pure targets, those of the
// repository's files, and the examples, which these run.
if Context.environment["NETWATCH_THREADS_ONLY"] != nil {
    let pure = [
        "EventCore", "EventPage", "FleetCore", "HTTPSerialization", "MQTTCore", "NetwatchCore", "NetworkClientCore",
        "OutboxCore", "PathProbing", "ReachabilityCore", "Repository", "RequestGate", "ValidationCore",
    ]
    package.targets.removeAll { target in
        pure.contains { target.name == $0 + "Tests" } || target.path?.hasPrefix("Examples/") == true
    }
    // The programs that tests start have threads too.
    for target in package.targets where target.type == .executable {
        target.dependencies.append("CThreadSanitizer")
        // The sanitizer's runtime can't be linked with the archives, nor at a fixed address.
        target.linkerSettings = nil
    }
}

// NETWATCH_TESTS=Validation,Outbox builds the tests of these targets alone, in a fraction of the time: for use while working.
if let names = Context.environment["NETWATCH_TESTS"]?.split(separator: ",") {
    package.targets.removeAll { target in
        (target.type == .test && !names.contains { target.name == $0 + "Tests" })
            || (target.path?.hasPrefix("Examples/") == true && !names.contains("Repository"))
    }
}
