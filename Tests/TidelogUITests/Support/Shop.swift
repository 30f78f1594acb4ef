import ODataSandbox
import Observation
import ShopService
import Synchronization
import TestSupport
import Tidelog

/// A store with the entities of the Shop.
@MainActor final class Shop {
    let provider: OfflineODataProvider
    let service: ShopService
    private let directory = TemporaryDirectory()

    init() async throws {
        var sandbox = try Sandbox.shop()
        sandbox.origin = "http://shop.test"
        provider = OfflineODataProvider(
            serviceRoot: "http://shop.test/v4/",
            parameters: OfflineODataParameters(
                storePath: directory.path, transport: SandboxTransport(sandbox), durability: .none))
        for name in ["Customers", "Orders"] {
            try await provider.add(definingQuery: OfflineODataDefiningQuery(name: name, query: "/\(name)"))
        }
        try await provider.open()
        try await provider.download()
        service = ShopService(provider: provider)
    }
}

/// Waits until a condition on observable objects holds. The time limit of the suite ends a wait without end.
@MainActor func changes(_ condition: @escaping @MainActor () -> Bool) async {
    while true {
        let (stream, signal) = AsyncStream<Void>.makeStream()
        let holds = withObservationTracking(condition) { signal.finish() }
        if holds { return }
        for await _ in stream {}
    }
}

/// A flag that any thread can set.
final class Flag: Sendable {
    private let state = Mutex(false)
    var isSet: Bool { state.withLock { $0 } }
    func set() { state.withLock { $0 = true } }
}
