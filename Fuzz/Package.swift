// swift-tools-version: 6.2
import PackageDescription

// The fuzz targets are a package of their own: they are built with libFuzzer and the address sanitizer, all of the code
// under test with them. `scripts/fuzz` knows how. Links lead to the sources of the targets under test: what is internal to
// the package netwatch can be reached from here, and of the client's dependencies only the small one is built.

let settings: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
/// As the targets under test are built in their own package.
let linkedSettings =
    settings + [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]

let package = Package(
    name: "netwatch-fuzz",
    dependencies: [.package(url: "https://github.com/apple/swift-http-types", from: "1.8.0")],
    targets: [
        .systemLibrary(name: "CFuzzer"),
        .target(name: "ReachabilityCore", swiftSettings: linkedSettings),
        .target(name: "FuzzSupport", dependencies: ["CFuzzer", "ReachabilityCore"], swiftSettings: settings),
        .executableTarget(
            name: "FuzzDecoder",
            dependencies: ["FuzzSupport", "ReachabilityCore"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "FuzzCapture",
            dependencies: ["FuzzSupport", "ReachabilityCore"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "FuzzModel",
            dependencies: ["FuzzSupport", "ReachabilityCore"],
            swiftSettings: settings
        ),
        .target(name: "NetworkClientCore", dependencies: ["ReachabilityCore"], swiftSettings: linkedSettings),
        .target(
            name: "RequestGate",
            dependencies: ["NetworkClientCore", "ReachabilityCore"],
            swiftSettings: linkedSettings
        ),
        .target(
            name: "HTTPSerialization",
            dependencies: [.product(name: "HTTPTypes", package: "swift-http-types")],
            swiftSettings: linkedSettings
        ),
        .target(name: "ValidationCore", dependencies: ["ReachabilityCore"], swiftSettings: linkedSettings),
        .target(
            name: "NetwatchCore",
            dependencies: ["ReachabilityCore", "ValidationCore"],
            swiftSettings: linkedSettings
        ),
        .target(
            name: "EventCore",
            dependencies: ["NetwatchCore", "ReachabilityCore", "ValidationCore"],
            swiftSettings: linkedSettings
        ),
        .executableTarget(
            name: "FuzzEventRequest",
            dependencies: ["EventCore", "FuzzSupport"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "FuzzValidationReport",
            dependencies: ["FuzzSupport", "NetwatchCore"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "FuzzQueuedError",
            dependencies: ["FuzzSupport", "ReachabilityCore"],
            swiftSettings: settings
        ),
        .target(name: "MQTTCore", swiftSettings: linkedSettings),
        .executableTarget(name: "FuzzMQTT", dependencies: ["FuzzSupport", "MQTTCore"], swiftSettings: settings),
        .executableTarget(
            name: "FuzzSOCKS",
            dependencies: ["FuzzSupport", "NetworkClientCore"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "FuzzConnect",
            dependencies: ["FuzzSupport", "NetworkClientCore"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "FuzzResponse",
            dependencies: ["FuzzSupport", "NetworkClientCore"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "FuzzEventStream",
            dependencies: ["FuzzSupport", "NetworkClientCore"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "FuzzWebSocket",
            dependencies: ["FuzzSupport", "NetworkClientCore"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "FuzzPartRecord",
            dependencies: ["FuzzSupport", "NetworkClientCore"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "FuzzFileName",
            dependencies: ["FuzzSupport", "NetworkClientCore"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "FuzzURL",
            dependencies: ["FuzzSupport", "NetworkClientCore"],
            swiftSettings: linkedSettings
        ),
        .executableTarget(
            name: "FuzzChallenge",
            dependencies: ["FuzzSupport", "NetworkClientCore"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "FuzzCache",
            dependencies: ["FuzzSupport", "NetworkClientCore"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "FuzzCookie",
            dependencies: ["FuzzSupport", "NetworkClientCore"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "FuzzDate",
            dependencies: ["FuzzSupport", "NetworkClientCore", "RequestGate"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "FuzzContentType",
            dependencies: [
                "FuzzSupport", "HTTPSerialization", .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "FuzzMultipart",
            dependencies: [
                "FuzzSupport", "HTTPSerialization", "NetworkClientCore",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings
        ),
    ]
)
