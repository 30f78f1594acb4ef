import TestSupport
import Testing

#if os(macOS) || os(Linux)
    /// The packages that the package manager resolves for an app with this package as a dependency.
    @Suite(.enabled(if: SwiftCompiler.path != nil, "skipped: there is no compiler"), .timeLimit(.minutes(10)))
    struct PackageResolutionTests {
        /// The packages of the library and of the generator of classes.
        private let library = [
            "swift-argument-parser", "swift-asn1", "swift-crypto", "swift-http-types", "swift-log", "swift-metrics",
        ]

        private func app(traits: String) throws -> AppPackage {
            let manifest = try AppPackage.readmeManifest()
            #expect(manifest.contains(", traits: [])"), "the manifest in the README disables the trait Servers")
            return try #require(try AppPackage(manifest.replacing(", traits: [])", with: "\(traits))")))
        }

        @Test func `an app with the manifest of the README resolves neither swift-nio nor zstd`() throws {
            #expect(try app(traits: ", traits: []").resolvedPackages() == library)
        }

        @Test func `an app that does not disable the trait Servers also resolves swift-nio`() throws {
            let resolved = try app(traits: "").resolvedPackages()
            #expect(resolved.contains("swift-nio"))
            #expect(!resolved.contains("zstd"))
        }

        @Test func `an app with the trait BundledZstd also resolves zstd`() throws {
            let app = try app(traits: ", traits: [\"BundledZstd\"]")
            // Any package with the product shows this without a network.
            try app.replace("https://github.com/facebook/zstd", by: "libzstd", version: "1.5.7")
            #expect(try app.resolvedPackages() == library + ["zstd"])
        }
    }
#endif
