package import OperationLog
package import Operations

/// The content of one position of the log.
package enum HistoryItem: Sendable, Hashable {
    case entry(HistoryEntry)
    /// Records that a repair could not read and replaced with placeholders. Adjacent ones form one item.
    case lost(ClosedRange<SequenceNumber>)
    /// A record with intact bytes that this version cannot decode.
    case undecodable(sequence: SequenceNumber, kind: UInt8, reason: String)
    /// Damaged bytes. The items continue with `resumesAt`; all records from ``LogDamage/sequence`` up to it are missing
    /// from the history. Nil if nothing readable follows the damage.
    case damage(LogDamage, resumesAt: SequenceNumber?)
    /// Records that a compaction removed, before the first record or during reading. A snapshot contains the resulting
    /// state. The items continue with `resumesAt`.
    case compacted(from: SequenceNumber, resumesAt: SequenceNumber)
    /// An operation whose record was removed by the compaction in the previous item, and which was pending or undone at
    /// the time of the snapshot. The outcome is the one of that time; records from `resumesAt` on may change it.
    case carried(HistoryEntry, outcome: OperationOutcome, resumesAt: SequenceNumber)

    /// The sequence number of the first record of the item.
    package var sequence: SequenceNumber {
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

/// A record in a form that can be displayed.
package struct HistoryEntry: Sendable, Hashable {
    package let sequence: SequenceNumber
    package let record: Record
    /// The record in one line without control characters and with long values shortened. It is intended for users and
    /// may change between versions.
    package let summary: String
    /// The entities of the record, each once, in order of appearance.
    package let entities: [EntityID]

    /// The time in milliseconds since 1970; nil for a record of a later version, whose time cannot be read.
    package var time: Timestamp? {
        switch record.body {
        case .unknown, .lost: nil
        default: record.time
        }
    }

    /// The time in ISO 8601, in UTC, with milliseconds: `2026-11-21T07:43:17.120Z`.
    package var timeText: String? { time.flatMap(iso8601) }

    /// Returns a time in the same form, or nil for years that the form does not support.
    package static func timeText(_ time: Timestamp) -> String? { iso8601(time) }

    package var operation: Operation? {
        if case .operation(let operation) = record.body { operation } else { nil }
    }

    /// The kind of the record, as in ``json``.
    package var kind: String { record.kind }

    init(sequence: SequenceNumber, record: Record, sets: EntitySets) {
        self.sequence = sequence
        self.record = record
        summary = RecordSummary(sets: sets).text(of: record.body)
        var seen: Set<EntityID> = []
        entities = record.body.entities.filter { seen.insert($0).inserted }
    }
}

extension Record {
    /// The kind of the record, as in ``json``.
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
        case .clientChangesKept: "clientChangesKept"
        case .conflictResolved: "conflictResolved"
        case .entitiesMissing: "entitiesMissing"
        case .operationsIncompatible: "operationsUnfit"
        case .operationsAmended: "operationsAmended"
        case .streamsStored: "streamsStored"
        case .lost: "lost"
        case .unknown: "unknown"
        }
    }
}

extension Record.Body {
    /// The entities of the record, possibly with repetitions.
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
            .operationsRedone, .uploadPostponed, .deliveryChanged, .operationsElided, .clientChangesKept,
            .operationsIncompatible, .lost,
            .unknown:
            []
        }
    }
}
