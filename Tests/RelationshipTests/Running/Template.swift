import Foundation
import ODataSandbox
import TestSupport
import Tidelog

/// A store with the two downloaded sets of a combination, created once. Each cell uses a copy of it and of the service.
struct Template: Sendable {
    let combination: Combination
    let version: Wanted.Version
    private let directory: TemporaryDirectory
    private let sandbox: Sandbox

    init(_ combination: Combination, _ version: Wanted.Version) async throws {
        self.combination = combination
        self.version = version
        directory = TemporaryDirectory()
        var shop = try Sandbox.shop()
        shop.origin = "http://shop.test"
        let transport = SandboxTransport(shop)
        let provider = Self.provider(directory.path, version, transport)
        for end in [combination.first, combination.second] {
            // A relationship without a referential constraint is only returned if it is expanded.
            let isPlain = combination.first.constraint != nil || combination.second.constraint != nil
            try await provider.add(
                definingQuery: OfflineODataDefiningQuery(
                    name: end.set, query: isPlain ? end.set : "\(end.set)?$expand=\(end.navigation)"))
        }
        try await provider.open()
        try await provider.download()
        await provider.close()
        sandbox = transport.sandbox
    }

    private static func provider(
        _ path: String, _ version: Wanted.Version, _ transport: SandboxTransport
    ) -> OfflineODataProvider {
        OfflineODataProvider(
            serviceRoot: version.root,
            parameters: OfflineODataParameters(storePath: path, transport: transport, durability: .none))
    }

    /// Returns a copy of the service in its initial state.
    func service() -> SandboxTransport { SandboxTransport(sandbox) }

    /// Runs `body` with a store and a service in their initial states.
    func withCopy<Result>(_ body: (OfflineODataProvider, SandboxTransport, String) async throws -> Result) async throws
        -> Result
    {
        let copy = TemporaryDirectory()
        let path = copy.path + "/store"
        try FileManager.default.copyItem(atPath: directory.path, toPath: path)
        let transport = SandboxTransport(sandbox)
        let provider = Self.provider(path, version, transport)
        try await provider.open()
        let result = try await body(provider, transport, path)
        await provider.close()
        return result
    }
}
