import ODataSandbox
import TestSupport
import Tidelog

/// The same call without a store in between, so that the service alone judges it.
enum OnlineRun {
    struct Observation: Sendable {
        /// nil where the service did it.
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

    /// The service counts keys up from the last that it has given: new entities have theirs in the order of their letters.
    private static func label(set: String, key: String, _ cell: Cell) -> String {
        let new = Set(cell.call.names.filter { $0.set == set && $0.isNew }.map(\.label)).sorted()
        let index = (Int(key) ?? 0) - 1 - (Self.seeded[set] ?? 0)
        return new.indices.contains(index) ? new[index] : key
    }

    /// How many entities of a set the service begins with.
    private static let seeded = [
        "Persons": 2, "IDCards": 2, "Cities": 3, "Mayors": 2, "Owners": 2, "Cars": 2, "Fathers": 3, "Children": 3,
        "Customers": 3, "Orders": 4, "Suppliers": 2, "Products": 3,
    ]
}
