import EDM
public import Operations
public import SyncCore

/// What pending operations read and write, as one value of each, and by what is read and written.
extension SQLiteState {
    public func effect(of sequence: SequenceNumber) throws(StateError) -> OperationEffect? {
        guard let row = try first("SELECT effect FROM effects WHERE sequence = ?", [integer(sequence)]) else {
            return nil
        }
        do throws(CodecError) {
            return try OperationEffect(encoded: row.first?.blob ?? [])
        } catch {
            throw StateError(.damaged, "The views hold an operation's effect that does not decode. \(error)")
        }
    }

    public func putEffect(_ effect: OperationEffect, of sequence: SequenceNumber) throws(StateError) {
        try removeEffect(of: sequence)
        try run("INSERT INTO effects VALUES (?, ?)", [integer(sequence), .blob(effect.encoded)])
        for (item, access) in effect.accesses {
            try run(
                "INSERT INTO accesses VALUES (?, ?, ?)",
                [integer(item.rawValue), integer(sequence), .integer(Int64(access.rawValue))])
        }
    }

    public func removeEffect(of sequence: SequenceNumber) throws(StateError) {
        guard let gone = try effect(of: sequence) else { return }
        for item in gone.accesses.keys {
            try run(
                "DELETE FROM accesses WHERE item = ? AND sequence = ?", [integer(item.rawValue), integer(sequence)])
        }
        try run("DELETE FROM effects WHERE sequence = ?", [integer(sequence)])
    }

    public func removeEffects() throws(StateError) {
        try run("DELETE FROM effects")
        try run("DELETE FROM accesses")
    }

    public func accesses(
        of item: StateItem
    ) throws(StateError) -> [(operation: SequenceNumber, access: Access)] {
        try list("SELECT sequence, access FROM accesses WHERE item = ? ORDER BY sequence", [integer(item.rawValue)]) {
            (unsigned($0.integer(0)), Access(rawValue: UInt8(truncatingIfNeeded: $0.integer(1))))
        }
    }
}
