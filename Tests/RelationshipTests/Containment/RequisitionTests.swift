import Foundation
import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// SAP's requisition document, whose line items, account assignments and comments are all contained. The document is
/// read from the conformance corpus.
@Suite(.enabled(if: Requisition.document != nil, "skipped: the conformance corpora are not next to the checkout"))
struct RequisitionTests {
    @Test func `SAP's requisition document is usable to its deepest contained set`() async throws {
        let document = try #require(Requisition.document)
        var sandbox = try Sandbox(
            v4Metadata: Array(document), v2Metadata: Array(Requisition.empty.utf8),
            configuration: SandboxConfiguration())
        sandbox.origin = "http://requisition.test"
        // The cart is a singleton.
        try sandbox.insert(into: "Cart", ["ReqId": .guid(try #require(GuidValue(Requisition.number)))])
        let transport = SandboxTransport(sandbox)
        let directory = TemporaryDirectory()
        let store = OfflineODataProvider(
            serviceRoot: "http://requisition.test/v4/",
            parameters: OfflineODataParameters(storePath: directory.path, transport: transport, durability: .none))
        try await store.open()
        let model = try await store.model()
        #expect(
            model.allSets.map(\.name) == [
                "Cart", "Cart/LineItems", "Cart/LineItems/AccountAssignments", "Cart/LineItems/Comments",
            ])
        try await store.add(
            definingQuery: OfflineODataDefiningQuery(
                name: "Cart", query: "Cart?$expand=LineItems($expand=AccountAssignments,Comments)"))
        try await store.download()

        let service = DataService(provider: store)
        func new(_ set: String) throws -> EntityValue {
            let entity = EntityValue(try #require(model.findEntitySet(set)).entityType)
            // The service does not assign keys.
            for key in entity.entityType.keyProperties {
                let digits = String(format: "%012d", set.utf8.count)
                entity[key.name] = .guid(try #require(GuidValue("00000000-0000-0000-0000-\(digits)")))
            }
            return entity
        }
        func property(_ name: String, _ entity: EntityValue) throws -> Property {
            try #require(entity.entityType.findProperty(name))
        }
        let cart = try await service.executeQuery(DataQuery().withURL("Cart")).requiredEntity()
        let (item, comment) = (try new("Cart/LineItems"), try new("Cart/LineItems/Comments"))
        let assignment = try new("Cart/LineItems/AccountAssignments")
        let changes = ChangeSet()
        changes.createRelatedEntity(item, in: cart, property: try property("LineItems", cart))
        changes.createRelatedEntity(comment, in: item, property: try property("Comments", item))
        try await service.applyChanges(changes)
        try await service.createRelatedEntity(
            assignment, in: item, property: try property("AccountAssignments", item))
        let report = try await store.upload()
        #expect(report.rejected.isEmpty && report.remaining == 0, "\(report)")
        for set in model.allSets { #expect(transport.sandbox.contents(of: set.name).count == 1, "\(set)") }
        try await service.loadEntity(assignment)
        let link = try #require(assignment.readLink)
        #expect(link.hasPrefix("Cart/LineItems(") && link.contains("/AccountAssignments("))
        try await service.deleteEntity(item)
        try await store.upload()
        for set in model.containedSets { #expect(transport.sandbox.contents(of: set.name).isEmpty, "\(set)") }
        let settled = try await store.download()
        #expect(settled.skipped.isEmpty && settled.failures.isEmpty, "\(settled)")
    }
}

private enum Requisition {
    static let document: Data? = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let place = root.appending(path: "shared/conformance/csdl/v4/sap-requisition-typedef.xml")
        return try? Data(contentsOf: place)
    }()

    static let number = "00000000-0000-0000-0000-000000000001"

    /// An empty model, because V2 has no containment.
    static let empty = """
        <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
        <edmx:DataServices m:DataServiceVersion="2.0" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
        <Schema Namespace="RequisitionUIService" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
        <EntityType Name="Cart"><Key><PropertyRef Name="ReqId"/></Key>
          <Property Name="ReqId" Type="Edm.Guid" Nullable="false"/></EntityType>
        <EntityContainer Name="EntityContainer" m:IsDefaultEntityContainer="true">
          <EntitySet Name="Cart" EntityType="RequisitionUIService.Cart"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """
}
