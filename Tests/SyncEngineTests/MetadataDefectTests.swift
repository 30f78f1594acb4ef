import EDM
import ODataSandbox
import ODataWire
import OfflineStore
import Operations
import SyncCore
import SyncEngine
import TestSupport
import Testing

/// A store whose service returns defective metadata, and valid metadata again.
struct MetadataDefectTests {
    typealias Changing = MetadataRefreshTests.Changing

    private static let note = "<Property Name=\"Note\" Type=\"Edm.String\""
    private static let broken = "<Property Name=\"Note\" Type=\"Shop.Nothing\""
    private static let policy = CompatibilityPolicy(canRemoveAnything: true)

    private func refusal(_ body: () async throws -> Void) async -> TidelogError? {
        do {
            try await body()
            Issue.record("Nothing was refused.")
            return nil
        } catch {
            return error as? TidelogError
        }
    }

    @Test(arguments: Dialect.allCases)
    func `a new defect of the metadata must be approved, and the error names it`(_ dialect: Dialect) async throws {
        let service = try await Changing(dialect)
        service.replace(Self.note, Self.broken)
        let error = await refusal { _ = try await service.engine.refreshMetadata(CompatibilityPolicy()) }
        #expect(error?.code == .incompatibleMetadata)
        #expect(error?.message.contains("Property Shop.Order/Note: removed") == true)
        #expect(
            error?.message.contains("The type \"Shop.Nothing\" is not declared.") == true, "\(error?.message ?? "")")
        #expect((error?.cause as? IncompatibleMetadata)?.defects.count == 1)
    }

    @Test(arguments: Dialect.allCases)
    func `values of a defective property are not read, requested or sent, and all others are`(
        _ dialect: Dialect
    ) async throws {
        let service = try await Changing(dialect)
        let shop = service.shop
        try await shop.perform(update("Orders(2)", ["Note": .string("mine")]))
        service.replace(Self.note, Self.broken)
        let refresh = try await service.engine.refreshMetadata(Self.policy)
        #expect(refresh.defects.map(\.omitted?.path) == ["Shop.Order/Note"])
        #expect(refresh.incompatibleOperations.count == 1)
        _ = try await service.engine.download()
        #expect(try await shop.value("Orders(1)", "Note") == nil)
        #expect(try await shop.value("Orders(1)", "Quantity") != nil)
        let reason = "cannot be used"
        let query = await refusal { _ = try await shop.store.query("Orders?$filter=Note eq 'x'") }
        #expect(query?.message.contains(reason) == true, "\(query?.message ?? "")")
        let write = await refusal { try await shop.perform(update("Orders(1)", ["Note": .string("x")])) }
        #expect(write?.message.contains(reason) == true, "\(write?.message ?? "")")
        try await shop.perform(update("Orders(1)", ["Quantity": .integer(8)]))
        #expect(try await service.engine.upload().confirmed.count == 1)
        // With valid metadata, the store has the same entities as the service, and the operations that waited are sent.
        service.restore()
        #expect(try await service.engine.refreshMetadata(CompatibilityPolicy()).compatibleAgain.count == 1)
        _ = try await service.engine.download()
        #expect(try await shop.value("Orders(1)", "Note") == .string("engine parts"))
        #expect(try await service.engine.upload().confirmed.count == 1)
    }

    @Test func `a set with a defective type is not queried, and all others are downloaded`() async throws {
        let service = try await Changing(.v4)
        service.replace("EntityType=\"Shop.Car\"", "EntityType=\"Shop.Nothing\"")
        let refresh = try await service.engine.refreshMetadata(Self.policy)
        #expect(refresh.unusableQueries.map(\.name).contains("Cars"))
        let query = await refusal { _ = try await service.shop.store.query("Cars") }
        #expect(query?.message.contains("Shop.Nothing") == true, "\(query?.message ?? "")")
        #expect(try await service.engine.download().failures.isEmpty)
        #expect(try await service.shop.store.query("Customers").entities.isEmpty == false)
    }

    @Test func `an update that would reset a defective property is held back for a service without PATCH`() async throws
    {
        let service = try await Changing(.v4)
        service.replace(Self.note, Self.broken)
        _ = try await service.engine.refreshMetadata(Self.policy)
        await service.shop.store.use(ServiceOptions(supportsPatch: false))
        try await service.shop.perform(update("Orders(1)", ["Quantity": .integer(8)]))
        let report = try await service.engine.upload()
        #expect(report.confirmed.isEmpty)
        let held = try await service.shop.store.uploads.plan().held.values.map(\.description)
        #expect(held.contains { $0.contains("would reset Orders/Note") }, "\(held)")
    }

    @Test func `metadata in JSON are accepted in place of XML`() async throws {
        let json = #"""
            {"$Version":"4.0","$EntityContainer":"Shop.C","Shop":{"Customer":{"$Kind":"EntityType","$Key":["CustomerID"],
            "CustomerID":{"$Type":"Edm.Int32"},"Name":{"$Nullable":true}},
            "C":{"$Kind":"EntityContainer","Customers":{"$Collection":true,"$Type":"Shop.Customer"}}}}
            """#
        let service = try await Changing(.v4)
        let refresh = try await service.shop.store.metadata.refresh(
            Array(json.utf8), policy: CompatibilityPolicy(canChangeAnything: true, canRemoveAnything: true))
        #expect(refresh.defects == [])
        #expect(try await service.shop.store.model.allSets.map(\.name) == ["Customers"])
        #expect(try await service.engine.download().failures.isEmpty)
        #expect(try await service.shop.value("Customers(1)", "Name") != nil)
    }

    @Test(arguments: [
        ("<html/>", "without $metadata"), ("<edmx:Edmx", "damaged or truncated"),
        ("{\"$Version\"", "damaged or truncated"),
        (
            "<Schema xmlns='http://docs.oasis-open.org/odata/ns/edm' Namespace='N'><EntityType Name='A' BaseType='N.B'/></Schema>",
            "corrected by the operator of the service"
        ), ("{\"$Version\":\"7.0\",\"N\":{}}", "4.0 or 4.01"),
    ])
    func `the advice in the error fits the defect`(document: String, advice: String) async throws {
        let store = try await Changing(.v4).shop.store
        let error = await refusal {
            _ = try await store.metadata.refresh(Array(document.utf8), policy: CompatibilityPolicy())
        }
        #expect(error?.code == .notOData)
        #expect(error?.recovery?.contains(advice) == true, "\(error.map(String.init(describing:)) ?? "")")
    }
}
