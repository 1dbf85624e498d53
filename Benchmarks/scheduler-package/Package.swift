// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
/// As the targets that are measured are built in their own package.
let linkedSettings =
    settings + [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]

/// The scheduler alone.
///
/// Links lead to the sources of the targets that are measured: their parts are internal to the package netwatch.
let package = Package(
    name: "netwatch-scheduler-benchmarks",
    targets: [
        .target(name: "ReachabilityCore", swiftSettings: linkedSettings),
        .target(name: "NetworkClientCore", dependencies: ["ReachabilityCore"], swiftSettings: linkedSettings),
        .target(
            name: "RequestGate",
            dependencies: ["NetworkClientCore", "ReachabilityCore"],
            swiftSettings: linkedSettings
        ),
        .target(name: "ClientRun", swiftSettings: settings),
        .target(name: "CHeap"),
        .executableTarget(
            name: "scheduler-size",
            dependencies: ["CHeap", "ClientRun", "RequestGate"],
            swiftSettings: settings
        ),
    ]
)
