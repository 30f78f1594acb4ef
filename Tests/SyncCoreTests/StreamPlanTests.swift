import EDM
import ODataWire
import Operations
import SyncCore
import Testing

/// ETags of requests that write streams.
@Suite struct StreamPlanTests {
    let store: TestStore
    let order: EntityID

    init() throws { (store, order) = try Self.store() }

    private static func store(annotation: String = "") throws -> (TestStore, EntityID) {
        let note = #"<Property Name="Note" Type="Edm.String"/>"#
        let set = #"<EntitySet Name="Orders" EntityType="Shop.Order">"#
        let text = TestModel.metadata.replacing(note, with: note + #"<Property Name="Scan" Type="Edm.Stream"/>"#)
            .replacing(set, with: set + annotation)
        let store = try TestStore(ServiceDescription(root: TestModel.service.root, metadata: Array(text.utf8)))
        return (store, try store.download("Orders", ["OrderID": .integer(1)], etag: "\"entity\""))
    }

    private func write(_ store: TestStore, _ order: EntityID) throws -> UploadPlan {
        let digest = try #require(StreamDigest([UInt8](repeating: 7, count: StreamDigest.length)))
        let content = StreamContent(digest: digest, byteCount: 1, mediaType: "image/png")
        store.attributes = { $0.stream = StreamWrite(property: "Scan", content: content) }
        try store.perform([.update(order, changes: [:], bindings: [])])
        return try store.plan()
    }

    private func image(etag: String? = nil, reported: String?) -> StreamImage {
        StreamImage(
            entity: order, property: "Scan", content: nil, etag: etag,
            reported: StreamImage.ReportedMetadata(editLink: "scans/1", etag: reported))
    }

    @Test func `a stream that was never read is written with the ETag that the service returned with its entity`()
        throws
    {
        try store.add(.streamsStored([image(reported: "\"s1\"")]))
        #expect(try write(store, order).changeSets[0].requests.map(\.modification.ifMatch) == ["\"s1\""])
    }

    @Test func `the ETag of the content in the store precedes a newer one that the service returned with its entity`()
        throws
    {
        try store.add(.streamsStored([image(etag: "\"s1\"", reported: "\"s2\"")]))
        #expect(try write(store, order).changeSets[0].requests.map(\.modification.ifMatch) == ["\"s1\""])
    }

    @Test func `if the metadata declare ETags, an unknown one is read before the stream is written`() throws {
        let (store, order) = try Self.store(
            annotation: #"<Annotation Term="Org.OData.Core.V1.OptimisticConcurrency"/>"#)
        let plan = try write(store, order)
        #expect(plan.entitiesToRead == [order])
        #expect(plan.changeSets.isEmpty)
        // The entity was read, and the service returned no ETag of the stream.
        let planner = UploadPlanner(storage: store.state, model: store.model)
        #expect(try planner.plan(unreadable: [order]).changeSets.map(\.requests.count) == [1])
    }
}
