import EDM
import ODataQuery
import OfflineStore
import OperationLog
import Operations
import SyncCore

/// The records of a log that concern one entity: those that refer to it or to its past and present partners, and the
/// outcomes of the operations among them. Folding them leads to the same entity as folding the whole log.
///
/// Memory: these records. Cost: a few searches in the log, mostly without decoding.
struct EntityHistory {
    /// The records in order. Records about very many entities are reduced to the relevant ones.
    let records: [(sequence: SequenceNumber, record: Record)]
    /// The entities that the reference may denote. There are several if a key moved from one entity to another.
    let candidates: [EntityID]
    /// The entities whose records are complete.
    let entities: Set<EntityID>
    let operations: Set<SequenceNumber>
    /// The state that a compaction left; nil if the log has its beginning.
    let beginning: CompactedState?
    /// The first record of the log.
    let first: SequenceNumber

    /// The largest number of partners whose records are included. The entity's own history is correct without further
    /// partners, unless one of them displaced it.
    private static let partnerLimit = 2_000

    /// The record kinds that are always included, because the other records depend on them or they concern all
    /// entities.
    private static let structure = RecordKinds([
        .serviceInstalled, .definingQueryAdded, .definingQueryRemoved, .downloadStarted, .downloadFinished,
        .batchAccepted, .batchInterrupted, .lost,
    ])

    /// Collects the records.
    ///
    /// - Throws: ``LogError``, or ``TidelogError`` with `notFound` if the log does not contain the entity.
    init(of reference: EntityReference, in reader: LogReader) throws {
        let blocks = try LogBlocks(reader)
        let beginning = try CompactedState.read(reader)
        let structure: [LogRecord]
        let models: MetadataHistory
        let seeds: [EntityID]
        let own: [LogRecord]
        if case .id(let id) = reference.selector {
            // Both with one search.
            let found = try RecordSelection(entities: SearchedIdentifiers([id.rawValue]), kinds: Self.structure)
                .records(
                    of: blocks)
            structure = found.filter { Self.structure.contains($0.kind) }
            models = MetadataHistory(structure, beginning)
            seeds = [id]
            own = found.filter { !Self.structure.contains($0.kind) }
        } else {
            structure = try RecordSelection(kinds: Self.structure).records(of: blocks)
            models = MetadataHistory(structure, beginning)
            seeds = try Self.seeds(reference, models, blocks, beginning)
            own = try RecordSelection(entities: SearchedIdentifiers(seeds.map(\.rawValue))).records(of: blocks)
        }
        var neighbours = PartnerHistory(of: Set(seeds), models)
        var known: [SequenceNumber: Record] = [:]
        for (sequence, record) in Self.decoded(own) {
            neighbours.add(record.body)
            known[sequence] = record
        }
        if let beginning { neighbours.add(beginning) }
        if !neighbours.named.isEmpty {
            let patterns = neighbours.named.map { BytePattern(property: $0.property, value: $0.value) }
            for (_, record) in Self.decoded(try RecordSelection(patterns: patterns).records(of: blocks)) {
                neighbours.addMatches(in: record.body)
            }
            if let beginning { neighbours.addMatches(in: beginning) }
        }
        let partners = neighbours.entities.sorted().prefix(Self.partnerLimit)
        let entities = Set(seeds).union(partners)
        let others = SearchedIdentifiers(partners.map(\.rawValue))
        let about = own + (others.isEmpty ? [] : try RecordSelection(entities: others).records(of: blocks))
        var operations = Set(about.filter { $0.kind == RecordCodec.RecordKind.operation.rawValue }.map(\.sequence))
        if let beginning { operations.formUnion(beginning.operations(touching: entities)) }
        let outcomes = try RecordSelection(operations: SearchedIdentifiers(operations)).records(of: blocks)
        var all: [SequenceNumber: LogRecord] = [:]
        for record in structure + about + outcomes { all[record.sequence] = record }
        let slice = RecordProjection(entities: entities, operations: operations)
        let start = beginning?.sequence ?? 0
        records = Self.decoded(
            all.values.filter { $0.sequence >= start }.sorted { $0.sequence < $1.sequence }, except: known
        ).map { ($0.sequence, slice.part(of: $0.record)) }
        candidates = seeds
        self.entities = entities
        self.operations = operations
        self.beginning = beginning
        first = try reader.firstSequence()
    }

    /// Returns the decoded records, without those that cannot be decoded.
    ///
    /// - Parameter known: The records that were decoded before.
    private static func decoded(
        _ records: [LogRecord], except known: [SequenceNumber: Record] = [:]
    ) -> [(sequence: SequenceNumber, record: Record)] {
        let decoder = RecordDecoder()
        return records.compactMap { record in
            if let known = known[record.sequence] { return (record.sequence, known) }
            guard let decoded = try? decoder.decode(kind: record.kind, payload: record.bytes) else { return nil }
            return (record.sequence, decoded)
        }
    }

    // MARK: Who is meant

    static func candidates(_ reference: EntityReference, in reader: LogReader) throws -> [EntityID] {
        let blocks = try LogBlocks(reader)
        let beginning = try CompactedState.read(reader)
        let structure = try RecordSelection(kinds: Self.structure).records(of: blocks)
        return try seeds(reference, MetadataHistory(structure, beginning), blocks, beginning)
    }

    private static func seeds(
        _ reference: EntityReference, _ models: MetadataHistory, _ blocks: LogBlocks, _ beginning: CompactedState?
    ) throws -> [EntityID] {
        switch reference.selector {
        case .id(let id): return [id]
        case .key(let text):
            let set = reference.set ?? ""
            guard let (type, version) = models.type(ofSet: set) else {
                throw TidelogError(.invalidRequest, "The metadata has no entity set \(set).", place: reference.text)
            }
            let selector: KeySelector
            do throws(URLSyntaxError) {
                selector = try KeySelector.parse(text, of: type, version: version)
            } catch {
                throw TidelogError(.invalidRequest, "\(error)", place: reference.text, cause: error)
            }
            guard case .key(let key) = selector, let first = key.values.first else { return [] }
            let pattern = BytePattern(property: first.name, value: first.value)
            var found: Set<EntityID> = []
            let wanted = KeyText.of(key)
            for (_, record) in decoded(try RecordSelection(patterns: [pattern]).records(of: blocks)) {
                record.body.forEachValues { id, itsSet, values in
                    // An update that sets the key contains no set.
                    if itsSet ?? set == set, KeyText.of(values, type: type) == wanted { found.insert(id) }
                }
            }
            found.formUnion(beginning?.entities(set: set, key: wanted, type) ?? [])
            guard !found.isEmpty else { throw notFound(reference) }
            return found.sorted()
        }
    }

    static func notFound(_ reference: EntityReference) -> TidelogError {
        TidelogError(
            .notFound, "The log does not contain the entity \(RecordSummary.oneLine(reference.text)).",
            recovery: "Use a name that a query or 'tidelog log' prints, for example Customers(1) or Customers(~7).")
    }
}

extension Record.Body {
    /// Calls `body` for each entity with values in the record. The set is nil if the record does not contain it.
    func forEachValues(_ body: (EntityID, _ set: String?, PropertyValues) -> Void) {
        switch self {
        case .operation(let operation): operation.forEachValues(body)
        case .operationsAmended(let amended): for amended in amended { amended.content.forEachValues(body) }
        case .downloadPage(let page): for image in page.entities { body(image.entity, image.set, image.values) }
        case .entitiesRead(let images): for image in images { body(image.entity, image.set, image.values) }
        case .batchAnswered(let answered):
            for outcome in answered.outcomes {
                guard case .confirmed(let images) = outcome.result else { continue }
                for image in images { body(image.entity, image.set, image.values) }
            }
        default: break
        }
    }
}

extension Operation {
    fileprivate func forEachValues(_ body: (EntityID, _ set: String?, PropertyValues) -> Void) {
        switch action {
        case .create(let creation, _):
            // Iterative, because the depth is controlled by external input.
            var left = [creation]
            while let creation = left.popLast() {
                body(creation.entity, creation.set, creation.values)
                left += creation.inline.flatMap(\.entities)
            }
        case .update(let entity, let changes, _): body(entity, nil, changes)
        case .delete, .createLink, .updateLink, .deleteLink: break
        }
    }
}
