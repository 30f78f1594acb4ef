import Testing

/// Comparison of the layer table in `Docs/Architecture.md` with the sources and the manifest.
@Suite struct ArchitectureTests {
    private let table: LayerTable
    private let manifest: PackageManifest

    init() throws {
        table = LayerTable(try PackageSources.text("Docs/Architecture.md"))
        manifest = PackageManifest(try PackageSources.text("Package.swift"))
    }

    /// Modules of the system and of Swift, which the table does not list. Pure layers do not import them.
    private let systemModules: Set<String> = [
        "Foundation", "FoundationEssentials", "FoundationNetworking", "Dispatch", "Synchronization", "Glibc", "Musl",
        "Darwin", "Android", "Observation", "SwiftUI", "Network", "Security",
    ]

    private func target(_ name: String) throws -> PackageManifest.Target {
        try #require(manifest.targets.first { $0.name == name }, "Package.swift has no target \(name)")
    }

    @Test func `the table and the manifest have the same targets`() {
        #expect(Set(table.layers.map(\.target)) == Set(manifest.targets.map(\.name)))
    }

    @Test func `every folder of Sources is a target of the manifest`() throws {
        let declared = manifest.targets.filter { $0.path.hasPrefix("Sources/") }.map(\.name)
        #expect(try PackageSources.folders() == Set(declared))
    }

    @Test func `each layer depends only on lower layers`() {
        let rows = Dictionary(uniqueKeysWithValues: table.layers.map { ($0.target, $0.row) })
        for layer in table.layers {
            for other in layer.dependencies {
                guard let row = rows[other] else { continue }
                #expect(row > layer.row, "\(layer.target) depends on \(other), which is not below it")
            }
        }
    }

    @Test func `each layer imports exactly the modules in the table`() throws {
        for layer in table.layers {
            let imports = try PackageSources.imports(of: try target(layer.target)).subtracting(systemModules)
            #expect(imports == layer.dependencies, "imports of \(layer.target)")
        }
    }

    @Test func `each layer's dependencies in the manifest equal those in the table`() throws {
        for layer in table.layers {
            #expect(try target(layer.target).dependencies == layer.dependencies, "dependencies of \(layer.target)")
        }
    }

    @Test func `pure layers import no system module`() throws {
        let pure = table.layers.filter(\.isPure)
        #expect(!pure.isEmpty)
        for layer in pure {
            let imports = try PackageSources.imports(of: try target(layer.target))
            #expect(imports.isDisjoint(with: systemModules), "imports of \(layer.target)")
        }
    }

    @Test func `pure layers depend only on pure layers and C targets`() {
        let shell = Set(table.layers.filter { !$0.isPure && !$0.target.hasPrefix("C") }.map(\.target))
        for layer in table.layers where layer.isPure {
            #expect(layer.dependencies.isDisjoint(with: shell), "\(layer.target) depends on a layer above the line")
        }
    }

    // MARK: Tests of the readers

    @Test func `the reader of the table returns targets, dividers and dependencies`() {
        let table = LayerTable(
            """
            | a | b | c |

            | target | contains | depends on |
            |---|---|---|
            | `Top` | words with `Code` | `Low`, `Other` |
            | *pure below* | | |
            | `Low` | words | |

            | `After` | the table | `Top` |
            """)
        #expect(table.layers.map(\.target) == ["Top", "Low"])
        #expect(table.layers.map(\.dependencies) == [["Low", "Other"], []])
        #expect(table.layers.map(\.isPure) == [false, true])
    }

    @Test func `the reader of the manifest returns names, constants and products`() {
        let manifest = PackageManifest(
            """
            let http: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
                targets: [
                    .systemLibrary(
                        name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
                    .target(name: "CCurl"),
                    .target(name: "CBench", path: "Tools/CBench"),
                    layer("Transport", ["CCurl", http]),
                    tool(
                        "tidelog-cli", folder: "tidelog",
                        ["Transport", .product(name: "NIOCore", package: "swift-nio")]),
                ]
            """)
        #expect(manifest.targets.map(\.name) == ["CZstd", "CCurl", "CBench", "Transport", "tidelog-cli"])
        #expect(
            manifest.targets.map(\.path) == [
                "Sources/CZstd", "Sources/CCurl", "Tools/CBench", "Sources/Transport", "Tools/tidelog",
            ])
        #expect(
            manifest.targets.map(\.dependencies) == [[], [], [], ["CCurl", "HTTPTypes"], ["Transport", "NIOCore"]])
    }
}
