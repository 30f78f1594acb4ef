import EDM
import Testing
import Tidelog

/// All faults of `odata-sandbox`, during uploads of updates that replace an entity.
@Suite(.timeLimit(.minutes(20))) struct ReplacementFaultTests {
    @Test(arguments: MatrixService.all + MatrixService.withoutPatch)
    func `SV-02 after any single fault, a replacing update has replaced all values once or waits for a decision`(
        _ service: MatrixService
    ) async throws {
        try await OperationMatrix<ReplacementTrial>(service: service).run("replacing updates")
    }
}

/// Replaces an entity with an ETag and one without.
private struct ReplacementTrial: OperationTrial {
    static let queries = ["Orders", "Customers"]

    static func requests(_ service: MatrixService) -> [SentRequest] {
        [SentRequest(service.updateMethod, "Orders(1)"), SentRequest(service.updateMethod, "Customers(1)")]
    }

    private static let properties = [
        "Orders": ["Note", "Amount", "Quantity", "Total", "PlacedAt"],
        "Customers": ["Name", "Address", "Tags", "Rating", "Since"],
    ]

    private let values: [String: [String: Value]]
    private let version: Int

    init(_ mark: String, _ device: AppDevice, _ service: MatrixService) async throws {
        var options = RequestOptions()
        options.updateMode = .replace
        version = try await Self.version(device)
        var values: [String: [String: Value]] = [:]
        for (set, property) in [("Orders", "Note"), ("Customers", "Name")] {
            let entity = try await device.one("\(set)(1)")
            entity[property] = .string(mark)
            try await device.service.updateEntity(entity, options: options)
            values[set] = Self.values(entity, set)
        }
        self.values = values
    }

    private static func values(_ entity: EntityValue, _ set: String) -> [String: Value] {
        var values: [String: Value] = [:]
        for name in properties[set] ?? [] { values[name] = entity[name] ?? .null }
        return values
    }

    /// Returns the number of changes of the order, which the sandbox counts in its ETags.
    private static func version(_ device: AppDevice) async throws -> Int {
        try #require(Int(try await served("Orders", device).etag?.filter(\.isNumber) ?? ""))
    }

    private static func served(_ set: String, _ device: AppDevice) async throws -> EntityValue {
        try await device.online.executeQuery(DataQuery().withURL("\(set)(1)")).requiredEntity()
    }

    func check(_ result: TrialResult, _ device: AppDevice) async throws {
        for (set, var wanted) in values {
            let local = Self.values(try await device.one("\(set)(1)"), set)
            #expect(local == wanted, result.explained("local values of \(set)"))
            // The other client changes the order after the update.
            if result.fault.follows, set == "Orders" { wanted["Quantity"] = .integer(77) }
            let served = Self.values(try await Self.served(set, device), set)
            let isOpen = !result.open(set).isEmpty
            #expect(served == wanted || isOpen, result.explained("\(set): \(served) instead of \(wanted)"))
            #expect(!isOpen || set == "Orders" && result.fault.isConflict, result.explained("\(set) open"))
        }
        // The other client's change counts as well.
        let effects = try await Self.version(device) - version - (result.fault.isConflict ? 1 : 0)
        #expect(effects == (result.open("Orders").isEmpty ? 1 : 0), result.explained("\(effects) effects"))
    }
}
