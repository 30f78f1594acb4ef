/// The difference between two metadata documents of a service.
///
/// Each change is listed once, at the element that declares it. Consequences are not listed: the contents of an added
/// or removed element, the flags and key that derived types inherit, and references to a property or set that is
/// itself added or removed: bindings, associations and partners.
///
/// Annotations, terms, documentation, references to other documents, aliases and the order of elements are not
/// compared. The order of key properties and of parameters is.
public struct ModelDifference: Sendable, Equatable {
    /// The changes in a fixed order, independent of the order in the documents.
    public let changes: [ModelChange]
    /// The paths of all elements that only the new document has, including those in added elements.
    public let extensions: Set<String>
    /// The paths of all elements that only the old document has, including those in removed elements.
    public let removed: Set<String>
    /// Whether the documents are comparable: V2 and V3 with each other, and V4 versions with each other. Otherwise
    /// only the version is listed.
    public let isComplete: Bool

    /// Compares two documents. Cost: proportional to their size.
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

    /// A Boolean value that indicates whether there are no changes.
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

/// Identifies findings that follow from another finding.
private struct Consequences {
    private let comparison: ElementComparison
    private let changes: Set<Change>

    private struct Change: Hashable {
        let path: String
        let kind: ModelChange.Difference
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
            // Reported by the removed and the new partner.
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
