import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// `OnDelete` of the metadata: the entities that are deleted with an entity, locally at once and at the service.
///
/// Features: MD-16.
@Suite struct CascadeTests {
    @Test(arguments: Wanted.Version.allCases)
    func `a delete cascades as the metadata declares, at every level, with one request`(
        _ version: Wanted.Version
    ) async throws {
        let office = try await Office(version)
        try await office.service.deleteEntity(try await office.one("Documents(1)"))
        #expect(try await office.keys("Documents") == [2])
        #expect(try await office.keys("Items") == [3])
        #expect(try await office.keys("Remarks") == [2])
        // Without `OnDelete` only the link is removed.
        #expect(try await office.keys("Stamps") == [1])
        #expect(try await office.one("Stamps(1)")["DocumentID"] ?? .null == .null)

        try await office.store.upload()
        let batches = office.transport.requests.filter { $0.method == "POST" }
        let delete = Wanted.delete("Documents(1)")[version]
        #expect(
            batches.last.map { String(decoding: $0.body, as: UTF8.self) }
                == WantedBatch.text([[delete]], version, number: 1))
        #expect(office.serverKeys() == "Documents(2) Items(3) Remarks(2) Stamps(1)")
        try await office.store.download()
        #expect(try await office.keys("Items") == [3])
        #expect(try await office.store.hasPendingUpload == false)
    }

    @Test(arguments: Wanted.Version.allCases)
    func `a pending creation below a deleted entity is uploaded and then deleted with it`(
        _ version: Wanted.Version
    ) async throws {
        let office = try await Office(version)
        let document = try await office.one("Documents(1)")
        let items = try office.service.entitySet(withName: "Documents").entityType.property(withName: "Items")
        let item = EntityValue(try office.service.entitySet(withName: "Items").entityType)
        item["ItemID"] = .integer(9)
        try await office.service.createRelatedEntity(item, in: document, property: items)
        try await office.service.deleteEntity(document)
        #expect(try await office.keys("Items") == [3])
        let report = try await office.store.upload()
        #expect(report.rejected.isEmpty, "\(report.rejected)")
        #expect(report.remaining == 0)
        #expect(office.serverKeys() == "Documents(2) Items(3) Remarks(2) Stamps(1)")
    }

    @Test(arguments: Wanted.Version.allCases)
    func `in a change set a parent and its cascaded entities can be deleted in any order`(
        _ version: Wanted.Version
    ) async throws {
        for order in [["Documents(1)", "Items(1)"], ["Items(1)", "Documents(1)"]] {
            let office = try await Office(version)
            let changes = ChangeSet()
            for name in order { changes.deleteEntity(try await office.one(name)) }
            try await office.service.applyChanges(changes)
            #expect(try await office.keys("Items") == [3], "\(order)")
            let report = try await office.store.upload()
            #expect(report.rejected.isEmpty, "\(order): \(report.rejected)")
            #expect(report.remaining == 0)
            #expect(office.serverKeys() == "Documents(2) Items(3) Remarks(2) Stamps(1)")
        }
    }

    @Test(arguments: Wanted.Version.allCases)
    func `a change set that deletes an entity twice is refused`(_ version: Wanted.Version) async throws {
        let office = try await Office(version)
        let changes = ChangeSet()
        changes.deleteEntity(try await office.one("Documents(1)"))
        changes.deleteEntity(try await office.one("Documents(1)"))
        let error = await #expect(throws: TidelogError.self) { try await office.service.applyChanges(changes) }
        #expect(error?.code == .refused(.entityNotFound))
        #expect(try await office.keys("Documents") == [1, 2])
    }

    @Test(arguments: Wanted.Version.allCases)
    func `the removal of an entity that leaves the defining query does not cascade`(_ version: Wanted.Version)
        async throws
    {
        let office = try await Office(version)
        try await office.store.add(definingQuery: .init(name: "Documents", query: "Documents?$filter=DocumentID eq 2"))
        try await office.store.download()
        #expect(try await office.keys("Documents") == [2])
        #expect(try await office.keys("Items") == [1, 2, 3])
    }

    @Test(arguments: Wanted.Version.allCases)
    func `without a declared cascade, a delete that would leave a dependent without its partner is refused`(
        _ version: Wanted.Version
    ) async throws {
        let office = try await Office(version, cascades: false)
        await #expect {
            try await office.service.deleteEntity(try await office.one("Documents(1)"))
        } throws: { error in
            (error as? TidelogError)?.recovery?.contains("Add the delete of Items(1) and Items(2)") == true
        }
    }
}

/// Documents with items, and items with remarks: each relationship is 1 – * and cascades. Stamps belong to a document
/// and are not deleted with it.
private final class Office {
    let store: OfflineODataProvider
    let service: DataService
    let transport: SandboxTransport
    private let directory = TemporaryDirectory()

    init(_ version: Wanted.Version, cascades: Bool = true) async throws {
        var sandbox = try Sandbox(
            v4Metadata: Array(OfficeMetadata.v4(cascades: cascades).utf8),
            v2Metadata: Array(OfficeMetadata.v2(cascades: cascades).utf8),
            configuration: SandboxConfiguration())
        sandbox.origin = "http://shop.test"
        transport = SandboxTransport(sandbox)
        for (set, body) in [
            ("Documents", #"{"DocumentID":1}"#), ("Documents", #"{"DocumentID":2}"#),
            ("Items", #"{"ItemID":1,"DocumentID":1}"#), ("Items", #"{"ItemID":2,"DocumentID":1}"#),
            ("Items", #"{"ItemID":3,"DocumentID":2}"#), ("Remarks", #"{"RemarkID":1,"ItemID":1}"#),
            ("Remarks", #"{"RemarkID":2,"ItemID":3}"#), ("Stamps", #"{"StampID":1,"DocumentID":1}"#),
        ] {
            let answer = transport.direct("POST", "/v4/\(set)", body)
            #expect(answer.status == 201, "\(String(decoding: answer.body, as: UTF8.self))")
        }
        store = OfflineODataProvider(
            serviceRoot: version.root,
            parameters: OfflineODataParameters(storePath: directory.path, transport: transport, durability: .none))
        for set in ["Documents", "Items", "Remarks", "Stamps"] {
            try await store.add(definingQuery: OfflineODataDefiningQuery(name: set, query: set))
        }
        try await store.open()
        try await store.download()
        service = DataService(provider: store)
    }

    func one(_ link: String) async throws -> EntityValue {
        let set = try service.entitySet(withName: Call.Name(stringLiteral: link).set)
        let entity = EntityValue(set.entityType)
        entity.readLink = link
        try await service.loadEntity(entity)
        return entity
    }

    func keys(_ set: String) async throws -> [Int64] {
        try await service.executeQuery(DataQuery().withURL(set)).entityList().compactMap {
            $0.key?.values[0].value.integerValue
        }.sorted()
    }

    func serverKeys() -> String {
        transport.sandbox.stateText(of: ["Documents", "Items", "Remarks", "Stamps"], values: false)
            .split(separator: "\n").filter { !$0.hasPrefix(" ") }.joined(separator: " ")
    }
}
