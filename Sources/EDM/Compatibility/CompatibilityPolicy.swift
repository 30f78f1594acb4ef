/// Which changes of metadata an app has approved beforehand, beyond those that every app can live with.
public struct CompatibilityPolicy: Sendable, Hashable {
    /// Whether members may be added to enumeration types.
    public var hasOpenEnumerations: Bool
    /// Whether anything may change or be added. Removals are not meant.
    public var canChangeAnything: Bool
    /// Whether any element may be removed.
    public var canRemoveAnything: Bool
    /// The paths of elements that may be removed, as ``ModelChange/path`` has them. One is for the element with all that
    /// is in it, where the whole element goes; where a part of it goes the part's own path counts.
    public var removable: Set<String>

    public init(
        hasOpenEnumerations: Bool = false, canChangeAnything: Bool = false, canRemoveAnything: Bool = false,
        removable: Set<String> = []
    ) {
        self.hasOpenEnumerations = hasOpenEnumerations
        self.canChangeAnything = canChangeAnything
        self.canRemoveAnything = canRemoveAnything
        self.removable = removable
    }

    /// The changes that are neither compatible nor approved, in the order of the difference; ``ModelChange/rule`` says why.
    public func incompatibleChanges(in difference: ModelDifference) -> [ModelChange] {
        difference.changes.filter { !allows($0, in: difference) }
    }

    private func allows(_ change: ModelChange, in difference: ModelDifference) -> Bool {
        if change.rule.isCompatible { return true }
        switch change.kind {
        case .removed: return canRemoveAnything || removable.contains(change.path)
        case .added: return canChangeAnything || (hasOpenEnumerations && change.rule == .memberAdded)
        // Of two protocols nothing else was compared, so nobody can know what is approved.
        case .changed: return canChangeAnything && difference.isComplete
        }
    }
}
