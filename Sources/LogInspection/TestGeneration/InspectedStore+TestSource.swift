import EDM
import ODataWire
import Operations
import SyncCore
public import SyncEngine

extension InspectedStore {
    /// Returns the source of a Swift Testing test that builds the historical store with the public interface of
    /// `Tidelog` and expects the condition to hold, or without a condition the same number of entities in each set.
    ///
    /// A mock service returns the metadata and the entities of the base state; then the pending operations are made one
    /// by one. The history of the base state is not part of the test. The test needs `Tidelog` and `HTTPTypes`.
    /// - Throws: `unsupported` if the store contains more than 10,000 entities of the service, if a pending operation
    ///   writes a stream or is a deep insert, or if two operations require a state that only other responses would
    ///   produce.
    public func testSource(
        _ condition: StateCondition?, at point: PointInTime, name: String
    ) async throws(TidelogError) -> String {
        let past = try await past(at: point)
        let store = past.store
        guard await store.hasModel, let service = try await store.service else {
            throw TidelogError(.noStore, "The store has no metadata there.", recovery: "Name a later place.")
        }
        let model = try await store.model
        let counts = try await entityCounts(in: store)
        let pending = try await store.pendingOperations()
        if !pending.isEmpty {
            try await store.replay([Record(time: 0, body: .operationsUndone(pending.map(\.sequence)))])
        }
        let sets = try await ServiceSets(store)
        var operations = OperationSource(model: model, links: sets.links)
        for operation in pending { try operations.add(operation) }
        operations.end()
        return TestSource(
            name: SwiftLiteral.identifier(name), condition: condition, counts: counts, service: service,
            answers: MockServiceResponses(model: model, root: TestSource.root), sets: sets, operations: operations.lines
        ).text
    }

    @inline(never)
    @_optimize(none)
    private func entityCounts(in store: LocalStore) async throws(TidelogError) -> [(set: String, count: Int64)] {
        var counts: [(set: String, count: Int64)] = []
        for set in await store.setNames {
            guard let found = try? await store.query("\(set)/$count").count else { continue }
            counts.append((set, found))
        }
        return counts
    }
}

/// The entities of the base state, set by set.
struct ServiceSets {
    private(set) var sets: [(name: String, entities: [ComparedEntity])] = []
    private(set) var links: [EntityID: String] = [:]
    private(set) var byName: [String: ComparedEntity] = [:]

    private static let limit = 10_000

    @inline(never)
    @_optimize(none)
    init(_ store: LocalStore) async throws(TidelogError) {
        for set in await store.setNames {
            let found = try await store.comparedEntities(
                of: set, behind: EntityID(rawValue: 0), limit: Self.limit - links.count + 1
            ).filter { $0.key != nil }
            for entity in found {
                links[entity.id] = entity.name
                byName[entity.name] = entity
            }
            guard links.count <= Self.limit else {
                throw TidelogError(
                    .unsupported,
                    "The store holds more than \(Self.limit) entities of the service, too many for a test.",
                    recovery: "Make it smaller first: 'tidelog minimise'.")
            }
            if !found.isEmpty { sets.append((set, found)) }
        }
    }
}

/// The file of a generated test.
struct TestSource {
    static let root = "http://service.invalid/"

    let name: String
    let condition: StateCondition?
    let counts: [(set: String, count: Int64)]
    let service: ServiceDescription
    let answers: MockServiceResponses
    let sets: ServiceSets
    let operations: [String]

    var text: String {
        let steps =
            (queries + ["try await provider.open()", "let service = DataService(provider: provider)"] + download
            + ["let metadata = try service.metadata", "_ = metadata"] + operations + expectation)
            .map { "        \($0)\n" }.joined()
        return """
            // swift-format-ignore-file
            \(modules)
            /// Made by 'tidelog generate-test'.
            @Suite struct \(name)Tests {
                @Test func `\(title)`() async throws {
                    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tidelog-\\(UUID().uuidString)")
                    defer { try? FileManager.default.removeItem(at: folder) }
                    let parameters = OfflineODataParameters(storePath: folder.path, transport: RecordedService(), durability: .none)
                    let provider = OfflineODataProvider(serviceRoot: \(SwiftLiteral.text(Self.root)), parameters: parameters)
            \(steps)        await provider.close()
                }
            }

            /// The service as the log had it.
            private struct RecordedService: HTTPTransport {
                func send(
                    _ request: HTTPRequest, body: [UInt8]
                ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
                    let set = (request.path ?? "").prefix { $0 != "?" }.split(separator: "/").last.map(String.init) ?? ""
                    let isMetadata = set == "$metadata"
                    let text = isMetadata ? Self.metadata : Self.answers[set] ?? ""
                    var response = HTTPResponse(status: text.isEmpty ? .notFound : .ok)
                    response.headerFields[.contentType] = isMetadata ? "application/xml" : "application/json"
                    return (response, Array(text.utf8))
                }

                private static let answers: [String: String] = [
            \(entries)    ]

                private static let metadata = \(raw(String(decoding: service.metadata, as: UTF8.self)))
            }

            """
    }

    private var modules: String {
        ["Foundation", "HTTPTypes", "Testing", "Tidelog"].map { "import \($0)\n" }.joined()
    }

    private var title: String {
        condition.map { "\(SwiftLiteral.words($0.text)) holds" } ?? "the store has what the log had"
    }

    private var queries: [String] {
        sets.sets.map { set in
            let query = answers.query(set.name, set.entities)
            return
                "try await provider.add(definingQuery: OfflineODataDefiningQuery(name: \(SwiftLiteral.text(set.name)), query: \(SwiftLiteral.text(query))))"
        }
    }

    private var download: [String] { sets.sets.isEmpty ? [] : ["_ = try await provider.download()"] }

    private var expectation: [String] {
        guard let condition else {
            return counts.flatMap { set, count -> [String] in
                let url = SwiftLiteral.text("\(set)/$count")
                return [
                    "#expect(try await service.executeQuery(DataQuery().withURL(\(url))).value == .integer(\(count)))"
                ]
            }
        }
        // A count has to be greater than 0.
        let isCount = condition.text.prefix { $0 != "?" }.hasSuffix("/$count")
        return [
            "let found = try await service.executeQuery(DataQuery().withURL(\(SwiftLiteral.text(condition.text))))",
            "if let value = found.value {",
            "    #expect(value != .null && value != .boolean(false)\(isCount ? " && value != .integer(0)" : ""))",
            "} else {",
            "    #expect(!found.entityList().isEmpty)",
            "}",
        ]
    }

    private var entries: String {
        guard !sets.sets.isEmpty else { return "        :\n" }
        return sets.sets.map { set in
            "        \(SwiftLiteral.text(set.name)): \(raw(answers.body(set.entities, targets: sets.byName))),\n"
        }.joined()
    }

    /// Returns a multiline raw literal with enough number signs that no text can end it.
    private func raw(_ text: String) -> String {
        var marks = "#"
        while text.contains("\"\"\"" + marks) || text.contains("\\" + marks) { marks += "#" }
        // Other line ends would not be recognized consistently inside the literal.
        let lines = text.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
        return "\(marks)\"\"\"\n\(lines)\n\"\"\"\(marks)"
    }
}
