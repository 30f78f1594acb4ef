import ODataSandbox
import TestSupport
import Tidelog

/// Performs the same call without a store, so that only the service checks it.
enum OnlineRun {
    struct Observation: Sendable {
        /// The error of the service, or nil if it performed the call.
        let refusal: String?
        let server: View
    }

    static func observe(_ cell: Cell, on template: Template) async throws -> Observation {
        let transport = template.service()
        let provider = OnlineODataProvider(serviceRoot: template.version.root, transport: transport)
        let service = DataService(provider: provider)
        try await service.loadMetadata()
        let calls = CallRun(service, template.combination)
        try await calls.load(cell.call)
        var refusal: String?
        do {
            try await calls.perform(cell.call)
        } catch let error as TidelogError {
            refusal = "\(error)"
        }
        return Observation(
            refusal: refusal, server: View(transport.sandbox, template.combination) { label(set: $0, key: $1, cell) })
    }

    /// Returns the label for a key. The service assigns ascending keys, so new entities have keys in the order of their
    /// letters.
    private static func label(set: String, key: String, _ cell: Cell) -> String {
        let new = Set(cell.call.names.filter { $0.set == set && $0.isNew }.map(\.label)).sorted()
        let index = (Int(key) ?? 0) - 1 - (Self.seeded[set] ?? 0)
        return new.indices.contains(index) ? new[index] : key
    }

    /// The number of entities in each set of the service at the start.
    private static let seeded = [
        "Persons": 2, "IDCards": 2, "Cities": 3, "Mayors": 2, "Owners": 2, "Cars": 2, "Fathers": 3, "Children": 3,
        "Customers": 3, "Orders": 4, "Suppliers": 2, "Products": 3,
    ]
}
