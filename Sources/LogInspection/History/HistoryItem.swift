public import OperationLog
public import Operations

/// What stands at one place of the log.
public enum HistoryItem: Sendable, Hashable {
    case entry(HistoryEntry)
    /// Records that a repair could not read; placeholders stand for them. Neighbours are given as one item.
    case lost(ClosedRange<SequenceNumber>)
    /// The log gave the record back as it was written, but it is none that this version understands.
    case undecodable(sequence: SequenceNumber, kind: UInt8, reason: String)
    /// Bytes are not what was written. The items go on with `resumesAt`; every record from ``LogDamage/sequence`` up to
    /// there is missing from the history. Nil where nothing readable was found behind the damage.
    case damage(LogDamage, resumesAt: SequenceNumber?)
    /// The records from one on were removed by a compaction, before the first one or while they were being read: a
    /// snapshot has the state that they led to. The items go on with `resumesAt`.
    case compacted(from: SequenceNumber, resumesAt: SequenceNumber)
    /// An operation whose record was removed by the compaction that the item before is about, and which had not ended when
    /// the snapshot was made, or was undone. The fate is the one that it had then; the records from `resumesAt` on may say more.
    case carried(HistoryEntry, fate: OperationFate, resumesAt: SequenceNumber)

    /// Of the first record that the item is about.
    public var sequence: SequenceNumber {
        switch self {
        case .entry(let entry): entry.sequence
        case .lost(let range): range.lowerBound
        case .undecodable(let sequence, _, _): sequence
        case .damage(let damage, _): damage.sequence
        case .compacted(let sequence, _): sequence
        case .carried(let entry, _, _): entry.sequence
        }
    }
}

/// One record with what is needed to print it.
public struct HistoryEntry: Sendable, Hashable {
    public let sequence: SequenceNumber
    public let record: Record
    /// The record in one line: no line breaks or other control characters, long values cut. For people; it may change
    /// from one version to the next.
    public let summary: String
    /// The entities that the record is about, each once, in order of appearance.
    public let entities: [EntityID]

    /// Milliseconds since 1970; nil where the record is of a later version, whose time cannot be read.
    public var time: Timestamp? {
        switch record.body {
        case .unknown, .lost: nil
        default: record.time
        }
    }

    /// The time in ISO 8601, in UTC, with three digits after the second: `2026-11-21T07:43:17.120Z`.
    public var timeText: String? { time.flatMap(iso8601) }

    /// The time in the same form; nil beyond the years that can be written.
    public static func timeText(_ time: Timestamp) -> String? { iso8601(time) }

    public var operation: Operation? {
        if case .operation(let operation) = record.body { operation } else { nil }
    }

    /// What sort of record it is, as ``json`` has it.
    public var kind: String { record.kind }

    init(sequence: SequenceNumber, record: Record, sets: EntitySets) {
        self.sequence = sequence
        self.record = record
        summary = RecordSummary(sets: sets).text(of: record.body)
        var seen: Set<EntityID> = []
        entities = record.body.entities.filter { seen.insert($0).inserted }
    }
}

extension Record {
    /// What sort of record it is, as ``json`` has it.
    var kind: String {
        switch body {
        case .serviceInstalled: "serviceInstalled"
        case .operation: "operation"
        case .definingQueryAdded: "definingQueryAdded"
        case .definingQueryRemoved: "definingQueryRemoved"
        case .downloadStarted: "downloadStarted"
        case .downloadPage: "downloadPage"
        case .downloadFinished: "downloadFinished"
        case .linksLeftOpen: "linksLeftOpen"
        case .entitiesQuarantined: "entitiesQuarantined"
        case .entitiesRead: "entitiesRead"
        case .batchPrepared: "batchPrepared"
        case .batchAccepted: "batchAccepted"
        case .batchAnswered: "batchAnswered"
        case .batchInterrupted: "batchInterrupted"
        case .operationsReleased: "operationsReleased"
        case .operationsUndone: "operationsUndone"
        case .operationsRedone: "operationsRedone"
        case .uploadPostponed: "uploadPostponed"
        case .deliveryChanged: "deliveryChanged"
        case .operationsElided: "operationsElided"
        case .conflictResolved: "conflictResolved"
        case .entitiesMissing: "entitiesMissing"
        case .operationsUnfit: "operationsUnfit"
        case .operationsAmended: "operationsAmended"
        case .streamsStored: "streamsStored"
        case .lost: "lost"
        case .unknown: "unknown"
        }
    }
}

extension Record.Body {
    /// The entities that the record is about, some of them several times.
    var entities: [EntityID] {
        switch self {
        case .operation(let operation): operation.touchedEntities
        case .downloadPage(let page):
            page.entities.map(\.entity) + page.removed + page.left
                + page.links.flatMap { [$0.source] + ($0.target.map { [$0] } ?? []) }
        case .entitiesQuarantined(let entities): entities.compactMap(\.entity)
        case .entitiesRead(let images): images.map(\.entity)
        case .entitiesMissing(let entities): entities
        case .streamsStored(let images): images.map(\.entity)
        case .conflictResolved(let resolved): [resolved.entity]
        case .operationsAmended(let amended): amended.flatMap(\.content.touchedEntities)
        case .batchAnswered(let answered):
            answered.outcomes.flatMap { outcome -> [EntityID] in
                if case .confirmed(let images) = outcome.result { images.map(\.entity) } else { [] }
            }
        case .serviceInstalled, .definingQueryAdded, .definingQueryRemoved, .downloadStarted, .downloadFinished,
            .linksLeftOpen, .batchPrepared, .batchAccepted, .batchInterrupted, .operationsReleased, .operationsUndone,
            .operationsRedone, .uploadPostponed, .deliveryChanged, .operationsElided, .operationsUnfit, .lost,
            .unknown:
            []
        }
    }
}
