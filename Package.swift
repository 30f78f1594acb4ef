// swift-tools-version: 6.2
import PackageDescription

/// Set in CI, so that a warning fails the build. The build of a user never fails because of a warning of a newer
/// compiler.
let strict = Context.environment["TIDELOG_STRICT"] == "1"

let settings: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ] + (strict ? [.treatAllWarnings(as: .error)] : [])

/// Tests are not optimized in release builds: that would take minutes, and the time is spent in the tested modules. Only in
/// this project's own builds, because a package with unsafe flags cannot be a dependency.
let testSettings: [SwiftSetting] = settings + (strict ? [.unsafeFlags(["-Onone"], .when(configuration: .release))] : [])

/// Returns a library target. `embedded` are files whose bytes are compiled into it, as `PackageResources`.
func layer(_ name: String, _ dependencies: [Target.Dependency], embedded: [String] = []) -> Target {
    .target(
        name: name, dependencies: dependencies, resources: embedded.map { .embedInCode($0) }, swiftSettings: settings)
}

/// Returns a program. `folder` differs from `name` if a target cannot have the name of its product: `Tidelog` and
/// `tidelog` would be the same build folder on a file system that ignores case.
func tool(_ name: String, folder: String? = nil, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: "Tools/\(folder ?? name)", swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: testSettings)
}

/// Returns a target with code for several test targets. In no product.
func support(
    _ name: String, folder: String? = nil, _ dependencies: [Target.Dependency], plugins: [Target.PluginUsage] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Tests/\(folder ?? name)", swiftSettings: testSettings,
        plugins: plugins)
}

/// Returns a program that tests start. In no product.
func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, path: "Tests/\(name)", swiftSettings: settings)
}

/// Set by `Tools/fuzz`. Otherwise the fuzzer is not built.
let fuzzing = Context.environment["TIDELOG_FUZZ"] == "1"

let fuzzer: [Target] =
    fuzzing
    ? [
        .target(name: "CLibFuzzer", path: "Tools/fuzzing/CLibFuzzer"),
        .executableTarget(
            name: "tidelog-fuzz", dependencies: ["FuzzTargets", "CLibFuzzer"], path: "Tools/fuzzing/program",
            swiftSettings: settings),
    ] : []

let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
/// Dictionaries whose copies share their contents.
let hashTrees: Target.Dependency = .product(name: "HashTreeCollections", package: "swift-collections")
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")

/// The HTTP server of the programs. A package that disables the trait does not resolve swift-nio.
let nioCore: Target.Dependency = .product(
    name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Servers"]))
let nioHTTP1: Target.Dependency = .product(
    name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["Servers"]))
let nioPosix: Target.Dependency = .product(
    name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Servers"]))

/// zstd of the system, or built from source. Only macOS (Homebrew) and Linux have the first.
let systemZstd: Target.Dependency = .target(name: "CZstd", condition: .when(platforms: [.macOS, .linux]))
let bundledZstd: Target.Dependency = .product(
    name: "libzstd", package: "zstd", condition: .when(traits: ["BundledZstd"]))

let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let metrics: Target.Dependency = .product(name: "Metrics", package: "swift-metrics")

let package = Package(
    name: "tidelog",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Tidelog", targets: ["Tidelog"]),
        .library(name: "TidelogFoundation", targets: ["TidelogFoundation"]),
        .library(name: "TidelogUI", targets: ["TidelogUI"]),
        .library(name: "TidelogTesting", targets: ["TidelogTesting"]),
        .library(name: "ODataSandbox", targets: ["ODataSandbox"]),
        .library(name: "LogInspection", targets: ["LogInspection", "ServiceReplay"]),
        .executable(name: "tidelog", targets: ["tidelog-cli"]),
        .executable(name: "odata-sandbox", targets: ["odata-sandbox"]),
        .executable(name: "tidelog-gateway", targets: ["tidelog-gateway"]),
        .executable(name: "tidelog-proxygen", targets: ["tidelog-proxygen"]),
        .plugin(name: "TidelogProxies", targets: ["TidelogProxies"]),
        .plugin(name: "GenerateProxies", targets: ["GenerateProxies"]),
    ],
    traits: [
        .trait(
            name: "Servers",
            description: "Builds the programs odata-sandbox and tidelog-gateway, which need swift-nio."),
        .trait(
            name: "BundledZstd",
            description:
                "Builds zstd from source, for platforms without it: iOS, tvOS, watchOS, visionOS."),
        // For work on this package. Apps disable it with `traits: []`.
        .default(enabledTraits: ["Servers"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-crypto", "3.12.3"..<"5.0.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/facebook/zstd", from: "1.5.6"),
    ],
    targets: [
        // C
        .systemLibrary(
            name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
        .systemLibrary(
            name: "CLibXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"]), .brew(["libxml2"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        .target(name: "CCurl"),
        .target(name: "CPlatform"),
        .target(name: "CPostgres"),
        .target(name: "CBench", path: "Tools/CBench"),

        // Pure: no I/O, no clock, no randomness, no await
        layer("EDM", ["CLibXML2"]),
        layer("Operations", ["EDM"]),
        layer("ODataQuery", ["EDM"]),
        layer("ODataWire", ["EDM", "ODataQuery"]),
        layer("ProxyGenerator", ["EDM"]),
        layer("SyncCore", ["EDM", "Operations", "ODataQuery", "ODataWire"]),
        layer("GatewayCore", ["EDM", "ODataQuery", "ODataWire"]),

        // With I/O
        layer("OperationLog", [systemZstd, bundledZstd, "CPlatform", crypto]),
        layer("Views", ["CSQLite", "CPlatform", "EDM", "Operations", "ODataQuery", "SyncCore", crypto]),
        layer("Transport", ["CCurl", httpTypes]),
        layer(
            "OfflineStore",
            ["EDM", "Operations", "ODataQuery", "ODataWire", "SyncCore", "OperationLog", "Views", crypto]),
        layer(
            "SyncEngine",
            [
                "EDM", "Operations", "ODataQuery", "ODataWire", "SyncCore", "Views", "OfflineStore", "Transport",
                crypto, httpTypes,
            ]),
        layer(
            "LogInspection",
            [
                "CZlib", "EDM", "Operations", "ODataQuery", "ODataWire", "SyncCore", "OperationLog", "Views",
                "OfflineStore",
            ],
            embedded: ["data.js", "lists.js", "details.js", "timeline.js", "panels.js", "start.js", "style.css"].map {
                "Report/Page/" + $0
            }),
        layer(
            "ServiceReplay",
            [
                "EDM", "Operations", "SyncCore", "OperationLog", "OfflineStore", "SyncEngine", "Transport",
                "LogInspection",
            ]),
        layer(
            "Tidelog",
            [
                "EDM", "Operations", "ODataQuery", "ODataWire", "SyncCore", "OperationLog", "Views", "Transport",
                "OfflineStore",
                "SyncEngine",
                logging, metrics,
            ]),
        layer("TidelogFoundation", ["Tidelog"]),
        layer("TidelogUI", ["Tidelog"]),
        layer("ODataSandbox", ["EDM", "ODataQuery", "ODataWire", hashTrees]),
        layer("TidelogTesting", ["ODataSandbox", "ODataWire", "EDM", "Transport", httpTypes]),
        layer(
            "Gateway",
            [
                "CPostgres", "GatewayCore", "ODataQuery", "ODataWire", "Views", "Transport", crypto, httpTypes, logging,
                nioPosix, nioHTTP1, nioCore,
            ]),

        // Simulation: in no product
        layer("SeededRandom", []),
        layer("DiskSimulation", ["CSQLite", "OperationLog"]),
        layer(
            "Simulation",
            [
                "CPlatform", "EDM", "Operations", "ODataQuery", "ODataWire", "SyncCore", "OperationLog", "Transport",
                "OfflineStore",
                "SyncEngine",
                "Tidelog", "ODataSandbox", "DiskSimulation", "SeededRandom", "Gateway", "GatewayCore", httpTypes,
                logging,
            ]),

        // Tools
        tool(
            "tidelog-cli", folder: "tidelog",
            [
                "Tidelog", "OfflineStore", "SyncEngine", "LogInspection", "ServiceReplay", "OperationLog", "SyncCore",
                "Operations",
                "ODataQuery", "ODataWire", "EDM",
                argumentParser,
            ]),
        tool(
            "odata-sandbox",
            [
                "ODataSandbox", "ODataWire", "EDM", argumentParser,
                nioPosix, nioHTTP1, nioCore,
            ]),
        tool("tidelog-gateway", ["Gateway", "GatewayCore", argumentParser]),
        tool("tidelog-proxygen", ["ProxyGenerator", "Transport", httpTypes, argumentParser]),
        .plugin(name: "TidelogProxies", capability: .buildTool(), dependencies: ["tidelog-proxygen"]),
        .plugin(
            name: "GenerateProxies",
            capability: .command(
                intent: .custom(
                    verb: "generate-odata-proxies",
                    description: "Generate Swift classes from the metadata of an OData service."),
                permissions: [.writeToPackageDirectory(reason: "The generated sources are written to it.")]),
            dependencies: ["tidelog-proxygen"]),
        tool("tidelog-simulate", ["Simulation", argumentParser]),
        tool("tidelog-endure", ["Tidelog", argumentParser]),
        tool(
            "tidelog-bench",
            [
                "Tidelog", "ProxyGenerator", "LogInspection", "OfflineStore", "SyncEngine", "Transport", "Views",
                "SyncCore",
                "ODataWire", "OperationLog", "Operations", "EDM", "SeededRandom", "CBench", "CZstd", "CSQLite",
                httpTypes, argumentParser,
            ]),

        // Tests
        support("TestSupport", ["ODataSandbox", "ODataWire", "EDM", "Transport", httpTypes]),
        tests("EDMTests", ["EDM", "SeededRandom"]),
        tests("OperationsTests", ["Operations", "EDM", "SeededRandom"]),
        // Corpora next to the checkout.
        support("ConformanceCorpora", ["EDM"]),
        tests("ODataQueryTests", ["ODataQuery", "EDM", "ConformanceCorpora", "SeededRandom"]),
        tests("ODataWireTests", ["ODataWire", "ODataQuery", "EDM", "ConformanceCorpora", "SeededRandom"]),
        tests("SyncCoreTests", ["SyncCore", "Operations", "ODataWire", "EDM", "SeededRandom"]),
        tests(
            "SequenceTests",
            ["SyncCore", "Operations", "ODataQuery", "ODataWire", "ODataSandbox", "EDM", "SeededRandom"]),
        support(
            "FuzzTargets",
            [
                "OfflineStore", "OperationLog", "GatewayCore", "SyncCore", "ODataQuery", "ODataWire", "Operations",
                "EDM", "CPlatform",
            ]),
        program("LogWriter", ["OperationLog"]),
        tests("OperationLogTests", ["OperationLog", "DiskSimulation", "SeededRandom", "LogWriter"]),
        tests(
            "LogInspectionTests",
            [
                "LogInspection", "Simulation", "DiskSimulation", "SeededRandom", "OfflineStore", "SyncEngine",
                "OperationLog", "SyncCore",
                "ODataSandbox",
                "ODataQuery", "ODataWire", "Operations", "EDM", "TestSupport",
            ]),
        tests(
            "ViewsTests",
            [
                "Views", "SyncCore", "Operations", "ODataQuery", "EDM", "OperationLog", "DiskSimulation",
                "SeededRandom",
                "CSQLite",
            ]),
        tests(
            "SyncEngineTests",
            [
                "OfflineStore", "SyncEngine", "SyncCore", "Views", "OperationLog", "DiskSimulation", "SeededRandom",
                "Transport", "Operations",
                "ODataSandbox", "ODataQuery", "ODataWire", "EDM", "TestSupport", httpTypes,
            ]),
        tests("SimulationTests", ["Simulation", "SyncCore", "Operations"]),
        tests(
            "CommandLineTests",
            [
                "tidelog-cli", "odata-sandbox", "tidelog-simulate", "OfflineStore", "SyncEngine", "Operations", "EDM",
                "SeededRandom", "TestSupport", argumentParser,
            ]),
        tests("TransportTests", ["Transport", "SeededRandom", "TestSupport", httpTypes]),
        tests("ConnectionTests", ["Transport", "TestSupport", httpTypes]),
        tests(
            "GatewayTests",
            [
                "Gateway", "GatewayCore", "OfflineStore", "SyncEngine", "SyncCore", "OperationLog", "Transport",
                "Operations",
                "ODataWire",
                "EDM", "Views", "SeededRandom", "TestSupport", httpTypes, "odata-sandbox", "tidelog-gateway",
            ]),
        tests(
            "ODataSandboxTests",
            ["ODataSandbox", "ODataQuery", "ODataWire", "EDM", "SeededRandom", "TestSupport", "odata-sandbox"]),
        tests(
            "FaultMatrixTests",
            [
                "Tidelog", "OfflineStore", "SyncEngine", "SyncCore", "OperationLog", "Transport", "Operations",
                "ODataWire", "EDM",
                "TestSupport", httpTypes, "odata-sandbox",
            ]),
        tests("InteropTests", ["Tidelog", "EDM", "Transport", "TestSupport", httpTypes, "tidelog-gateway"]),
        tests(
            "TidelogTests",
            [
                "Tidelog", "EDM", "ODataQuery", "ODataWire", "ODataSandbox", "Transport", "SeededRandom", "TestSupport",
                httpTypes,
                logging, metrics,
            ]),
        tests(
            "TidelogFoundationTests",
            ["TidelogFoundation", "Tidelog", "ShopService", "ODataSandbox", "SeededRandom", "TestSupport"]),
        tests("TidelogTestingTests", ["TidelogTesting", "Tidelog", "ODataSandbox", "TestSupport"]),
        tests("TidelogUITests", ["TidelogUI", "Tidelog", "ShopService", "ODataSandbox", "TestSupport"]),
        tests(
            "RelationshipTests",
            [
                "Tidelog", "OfflineStore", "SyncEngine", "SyncCore", "ODataSandbox", "ODataWire", "EDM", "Transport",
                "TestSupport",
            ]),
        tests("RelationTests", ["Tidelog", "ODataSandbox", "TestSupport", logging]),
        support("ShopService", folder: "SampleServices/Shop", ["Tidelog"]),
        support("EventService", folder: "SampleServices/Events", ["Tidelog"]),
        support("NorthwindService", folder: "SampleServices/Northwind", ["Tidelog"]),
        tests(
            "SeedSampleTests",
            [
                "ShopService", "EventService", "NorthwindService", "Tidelog", "OperationLog", "Operations",
                "ProxyGenerator",
                "ODataSandbox",
                "ODataWire", "TestSupport", logging,
            ], exclude: ["Metadata"]),
        tests("FuzzCorpusTests", ["FuzzTargets", "SeededRandom"]),
        tests("ArchitectureTests", []),
        // Compiles expressions and mistakes with these modules.
        tests("CompilerTests", ["TidelogUI", "TidelogFoundation", "Tidelog", "TestSupport"]),
        // Compiles the code samples of the articles with these modules.
        tests(
            "DocumentationTests",
            [
                "ShopService", "TidelogUI", "TidelogTesting", "TidelogFoundation", "Tidelog", "ODataSandbox",
                "LogInspection", "TestSupport",
            ]),
        // A separate target, because the tool of a test target's plugin would be linked into the tests a second time.
        support("LibraryService", folder: "SampleServices/Library", ["Tidelog"], plugins: ["TidelogProxies"]),
        tests("ProxyPluginTests", ["LibraryService", "Tidelog"]),
        support(
            "FieldService", folder: "../Examples/FieldService/Sources/FieldService", ["Tidelog"],
            plugins: ["TidelogProxies"]),
        tests("ExampleTests", ["FieldService", "TidelogTesting", "Tidelog", "TestSupport"]),
        tests(
            "ProxyGeneratorTests",
            [
                "ProxyGenerator", "Tidelog", "OfflineStore", "SyncEngine", "Transport", "ODataSandbox",
                "EDM",
                "TestSupport", httpTypes, logging,
                "tidelog-proxygen",
            ]),
    ] + fuzzer,
    swiftLanguageModes: [.v6]
)

// The programs of `Tools/bench` and `Tools/endure` are built only by these, so that a build of the project does not
// compile them.
if Context.environment["TIDELOG_BENCH"] != "1" {
    package.targets.removeAll { ["tidelog-bench", "CBench"].contains($0.name) }
}
if Context.environment["TIDELOG_ENDURE"] != "1" {
    package.targets.removeAll { $0.name == "tidelog-endure" }
}

/// `TIDELOG_TESTS=EDMTests,ViewsTests swift test` builds only these targets and their dependencies, for work on one
/// layer. CI builds everything.
if let chosen = Context.environment["TIDELOG_TESTS"] {
    let targets = Dictionary(package.targets.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    var kept: Set<String> = []
    func keep(_ name: String) {
        guard let target = targets[name], kept.insert(name).inserted else { return }
        for dependency in target.dependencies {
            switch dependency {
            case .byNameItem(let name, _), .targetItem(let name, _): keep(name)
            default: break
            }
        }
        for case .plugin(let name, _) in target.plugins ?? [] { keep(name) }
    }
    for name in chosen.split(separator: ",") { keep(String(name)) }
    package.targets.removeAll { !kept.contains($0.name) }
    package.products.removeAll { product in
        switch product {
        case let library as Product.Library: !library.targets.allSatisfy(kept.contains)
        case let executable as Product.Executable: !executable.targets.allSatisfy(kept.contains)
        case let plugin as Product.Plugin: !plugin.targets.allSatisfy(kept.contains)
        default: false
        }
    }
}
