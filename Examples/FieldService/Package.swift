// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "FieldService",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [.library(name: "FieldService", targets: ["FieldService"])],
    // On iOS: traits: ["BundledZstd"].
    dependencies: [.package(name: "tidelog", path: "../..", traits: [])],
    targets: [
        .target(
            name: "FieldService",
            dependencies: [.product(name: "Tidelog", package: "tidelog")],
            plugins: [.plugin(name: "TidelogProxies", package: "tidelog")]),
        .executableTarget(name: "field-service", dependencies: ["FieldService"]),
    ]
)
