import EDM
import ODataSandbox
import OfflineStore
import Operations
import SeededRandom
import SyncEngine

/// The changes of the service's metadata in a run, which the seed determines.
struct MetadataSchedule: Sendable {
    /// The percentage of steps before which the service gets other metadata; 0 in most runs.
    let changes: Int
    /// The percentage of steps before which a device reads the metadata again.
    let readings: Int

    /// - Parameter areChanging: Whether the metadata change; nil leaves it to the seed.
    init(_ random: inout SeededRandom, areChanging: Bool?) {
        let drawn = random.chance(15)
        guard areChanging ?? drawn else {
            (changes, readings) = (0, 0)
            return
        }
        changes = [5, 15, 30][random.below(3)]
        readings = [5, 20, 60][random.below(3)]
    }
}

/// A version of the service's metadata. All versions have the sets, keys and relationships of the original.
enum MetadataVersion: String, CaseIterable {
    case original
    /// Each type has another property, before the properties that devices change.
    case withStatus
    /// Each type has two other properties, and there is another set.
    case withStatusAndSpares

    /// Returns a document of the original version as a document of this one.
    func document(_ original: String) -> [UInt8] {
        var document = original
        func add(_ text: String, before place: String) { document.replace(place, with: text + place) }
        if self != .original {
            add("<Property Name=\"Status\" Type=\"Edm.String\"/>\n", before: "<Property Name=\"Mark\"")
        }
        if self == .withStatusAndSpares {
            add("<Property Name=\"Level\" Type=\"Edm.Int32\"/>\n", before: "<Property Name=\"Note\"")
            add(Self.spare, before: "<EntityContainer ")
            add("<EntitySet Name=\"Spares\" EntityType=\"Field.Spare\"/>\n", before: "<EntitySet Name=\"Visits\"")
        }
        return Array(document.utf8)
    }

    private static let spare = """
        <EntityType Name="Spare"><Key><PropertyRef Name="SpareID"/></Key>
        <Property Name="SpareID" Type="Edm.Int32" Nullable="false"/></EntityType>

        """
}

extension Simulation {
    /// Possibly changes the metadata of the service, and lets devices read them.
    func changeMetadata() async {
        if metadataHabits.changes == 0 { return }
        if metadataRandom.chance(metadataHabits.changes), happens(.metadataChange) {
            let version = MetadataVersion.allCases[metadataRandom.below(MetadataVersion.allCases.count)]
            metadataChanges += 1
            addTrace("the metadata change: \(version)")
            service.upgrade(to: version, number: metadataChanges)
        }
        for device in devices where metadataRandom.chance(metadataHabits.readings) {
            await DeviceSync(device: device).readMetadata(in: self)
        }
    }
}

extension SimulatedService {
    /// Changes the metadata. Existing entities get values of the new properties that name the change.
    mutating func upgrade(to version: MetadataVersion, number: Int) {
        do {
            try sandbox.upgrade(
                v4Metadata: version.document(FieldService.v4), v2Metadata: version.document(FieldService.v2),
                values: ["Status": .string("status \(number)"), "Level": .integer(Int64(number))])
        } catch {
            preconditionFailure("The metadata of the simulation cannot be parsed: \(error)")
        }
    }
}

extension DeviceSync {
    /// Reads the metadata again, and approves every change.
    func readMetadata(in run: isolated Simulation) async {
        guard !device.hasCrashed else { return }
        run.addTrace("d\(device.number) reads the metadata")
        do throws(TidelogError) {
            let refresh = try await device.engine.refreshMetadata(
                CompatibilityPolicy(canChangeAnything: true, canRemoveAnything: true))
            run.addTrace(
                "changes: \(refresh.difference.changes.map(\.path)), incompatible: \(refresh.incompatibleOperations.map(\.operation))"
            )
            try await DeviceUser(device: device).refresh()
        } catch {
            failed("reading of the metadata", error, in: run)
        }
    }
}
