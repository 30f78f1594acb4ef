import EDM
import Operations
import SyncCore
import Testing

@testable import OfflineStore

struct EntitySnapshotTests {
    private func snapshot(
        _ id: UInt64 = 7, name: String = "a", origin: EntityRow.Origin = .service, downloaded: SequenceNumber = 1
    ) -> EntitySnapshot {
        let row = EntityRow(
            id: EntityID(rawValue: id), set: "Orders", type: "S.Order", values: ["Name": .string(name)],
            origin: origin, downloaded: downloaded)
        return EntitySnapshot(row, .texts(read: "Orders(1)", edit: nil), .clean)
    }

    @Test func `snapshots are equal if the app sees no difference`() {
        let one = snapshot()
        #expect(one == snapshot(downloaded: 2) && one == snapshot(origin: .serviceWithStaleETag))
        #expect(Set([one, snapshot(downloaded: 2)]).count == 1)
        #expect(one != snapshot(8) && one != snapshot(name: "b") && one != snapshot(origin: .local))
        var changed = one
        changed.etag = "1"
        #expect(changed != one)
        changed = one
        changed.links.streams = [StreamLinks(property: "Photo", readLink: "Orders(1)/Photo")]
        #expect(changed != one)
        changed = one
        changed.isFromLocalRelationship = true
        #expect(changed != one)
    }

    @Test func `an entity that was read from a service has no ID`() {
        let read = EntitySnapshot(set: "Orders", type: "S.Order", values: [:], readLink: "Orders(1)", editLink: "")
        #expect(read.entityID == nil && !read.isCreated && !read.isLocal)
        #expect(snapshot().entityID == EntityID(rawValue: 7) && snapshot(origin: .local).isCreated)
    }
}
