import Operations
import Testing

@testable import OfflineStore
@testable import SyncCore

struct SnapshotLinksTests {
    private let form = PlainLinkForm(set: "Orders", key: "OrderID")

    @Test func `links that are made when they are read equal the same texts`() {
        let (made, texts) = (SnapshotLinks.plain(form, -5), SnapshotLinks.texts(read: "Orders(-5)", edit: "Orders(-5)"))
        #expect(made.read == "Orders(-5)" && made.edit == "Orders(-5)" && made.hasRead)
        #expect(made == texts)
        #expect(Set([made, texts]).count == 1)
        #expect(made != .plain(form, 5))
    }

    @Test func `the link of an entity that the service does not have contains its ID`() {
        let id = EntityID(rawValue: 12)
        let links = SnapshotLinks.plain(PlainLinkForm(localIn: "Orders"), 12)
        #expect(links == .texts(read: "Orders(\(id))", edit: "Orders(\(id))"))
    }

    @Test func `one link can be changed without the other`() {
        var links = SnapshotLinks.plain(form, 5)
        links.edit = "Others(1)"
        #expect(links.read == "Orders(5)" && links.edit == "Others(1)")
        links.read = nil
        #expect(!links.hasRead && links.edit == "Others(1)")
    }

    @Test func `links with other streams differ, and a changed link keeps the streams`() {
        var links = SnapshotLinks.texts(read: "Orders(5)", edit: nil)
        let plain = links
        links.streams = [StreamLinks(property: "Photo", readLink: "Orders(5)/Photo")]
        #expect(links != plain && links.read == "Orders(5)")
        links.edit = "Others(1)"
        #expect(links.streams.map(\.property) == ["Photo"] && links.edit == "Others(1)")
        links.streams = []
        #expect(links == .texts(read: "Orders(5)", edit: "Others(1)"))
    }
}
