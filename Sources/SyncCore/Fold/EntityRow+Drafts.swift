import EDM
import Operations

extension EntityRow {
    /// Copies values that the draft of an entity has lost with its principal into the version of the active entity that
    /// the draft contains.
    ///
    /// An activation sends the values that differ from this version, so these do not replace what the user or another
    /// client has assigned since. Has no effect on an entity that is no copy.
    mutating func forgetInDraft(_ changed: PropertyValues) {
        guard case .binary(let bytes)? = values[ClientOnlyMetadata.draftBase],
            var version = try? ValueCodec.decode(bytes)
        else { return }
        version.merge(changed)
        values[ClientOnlyMetadata.draftBase] = .binary(ValueCodec.encode(version))
    }
}
