import EDM
import TestSupport
import Testing
import Tidelog

/// All faults of `odata-sandbox`, during uploads of activated draft copies.
@Suite(.timeLimit(.minutes(20))) struct DraftFaultTests {
    @Test(arguments: MatrixService.all)
    func `MD-19 after any single fault, an activated draft takes effect once or waits for a decision`(
        _ service: MatrixService
    ) async throws {
        try await OperationMatrix<DraftTrial>(service: service).run("activated drafts")
    }
}

/// Activates the changed draft of an order with an ETag, and a new draft of a customer with a child.
private struct DraftTrial: OperationTrial {
    static let queries = ["Orders", "Customers"]

    static func adjust(_ parameters: inout OfflineODataParameters) {
        // The drafts of earlier trials leave the queue.
        parameters.undoableClientChanges = 10
        parameters.clientOnlyMetadata = """
            <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
            <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Shop">
            <EntityContainer Name="Local">
              <EntitySet Name="CustomerDrafts" EntityType="Shop.Customer">
                <Annotation Term="com.sap.vocabularies.Offline.v1.LocalDraft" String="Customers"/>
                <NavigationPropertyBinding Path="Orders" Target="OrderDrafts"/>
              </EntitySet>
              <EntitySet Name="OrderDrafts" EntityType="Shop.Order">
                <Annotation Term="com.sap.vocabularies.Offline.v1.LocalDraft" String="Orders"/>
                <NavigationPropertyBinding Path="Customer" Target="CustomerDrafts"/>
              </EntitySet>
            </EntityContainer>
            </Schema></edmx:DataServices></edmx:Edmx>
            """
    }

    /// A service without batches receives change sets of one request only, so the new customer has no child.
    static func requests(_ service: MatrixService) -> [SentRequest] {
        [SentRequest(service.updateMethod, "Orders(1)"), SentRequest("POST", "Customers")]
            + (service.hasBatches ? [SentRequest("POST", "Orders")] : [])
    }

    private let mark: String
    private let version: Int

    init(_ mark: String, _ device: AppDevice, _ service: MatrixService) async throws {
        self.mark = mark
        version = try await Self.version(device)
        let order = try await device.one("Orders(1)").makeDraftCopy(in: device.service)
        order["Note"] = .string(mark)
        try await device.service.updateEntity(order)
        try await order.activateDraft(in: device.service)
        let customer = try await device.create("CustomerDrafts", ["Name": .string(mark)])
        if service.hasBatches {
            let child = EntityValue(order.entityType)
            child.entitySet = try device.service.entitySet(withName: "OrderDrafts")
            child["Note"] = .string("child of \(mark)")
            try await device.service.createRelatedEntity(
                child, in: customer, property: device.property("Customers/Orders"))
        }
        try await customer.activateDraft(in: device.service)
    }

    /// Returns the number of changes of the order, which the sandbox counts in its ETags.
    private static func version(_ device: AppDevice) async throws -> Int {
        let order = try await device.online.executeQuery(DataQuery().withURL("Orders(1)")).requiredEntity()
        return try #require(Int(order.etag?.filter(\.isNumber) ?? ""))
    }

    func check(_ result: TrialResult, _ device: AppDevice) async throws {
        try await checkChange(result, device)
        try await checkCreates(result, device)
        for set in ["CustomerDrafts", "OrderDrafts"] {
            let drafts = try await device.service.executeQuery(
                DataQuery().from(try device.service.entitySet(withName: set)))
            #expect(drafts.entityList().isEmpty, result.explained(set))
        }
    }

    private func checkChange(_ result: TrialResult, _ device: AppDevice) async throws {
        let order = try await device.online.executeQuery(DataQuery().withURL("Orders(1)")).requiredEntity()
        // The draft has not changed the property that the other client changes.
        #expect(order["Note"] == .string(mark), result.explained("order"))
        let others = result.fault.isConflict ? 1 : 0
        #expect(others == 0 || order["Quantity"] == .integer(77), result.explained("the change of another client"))
        #expect(try await Self.version(device) - version == 1 + others, result.explained("effects on the order"))
        #expect(try await device.one("Orders(1)")["Note"] == .string(mark), result.explained("local order"))
    }

    private func checkCreates(_ result: TrialResult, _ device: AppDevice) async throws {
        let customers = try await device.count("Customers", "Name", mark)
        let isOpen = !result.open.isEmpty
        #expect(customers == 1 || isOpen && customers == 0, result.explained("\(customers) customers"))
        #expect(try await device.all("Customers", "Name", mark).count == 1, result.explained("local customers"))
        #expect(result.open("Orders(1)").isEmpty, result.explained("open"))
        guard result.service.hasBatches else { return }
        let orders = try await device.count("Orders", "Note", "child of \(mark)")
        #expect(orders == customers, result.explained("\(orders) orders, \(customers) customers"))
        #expect(try await device.all("Orders", "Note", "child of \(mark)").count == 1, result.explained("local orders"))
        let linked = try device.server.get(
            "/v4/Customers?$filter=Name%20eq%20'\(mark.replacing(" ", with: "%20"))'&$expand=Orders")
        #expect(linked.contains(#""Note":"child of \#(mark)""#) || isOpen, result.explained("link"))
    }
}
