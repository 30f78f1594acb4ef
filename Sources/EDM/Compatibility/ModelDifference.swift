/// What a metadata document says differently from an earlier one of the same service.
///
/// Each change is listed once, at the element that the document declares it for. What follows from it is not listed again:
/// what is in an added or removed element, the flags and the key that derived types inherit, and the ways along which
/// an element is reached: bindings, associations and partners of a property or set that comes or goes itself.
///
/// Annotations, terms, documentation, references to other documents, aliases and the order of elements are no changes.
/// The order of a key's properties and of parameters is one.
public struct ModelDifference: Sendable, Equatable {
    /// The changes in a fixed order, which does not depend on the documents' own.
    public let changes: [ModelChange]
    /// The paths of all elements that the new document has and the old one has not, those in added elements included.
    public let extensions: Set<String>
    /// The paths of all elements that the old document has and the new one has not, those in removed elements included.
    public let removed: Set<String>
    /// Whether the documents could be compared: those of V2 and V3 with each other, and those of V4. Of others only the
    /// version is listed.
    public let isComplete: Bool

    /// Compares two documents, at a cost in proportion to them.
    public init(from old: EntityDataModel, to new: EntityDataModel) {
        isComplete = old.version.isLegacy == new.version.isLegacy
        let comparison =
            isComplete
            ? ElementComparison(ModelOutline(old).elements, ModelOutline(new).elements) : ElementComparison([], [])
        extensions = comparison.added
        removed = comparison.removed
        let consequences = Consequences(comparison)
        let elements = comparison.findings.filter { !consequences.contains($0) }.map {
            ModelChange(path: $0.path, element: $0.element, kind: $0.kind, rule: CompatibilityRule($0))
        }
        changes = (Self.version(old, new) + elements).sorted()
    }

    public var isEmpty: Bool { changes.isEmpty }

    private static func version(_ old: EntityDataModel, _ new: EntityDataModel) -> [ModelChange] {
        guard old.version != new.version else { return [] }
        return [
            ModelChange(
                path: "edmx:Edmx", element: .document,
                kind: .changed(.version, from: old.version.rawValue, to: new.version.rawValue), rule: .anythingElse)
        ]
    }
}

extension ModelDifference: CustomStringConvertible {
    /// One line for each change.
    public var description: String { changes.map(\.description).joined(separator: "\n") }
}

/// Tells the findings that say again what another one says.
private struct Consequences {
    private let comparison: ElementComparison
    private let changes: Set<Change>

    private struct Change: Hashable {
        let path: String
        let kind: ModelChange.Kind
    }

    init(_ comparison: ElementComparison) {
        self.comparison = comparison
        changes = Set(comparison.findings.map { Change(path: $0.path, kind: $0.kind) })
    }

    func contains(_ finding: ElementComparison.Finding) -> Bool {
        switch finding.kind {
        case .added: finding.subject.companions.contains(where: comparison.added.contains)
        case .removed: finding.subject.companions.contains(where: comparison.removed.contains)
        case .changed(.partner, let old, let new):
            // Told by the partner that is gone and by the one that is new.
            (old.map(comparison.removed.contains) ?? true) && (new.map(comparison.added.contains) ?? true)
        case .changed(.open, _, _), .changed(.hasStream, _, _), .changed(.key, _, _): isInherited(finding)
        case .changed: false
        }
    }

    /// Whether the base type has the same change.
    private func isInherited(_ finding: ElementComparison.Finding) -> Bool {
        guard let base = finding.subject.aspects[.baseType] else { return false }
        return changes.contains(Change(path: base, kind: finding.kind))
    }
}
