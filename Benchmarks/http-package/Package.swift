// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

/// The HTTP clients side by side; apart from the other benchmarks, which need none of these packages.
let package = Package(
    name: "netwatch-http-benchmarks",
    dependencies: [
        .package(name: "netwatch", path: "../.."),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    ],
    targets: [
        .target(name: "ClientRun", swiftSettings: settings),
        .executableTarget(
            name: "session-client",
            dependencies: ["ClientRun", .product(name: "NetworkClient", package: "netwatch")],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "transfer-client",
            dependencies: [.product(name: "NetworkClient", package: "netwatch")],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "cache-client",
            dependencies: [.product(name: "NetworkClient", package: "netwatch")],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "websocket-client",
            dependencies: [.product(name: "NetworkClient", package: "netwatch")],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "outbox-client",
            dependencies: [
                .product(name: "NetworkClient", package: "netwatch"), .product(name: "Outbox", package: "netwatch"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "ahc-client",
            dependencies: [
                "ClientRun", .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "nio-client",
            dependencies: [
                "ClientRun",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "release-client",
            dependencies: [
                "ClientRun", .product(name: "NetworkClient", package: "netwatch"),
                .product(name: "Reachability", package: "netwatch"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "return-client",
            dependencies: [
                "ClientRun", .product(name: "NetworkClient", package: "netwatch"),
                .product(name: "Reachability", package: "netwatch"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "gate-cost",
            dependencies: [
                "ClientRun", .product(name: "NetworkClient", package: "netwatch"),
                .product(name: "Reachability", package: "netwatch"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(name: "urlsession-client", dependencies: ["ClientRun"], swiftSettings: settings),
    ]
)
