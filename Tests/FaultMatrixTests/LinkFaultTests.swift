import EDM
import Testing
import Tidelog

/// All faults of `odata-sandbox`, during uploads that replace the links of whole collections.
@Suite(.timeLimit(.minutes(20))) struct LinkFaultTests {
    @Test(arguments: MatrixService.all)
    func `HX-05 after any single fault, a collection has exactly its new links or its change waits for a decision`(
        _ service: MatrixService
    ) async throws {
        try await OperationMatrix<LinkTrial>(service: service).run("links")
    }
}

/// Replaces the links of a many-to-many relationship, and those of a relationship whose other end has an ETag and a
/// referential constraint.
private struct LinkTrial: OperationTrial {
    static let queries = ["Suppliers?$expand=Products", "Products", "Customers", "Orders"]

    /// A service without batches receives change sets of one request only.
    static func requests(_ service: MatrixService) -> [SentRequest] {
        let path = service.version == "v2" ? "/$links/" : "/"
        let sources = [SentRequest(nil, "Suppliers(1)\(path)Products"), SentRequest(nil, "Customers(1)\(path)Orders")]
        return service.hasBatches ? sources.flatMap { [$0, $0] } : sources
    }

    /// A collection whose links alternate.
    private struct Collection {
        let source: String
        let navigation: String
        let wanted: [Int]
        /// The links of all entities of the set at the service, before the change.
        let before: [Int: [Int]]

        init(_ source: String, _ navigation: String, between one: [Int], and other: [Int], _ device: AppDevice)
            async throws
        {
            self.source = source
            self.navigation = navigation
            before = try await device.links(source, navigation)
            wanted = before[1] == one ? other : one
            var targets: [EntityValue] = []
            for key in wanted { targets.append(try await device.one("\(navigation)(\(key))")) }
            try await device.service.replaceLinks(
                from: device.one("\(source)(1)"), property: device.property("\(source)/\(navigation)"), with: targets)
        }

        func check(_ result: TrialResult, _ device: AppDevice) async throws {
            let after = try await device.links(source, navigation)
            let links = after[1] ?? []
            let isWaiting = !result.open(source).isEmpty && links == before[1]
            #expect(
                links == wanted || isWaiting, result.explained("\(source) lead to \(links) instead of \(wanted)"))
            // No other link is lost or added.
            var expected = before
            expected[1] = links
            #expect(after == expected, result.explained("other links of \(source)"))
            // The change is visible in the store in any case.
            let targets = try await device.service.executeQuery(
                DataQuery().withURL("\(source)(1)/\(navigation)")
            ).entityList()
            let local = targets.compactMap { $0["\(navigation.dropLast())ID"]?.integerValue }.map(Int.init).sorted()
            #expect(local == wanted, result.explained("local links of \(source)"))
        }
    }

    private let collections: [Collection]

    init(_ mark: String, _ device: AppDevice, _ service: MatrixService) async throws {
        let (products, orders) = service.hasBatches ? ([2, 3], [2, 4]) : ([1, 2, 3], [1, 2, 4])
        collections = [
            try await Collection("Suppliers", "Products", between: [1, 2], and: products, device),
            try await Collection("Customers", "Orders", between: [1, 2], and: orders, device),
        ]
    }

    func check(_ result: TrialResult, _ device: AppDevice) async throws {
        for collection in collections { try await collection.check(result, device) }
        #expect(result.open.isEmpty || result.fault.isConflict, result.explained("open"))
        if result.fault.isConflict {
            let order = try await device.online.executeQuery(DataQuery().withURL("Orders(1)")).requiredEntity()
            #expect(order["Quantity"] == .integer(77), result.explained("the change of another client"))
        }
    }
}
