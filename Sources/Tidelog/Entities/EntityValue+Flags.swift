/// Flags of the kinds of changes. Like ``EntityValue/state``, they describe the entity when it was last read or saved.
extension EntityValue {
    /// A Boolean value that indicates whether the entity exists in the store or on the service and has changes of its
    /// values or links that are not confirmed. `false` for an entity that was created and is not confirmed.
    public var isUpdated: Bool { (state == .pending || state == .error) && !isCreated && !isDeleted }

    /// A Boolean value that indicates whether the service rejected a change of the entity.
    ///
    /// The change is still pending, so ``isCreated`` or ``isUpdated`` is true as well.
    public var hasError: Bool { state == .error }
}
