import EDM
import Operations

/// Decodes a snapshot record by record, and checks its order, count and digest.
///
/// It is total: any records lead to items or an error. It holds one item in memory and is not thread-safe.
package struct SnapshotDecoder {
    private var pieces: [UInt8] = []
    private let names = NameTable()
    private var last: SnapshotCodec.ItemKind?
    /// The last record that the state includes, according to its header.
    private var applied: SequenceNumber = 0
    /// The set and the type of the last row, which equal ones share.
    private var rowKind = EntityKind(set: "", type: "")
    private var hash = StateHash()
    private var items: UInt64 = 0
    private var digest: StateDigest?

    package init() {}

    /// Returns the item that ends with this record, or nil if more of it follows.
    ///
    /// - Throws: A ``StateError`` with `damaged`. The decoder cannot be used afterwards.
    package mutating func add(kind: UInt8, payload: [UInt8]) throws(StateError) -> SnapshotItem? {
        try add(kind: kind, payload: payload[...])
    }

    /// Returns the item that ends with this record, whose payload is a slice of bytes.
    package mutating func add(kind: UInt8, payload: ArraySlice<UInt8>) throws(StateError) -> SnapshotItem? {
        guard last != .end else { throw Self.damaged("continues after its end") }
        if kind == SnapshotCodec.pieceKind {
            guard pieces.count + payload.count <= SnapshotCodec.maximumLength else {
                throw Self.damaged("contains an item that is too long")
            }
            pieces += payload
            return nil
        }
        guard let known = SnapshotCodec.ItemKind(rawValue: kind) else {
            throw Self.damaged("contains an item of kind \(kind), which this version does not support")
        }
        try checkOrder(known)
        let bytes = pieces.isEmpty ? payload : (pieces + payload)[...]
        pieces = []
        var item: SnapshotItem
        do throws(CodecError) {
            item = try SnapshotCodec.decode(known, payload: bytes, names: names)
        } catch {
            throw Self.damaged("contains an item that cannot be decoded (\(error))")
        }
        switch item {
        case .header(let header):
            guard header.applied < .max else { throw Self.damaged("has no successor") }
            applied = header.applied
        case .row(var row):
            rowKind = rowKind.with(set: row.set, type: row.type)
            row.kind = rowKind
            item = .row(row)
        case .pending(let pending): try checkPosition(of: pending.sequence)
        case .undone(let undone): try checkPosition(of: undone.operation.sequence)
        default: break
        }
        if case .end(let count, let expected) = item {
            guard count == items, expected.value == hash.value else {
                throw Self.damaged("was changed after it was written: its item count or digest differs")
            }
            digest = StateDigest(value: hash.value)
        } else {
            hash.add(item, known, bytes)
            items += 1
        }
        // After the digest, which is that of the snapshot's bytes.
        if case .key(let key, let set, let id) = item { return .key(KeyText.current(key), set: set, of: id) }
        return item
    }

    /// Returns the digest of the decoded state.
    ///
    /// - Throws: A ``StateError`` with `damaged` if the end is missing.
    package func finish() throws(StateError) -> StateDigest {
        guard let digest else { throw Self.damaged("has no end") }
        return digest
    }

    private func checkPosition(of operation: SequenceNumber) throws(StateError) {
        guard operation <= applied else { throw Self.damaged("contains an operation after its end (\(operation))") }
    }

    private mutating func checkOrder(_ kind: SnapshotCodec.ItemKind) throws(StateError) {
        let isInOrder =
            switch last {
            case nil: kind == .header
            // At most once.
            case let last? where last == .header || last == .service: kind.rawValue > last.rawValue
            case let last?: kind.rawValue >= last.rawValue
            }
        guard isInOrder else { throw Self.damaged("contains its items in the wrong order") }
        last = kind
    }

    static func damaged(_ what: String) -> StateError { StateError(.damaged, "The snapshot \(what).") }
}
