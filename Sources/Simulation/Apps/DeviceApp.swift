import EDM
import OfflineStore
import Operations
import SeededRandom
import Tidelog

/// The app on a device, as far as it uses calls of `DataService` that consist of several intents: drafts of entities,
/// and replacements of links and values.
///
/// It has random numbers of its own, so that a run without these calls does not depend on them.
final class DeviceApp {
    let number: Int
    private let plants: Set<SeededBug>
    var random: SeededRandom
    var drafts = DeviceDrafts()
    var report = AppReport()
    /// The last record of the log when the drafts were last verified.
    private var verified: SequenceNumber = 0

    init(number: Int, seed: UInt64, plants: Set<SeededBug>) {
        self.number = number
        self.plants = plants
        random = SeededRandom(seed: seed)
    }

    /// Returns the findings since the last call of this method.
    func takeReport() -> AppReport {
        defer { report = AppReport() }
        return report
    }

    enum Call {
        case draft
        case replacement
    }

    /// Performs a random call.
    func perform(_ call: Call, _ device: Device, root: String) async {
        do throws(TidelogError) {
            try await verifyDrafts(device)
            let service = DataService(provider: try await StoreProvider(device.store, root: root, plants: plants))
            switch call {
            case .draft: try await workOnDraft(device, service)
            case .replacement: try await replace(device, service)
            }
        } catch {
            switch error.code {
            case .refused, .notFound, .invalidRequest:
                report.refused += 1
                note("refused: \(error.message)")
                await verifyRefusal(device)
            default:
                drafts.isStale = true
                if !device.hasCrashed { violated("a call of DataService fails: \(error)") }
            }
        }
    }

    /// Checks that a refused call has changed no draft.
    private func verifyRefusal(_ device: Device) async {
        do throws(TidelogError) {
            try await verifyDrafts(device)
        } catch {
            drafts.isStale = true
            if !device.hasCrashed { violated("the drafts cannot be read: \(error)") }
        }
    }

    /// Checks that the store contains exactly the drafts that the user made.
    func verifyDrafts(_ device: Device) async throws(TidelogError) {
        guard try await device.store.model.findEntitySet(FieldService.draftSets[0]) != nil else { return }
        let former = verified
        verified = try await device.store.uploads.lastRecord
        let stored = try await DeviceDrafts.stored(in: device.store)
        var (differences, restored) = drafts.compare(stored)
        if !differences.isEmpty, hasReversed(device, since: former) {
            drafts.isStale = true
            (differences, restored) = drafts.compare(stored)
        }
        for difference in differences { violated(difference) }
        count(.restoredDrafts, restored)
    }

    /// Returns whether a conflict was resolved after the record in a way that reverses operations, such as the
    /// activation of a draft.
    private func hasReversed(_ device: Device, since former: SequenceNumber) -> Bool {
        ((try? device.allRecords()) ?? []).contains { sequence, record in
            guard sequence > former, case .conflictResolved(let resolved) = record.body else { return false }
            return !resolved.takenBack.isEmpty
        }
    }

    // MARK: Findings

    func note(_ line: String) { report.lines.append("d\(number) app: \(line)") }

    func violated(_ what: String) { report.violations.append("d\(number) \(what)") }

    func count(_ feature: AppFeature, _ number: Int = 1) { report.counts[feature, default: 0] += number }

    // MARK: Entities

    func any(_ set: String, _ device: Device) -> String? {
        guard let links = device.links[set], !links.isEmpty else { return nil }
        return links[random.below(links.count)]
    }

    func load(_ link: String, _ service: DataService) async throws(TidelogError) -> EntityValue {
        try await service.executeQuery(DataQuery().withURL(link)).requiredEntity()
    }

    static func texts(of entity: EntityValue) -> [String: String] {
        FieldService.texts(PropertyValues(entity.properties.map { ($0.name, $0.value) }))
    }

    func property(_ name: String, of type: String, _ service: DataService) throws(TidelogError) -> Property {
        guard let property = try service.metadata.findEntityType(type)?.findProperty(name) else {
            throw TidelogError(.invalidRequest, "\(type) has no property \(name).")
        }
        return property
    }
}

extension FieldService {
    /// Returns the texts of an entity that are set.
    static func texts(_ values: PropertyValues) -> [String: String] {
        var texts: [String: String] = [:]
        for name in ["Mark"] + Ledger.texts { texts[name] = values[name]?.stringValue }
        return texts
    }
}
