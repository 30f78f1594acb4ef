import EDM
import OfflineStore

/// Verifies that a download removes no entity from a store that the service has all the time.
///
/// The shared feeds of a gateway may be older than the service. They must contain the entities that the device has
/// downloaded or uploaded.
struct MissingFeedEntities {
    /// The marks in the store before the download.
    private let shown: Set<String>
    /// The marks at the service before the download.
    private let present: Set<String>
    private let interruptions: Int

    init?(_ device: Device, in run: isolated Simulation) async {
        guard run.gateway != nil, let shown = await Self.marks(device, in: run) else { return nil }
        self.shown = shown
        present = run.service.ledger.present
        interruptions = run.interruptions
    }

    func verify(_ device: Device, in run: isolated Simulation) async {
        // The app may have deleted entities meanwhile.
        guard interruptions == run.interruptions, let left = await Self.marks(device, in: run) else { return }
        let lost = shown.subtracting(left).intersection(present).intersection(run.service.ledger.present)
        if !lost.isEmpty {
            run.violated("d\(device.number): a download removed entities that the service has: \(lost.sorted())")
        }
    }

    private static func marks(_ device: Device, in run: isolated Simulation) async -> Set<String>? {
        var marks: Set<String> = []
        for set in FieldService.sets where !run.habits.removedSets.contains(set) {
            guard let entities = try? await device.store.query(set).entities else { return nil }
            marks.formUnion(entities.compactMap { $0.values["Mark"]?.stringValue })
        }
        return marks
    }
}
