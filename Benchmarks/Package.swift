// swift-tools-version: 6.2
import PackageDescription

let strictC: [CSetting] = [.unsafeFlags(["-O2", "-Wall", "-Wextra", "-Werror"])]

/// The benchmarks are a package of their own, so that users of the libraries never fetch or build them.
let package = Package(
    name: "netwatch-benchmarks",
    dependencies: [.package(name: "netwatch", path: "..")],
    targets: [
        .target(name: "CBench", cSettings: strictC),
        .executableTarget(
            name: "latency-driver",
            dependencies: ["CBench"],
            cSettings: strictC
        ),
        .executableTarget(name: "fleet-nodes", cSettings: strictC),
        .executableTarget(
            name: "raw-listener",
            dependencies: ["CBench"],
            cSettings: strictC
        ),
        .executableTarget(
            name: "route-storm",
            dependencies: ["CBench"],
            cSettings: strictC
        ),
        .executableTarget(
            name: "start-driver",
            dependencies: ["CBench"],
            cSettings: strictC
        ),
        .executableTarget(
            name: "overrun-driver",
            dependencies: ["CBench"],
            cSettings: strictC
        ),
        // A link to ReachabilityCore, whose parts are internal to the package netwatch.
        .target(
            name: "MonitorCore",
            swiftSettings: [
                .swiftLanguageMode(.v6), .treatAllWarnings(as: .error), .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"), .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
            ]
        ),
        .executableTarget(
            name: "pipeline",
            dependencies: ["MonitorCore"],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
        ),
        .executableTarget(
            name: "callback-listener",
            dependencies: [.product(name: "Reachability", package: "netwatch")],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
        ),
    ]
)
