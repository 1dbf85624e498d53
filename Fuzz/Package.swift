// swift-tools-version: 6.2
import PackageDescription

// The fuzz targets are a package of their own: they are built with libFuzzer and the address sanitizer, all of the code
// under test with them. `scripts/fuzz` knows how. Links lead to the sources of the targets under test: what is internal to
// the package netwatch can be reached from here, and the client's dependencies need not be built.

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
        .target(name: "ClientCore", dependencies: ["ReachabilityCore"], swiftSettings: linkedSettings),
        .executableTarget(name: "FuzzSOCKS", dependencies: ["FuzzSupport", "ClientCore"], swiftSettings: settings),
        .executableTarget(name: "FuzzConnect", dependencies: ["FuzzSupport", "ClientCore"], swiftSettings: settings),
        .executableTarget(name: "FuzzResponse", dependencies: ["FuzzSupport", "ClientCore"], swiftSettings: settings),
        .executableTarget(
            name: "FuzzPartRecord",
            dependencies: ["FuzzSupport", "ClientCore"],
            swiftSettings: settings
        ),
    ]
)
