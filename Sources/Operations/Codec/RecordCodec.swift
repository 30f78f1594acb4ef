package import EDM

/// The binary form of records, version 1.
///
/// A record consists of its kind, which the log stores separately, and a payload: the time as a zigzag varint, the
/// required fields of the kind, and its optional fields with tags; see `Docs/RecordFormat.md`. Strings and lists are
/// prefixed with their length. ``Record/Body/lost`` has an empty payload. A kind that this version does not support
/// decodes to ``Record/Body/unknown(kind:payload:)``, and so does a record with an unknown field that must not be
/// ignored.
package enum RecordCodec {
    /// The number of a record kind. Numbers are part of the format and never reused.
    package enum RecordKind: UInt8, Sendable, CaseIterable {
        /// The number of the placeholders that a repair of the log writes for lost records. No payload.
        case lost = 0
        case serviceInstalled = 1
        case operation = 2
        case definingQueryAdded = 3
        case definingQueryRemoved = 4
        case downloadStarted = 5
        /// A page without unchanged entities.
        case downloadPage = 6
        /// A page with unchanged entities, which are runs of IDs. A separate kind, because a search for an ID finds it
        /// as a number in the records of all other kinds.
        case comparedPage = 7
        case downloadFinished = 8
        case linksLeftOpen = 9
        case entitiesQuarantined = 10
        case entitiesRead = 11
        case entitiesMissing = 12
        case batchPrepared = 13
        case batchAccepted = 14
        case batchAnswered = 15
        case batchInterrupted = 16
        /// Released, undone, redone or elided operations, or kept changes of client-only ones.
        case queueChanged = 17
        case deliveryChanged = 18
        case uploadPostponed = 19
        case conflictResolved = 20
        case operationsIncompatible = 21
        case operationsAmended = 22
        case streamsStored = 23
    }

    /// Encodes a record. Encoding never fails and is deterministic: equal records have equal bytes.
    package static func encode(_ record: Record) -> (kind: UInt8, payload: [UInt8]) {
        var writer = ByteWriter(minimumCapacity: 256)
        let kind = encode(record, into: &writer)
        return (kind, writer.bytes)
    }

    /// Appends the payload of a record, like ``encode(_:)``. Returns its kind.
    package static func encode(_ record: Record, into writer: inout ByteWriter) -> UInt8 {
        if case .unknown(let kind, let payload) = record.body {
            writer.bytes.append(contentsOf: payload)
            return kind
        }
        let kind = RecordKind(record.body)
        guard kind != .lost else { return kind.rawValue }
        writer.signed(record.time)
        writer.body(record.body)
        if !kind.endsWithFields { writer.end() }
        return kind.rawValue
    }

    /// Returns the operation in the payload of its record, in the form of ``ValueCodec/encode(_:)-(Operation)``: the
    /// bytes after the time.
    package static func operation(in payload: [UInt8]) -> ArraySlice<UInt8> {
        payload.drop { $0 >= 0x80 }.dropFirst()
    }

    /// Decodes a record. Throws if the payload is not valid for its kind. Never traps, whatever the bytes.
    package static func decode(kind: UInt8, payload: [UInt8]) throws(CodecError) -> Record {
        try decode(kind: kind, payload: payload[...], names: nil)
    }

    static func decode(kind: UInt8, payload: ArraySlice<UInt8>, names: NameTable?) throws(CodecError) -> Record {
        guard let known = RecordKind(rawValue: kind) else { return unknown(kind, payload) }
        if known == .operation, let names,
            let record = payload.withUnsafeBytes({ PlainReader.record($0, names: names) })
        {
            return record
        }
        // The placeholder of a lost record has no fields, not even a time.
        var record = Record(time: 0, body: .lost)
        do throws(CodecError) {
            try ByteReader.readWhole(payload, names: names) { reader throws(CodecError) in
                guard known != .lost else { return }
                record = Record(time: try reader.signed(), body: try reader.body(known))
                if !known.endsWithFields { try reader.end() }
            }
        } catch {
            guard error.reason == .unknownField else { throw error }
            return unknown(kind, payload)
        }
        return record
    }

    private static func unknown(_ kind: UInt8, _ payload: ArraySlice<UInt8>) -> Record {
        Record(time: 0, body: .unknown(kind: kind, payload: Array(payload)))
    }

    /// Returns the time of a record without decoding the rest. `nil` for a record without time, or of a kind that
    /// this version does not support.
    package static func time(kind: UInt8, payload: [UInt8]) -> Timestamp? {
        guard RecordKind(rawValue: kind) != nil else { return nil }
        return try? ByteReader.read(payload, toEnd: false) { reader throws(CodecError) in try reader.signed() }
    }
}

extension RecordCodec.RecordKind {
    /// Whether the content of the record is one structure, whose optional fields are those of the record.
    fileprivate var endsWithFields: Bool {
        switch self {
        case .operation, .definingQueryAdded, .downloadPage, .comparedPage, .downloadFinished, .batchPrepared: true
        default: false
        }
    }

    /// Creates the kind of a record. Records of later versions have none.
    fileprivate init(_ body: Record.Body) {
        self =
            switch body {
            case .lost, .unknown: .lost
            case .serviceInstalled: .serviceInstalled
            case .operation: .operation
            case .definingQueryAdded: .definingQueryAdded
            case .definingQueryRemoved: .definingQueryRemoved
            case .downloadStarted: .downloadStarted
            case .downloadPage(let page): page.unchanged.isEmpty ? .downloadPage : .comparedPage
            case .downloadFinished: .downloadFinished
            case .linksLeftOpen: .linksLeftOpen
            case .entitiesQuarantined: .entitiesQuarantined
            case .entitiesRead: .entitiesRead
            case .entitiesMissing: .entitiesMissing
            case .batchPrepared: .batchPrepared
            case .batchAccepted: .batchAccepted
            case .batchAnswered: .batchAnswered
            case .batchInterrupted: .batchInterrupted
            case .operationsReleased, .operationsUndone, .operationsRedone, .operationsElided, .clientChangesKept:
                .queueChanged
            case .deliveryChanged: .deliveryChanged
            case .uploadPostponed: .uploadPostponed
            case .conflictResolved: .conflictResolved
            case .operationsIncompatible: .operationsIncompatible
            case .operationsAmended: .operationsAmended
            case .streamsStored: .streamsStored
            }
    }
}
