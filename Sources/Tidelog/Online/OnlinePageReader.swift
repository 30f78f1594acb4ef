import EDM
import ODataQuery
import ODataWire
import OfflineStore
import SyncCore
import SyncEngine

/// Reads the responses to one query by the target of its path: entities, rows, values, counts, references.
package struct OnlinePageReader: Sendable {
    private let target: ResourcePath.Target
    private let path: ResourcePath
    private let options: QueryOptions
    private let reader: PayloadReader

    package init(_ request: ServiceRequest, model: EntityDataModel, limits: JSONScanner.Limits = .init()) {
        path = request.path
        target = request.path.target
        options = request.options
        reader = PayloadReader(version: model.version, model: model, limits: limits)
    }

    /// The content of one response.
    package enum ResponseContent {
        case entities([EntityPayload], EntityType, EntitySet?)
        /// Rows of `$apply` that are not entities.
        case rows([EntityPayload], EntityType)
        /// Entities of several sets.
        case mixed([EntityPayload])
        case combinations([[(set: EntitySet, entity: MixedEntitiesReader.JoinedEntity)]])
        case references([String], EntityType)
        case value(Value, TypeReference?)
        /// A part of a collection of values.
        case values([Value], TypeReference)
        case rawValue(Value)
        case count(Int64)
    }

    package struct Page {
        package var content: ResponseContent
        package var count: Int64?
        package var nextLink: String?
        package var deltaLink: String?
        package var removed: [RemovedEntity] = []
        /// Whether a delta contains changes of links, or of entities of other entity sets.
        package var hasOtherChanges = false

        /// The identity of the first item, by which pages that repeat are recognized; `nil` for an empty page.
        var identity: ExactText? {
            switch content {
            case .entities(let entities, let type, _):
                (entities.first.map(DeltaItem.entity) ?? removed.first.map(DeltaItem.removed))?.identity(type)
            case .rows(let rows, _): rows.first.map { ExactText("\($0.values)") }
            case .mixed(let entities): entities.first.map { ExactText("\($0.id ?? "") \($0.values)") }
            case .combinations(let rows): rows.first.map { ExactText("\($0)") }
            case .references(let urls, _): urls.first.map(ExactText.init)
            // A collection of values may contain equal ones.
            case .value, .values, .rawValue, .count: nil
            }
        }
    }

    /// Whether the path leads to at most one entity or value.
    package var isSingle: Bool {
        switch target {
        case .entities, .references(_, _, isCollection: true): false
        case .anyEntities: path.segments.first == .entity
        default: true
        }
    }

    /// Whether the path leads to an entity, which need not exist.
    var leadsToEntity: Bool {
        switch target {
        case .entity, .references(_, _, isCollection: false): true
        case .anyEntities: isSingle
        default: false
        }
    }

    /// Whether the path leads to a raw value or a stream.
    var isRaw: Bool {
        switch target {
        case .rawValue, .media: true
        default: false
        }
    }

    /// The acceptable media types, if they are not those of entities.
    package var accept: String? {
        switch target {
        case .count, .rawValue: "text/plain, */*;q=0.5"
        case .media: "*/*"
        case .metadata: MetadataReading.accepted
        default: nil
        }
    }

    /// Throws if the path cannot be read by GET.
    package func checkIsReadable() throws(TidelogError) {
        let operation = path.segments.lazy.compactMap { segment -> String? in
            switch segment {
            case .operation(let operation, _) where operation.kind == .action: operation.name
            case .operationImport(let found, _) where found.kind == .action || !(found.httpMethod ?? "GET").isGet:
                found.name
            default: nil
            }
        }.first
        if let operation {
            throw TidelogError(
                .invalidRequest, "\(operation) is an action, which cannot be read by a query.",
                recovery: "Call it with invoke(_:on:_:).")
        }
        switch target {
        case .batch, .nothing, .unresolved:
            throw TidelogError(
                .invalidRequest, "The path does not lead to anything that can be read.",
                recovery: "Read a batch with processBatch(_:), and an entity by its link.")
        default: break
        }
    }

    // MARK: Responses

    /// Returns the content of a response with a success status.
    package func page(_ response: WireResponse) throws(PayloadError) -> Page {
        switch target {
        case .count:
            guard let count = PayloadReader.count(response.body) else {
                throw PayloadError(.typeMismatch, "The response is not a number.")
            }
            return Page(content: .count(count), count: count)
        case .rawValue(.binary), .media: return Page(content: .rawValue(.binary(response.body)))
        case .rawValue(let type): return Page(content: .rawValue(raw(try text(response.body), type)))
        case .metadata, .serviceDocument: return Page(content: .rawValue(.string(try text(response.body))))
        case .value(let type): return try values(response, type)
        case .references(_, let type, _): return try references(response, type)
        case .anyEntities: return try mixed(response)
        case .entity(let type, let set):
            if response.status == 204 { return Page(content: .entities([], type, set)) }
            let entity = try reader.entity(response.body, type: opened(type))
            return Page(content: .entities([entity], type, set))
        case .entities(let type, let set): return try feed(response, type, set)
        case .batch, .nothing, .unresolved: throw PayloadError(.unexpectedShape, "Nothing can be read here.")
        }
    }

    private func text(_ bytes: [UInt8]) throws(PayloadError) -> String {
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        guard let text = String(validating: bytes[start...], as: UTF8.self) else {
            throw PayloadError(.typeMismatch, "The response is not text in UTF-8.")
        }
        return text
    }

    /// Returns the value that the text represents, as a store does.
    private func raw(_ text: String, _ type: PrimitiveType) -> Value {
        guard type != .string else { return .string(text) }
        return (try? PrimitiveLiteral.parse(text, as: type, version: reader.version, form: .text)) ?? .string(text)
    }

    private func values(_ response: WireResponse, _ type: TypeReference) throws(PayloadError) -> Page {
        let isDynamic = type == TypeReference(.primitive(.untyped))
        let declared = isDynamic ? nil : type
        if response.status == 204 { return Page(content: .value(.null, declared)) }
        let read = isDynamic ? TypeReference(.primitive(.primitiveType)) : type
        switch try reader.result(response.body, type: read, name: name) {
        case .nothing: return Page(content: .value(.null, declared))
        case .value(let value): return Page(content: .value(value, declared))
        case .values(let values, let next): return Page(content: .values(values, type), nextLink: next)
        case .entity, .entities: throw PayloadError(.unexpectedShape, "The response contains entities, not a value.")
        }
    }

    /// The name under which V2 returns the value: that of the last property or function.
    private var name: String {
        for segment in path.segments.reversed() {
            switch segment {
            case .property(let property): return property.name
            case .dynamicProperty(let name): return name
            case .operationImport(let found, _): return found.name
            case .operation(let operation, _): return operation.name
            default: continue
            }
        }
        return ""
    }

    private func references(_ response: WireResponse, _ type: EntityType) throws(PayloadError) -> Page {
        if response.status == 204 { return Page(content: .references([], type)) }
        let found = try reader.entityReferences(response.body)
        return Page(content: .references(found.urls, type), count: found.count, nextLink: found.nextLink)
    }

    private func mixed(_ response: WireResponse) throws(PayloadError) -> Page {
        let mixed = MixedEntitiesReader(reader)
        switch path.segments.first {
        case .crossjoin(let sets)?:
            let page = try mixed.combinations(response.body, of: sets)
            return Page(content: .combinations(page.items), count: page.count, nextLink: page.nextLink)
        case .entity?: return Page(content: .mixed([try mixed.entity(response.body)]))
        default:
            let page = try mixed.entities(response.body)
            return Page(content: .mixed(page.items), count: page.count, nextLink: page.nextLink)
        }
    }

    private func feed(_ response: WireResponse, _ type: EntityType, _ set: EntitySet?) throws(PayloadError) -> Page {
        let rowType = OnlineRowType(options, type, reader.model)
        let read = rowType?.type ?? opened(type)
        let feed = try reader.feed(response.body, type: read)
        let content: ResponseContent = rowType == nil ? .entities(feed.entities, type, set) : .rows(feed.entities, type)
        return Page(
            content: content, count: feed.count, nextLink: feed.nextLink, deltaLink: feed.deltaLink,
            removed: feed.removed, hasOtherChanges: !feed.links.isEmpty || !feed.otherEntities.isEmpty)
    }

    /// Returns the type with room for computed values.
    private func opened(_ type: EntityType) -> EntityType {
        guard !type.isOpen, !options.compute.isEmpty || !options.apply.isEmpty else { return type }
        return OnlineRowType.opened(
            type, properties: type.properties, navigation: type.navigationProperties)
    }
}

extension String {
    fileprivate var isGet: Bool { uppercased() == "GET" }
}
