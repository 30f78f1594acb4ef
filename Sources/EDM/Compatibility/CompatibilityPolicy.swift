/// The metadata changes that an app has approved in advance, beyond those that are always compatible.
public struct CompatibilityPolicy: Sendable, Hashable {
    /// Whether members may be added to enumeration types.
    public var hasOpenEnumerations: Bool
    /// Whether any change or addition is approved. Does not include removals.
    public var canChangeAnything: Bool
    /// Whether any element may be removed.
    public var canRemoveAnything: Bool
    /// The paths of elements that may be removed, as in ``ModelChange/path``.
    ///
    /// The path of an element approves the removal of the whole element. To approve the removal of a part only, use
    /// the path of the part.
    public var removable: Set<String>

    /// Creates a policy. By default it approves nothing.
    public init(
        hasOpenEnumerations: Bool = false, canChangeAnything: Bool = false, canRemoveAnything: Bool = false,
        removable: Set<String> = []
    ) {
        self.hasOpenEnumerations = hasOpenEnumerations
        self.canChangeAnything = canChangeAnything
        self.canRemoveAnything = canRemoveAnything
        self.removable = removable
    }

    /// Returns the changes that are neither compatible nor approved, in the order of the difference.
    /// ``ModelChange/rule`` is the reason.
    public func incompatibleChanges(in difference: ModelDifference) -> [ModelChange] {
        difference.changes.filter { !allows($0, in: difference) }
    }

    private func allows(_ change: ModelChange, in difference: ModelDifference) -> Bool {
        if change.rule.isCompatible { return true }
        switch change.kind {
        case .removed: return canRemoveAnything || removable.contains(change.path)
        case .added: return canChangeAnything || (hasOpenEnumerations && change.rule == .memberAdded)
        // For different protocols nothing else was compared, so the extent of the approval is unknown.
        case .changed: return canChangeAnything && difference.isComplete
        }
    }
}
