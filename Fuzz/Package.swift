// swift-tools-version: 6.2
import PackageDescription

// The fuzz targets are a package of their own: they are built with libFuzzer and the address sanitizer, all of the code
// under test with them. `scripts/fuzz` knows how.

let settings: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
/// As the client is built in its own package.
let clientSettings =
    settings + [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
    ]
let core: Target.Dependency = .product(name: "ReachabilityCore", package: "netwatch")

let package = Package(
    name: "netwatch-fuzz",
    dependencies: [.package(name: "netwatch", path: "..")],
    targets: [
        .systemLibrary(name: "CFuzzer"),
        .target(name: "FuzzSupport", dependencies: ["CFuzzer", core], swiftSettings: settings),
        .executableTarget(name: "FuzzDecoder", dependencies: ["FuzzSupport", core], swiftSettings: settings),
        .executableTarget(name: "FuzzCapture", dependencies: ["FuzzSupport", core], swiftSettings: settings),
        .executableTarget(name: "FuzzModel", dependencies: ["FuzzSupport", core], swiftSettings: settings),
        // A link to NetworkClientCore, which is no product: the client's dependencies need not be built for it.
        .target(name: "ClientCore", dependencies: [core], swiftSettings: clientSettings),
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
