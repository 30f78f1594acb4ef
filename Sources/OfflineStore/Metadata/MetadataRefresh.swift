public import EDM
public import Operations

/// The result of reading the metadata again: the difference and its consequences.
public struct MetadataRefresh: Sendable {
    /// The differences of the new document, as values and as text.
    public let difference: ModelDifference
    /// The changes that are neither compatible nor approved. Only set by a rehearsal; otherwise they are an error.
    public var incompatible: [ModelChange] = []
    /// Pending operations that do not fit the new metadata, each with the reason. They are in the error archive.
    public var incompatibleOperations: [IncompatibleOperation] = []
    /// Operations that did not fit the previous metadata and fit the new ones. The next upload sends them.
    public var compatibleAgain: [SequenceNumber] = []
    /// Defining queries that the new metadata do not allow. Downloads skip them.
    public var unusableQueries: [UnusableQuery] = []

    /// The defects of the new document, and the elements that the model lacks because of them. An element that a defect
    /// hides counts as removed.
    public let defects: [MetadataDefect]

    /// Creates the result of a comparison of metadata; by default without defects.
    public init(difference: ModelDifference, defects: [MetadataDefect] = []) {
        self.difference = difference
        self.defects = defects
    }

    /// Compares metadata that no store uses.
    ///
    /// - Parameter root: The service root, for the error.
    /// - Throws: `incompatibleMetadata`.
    public init(
        from old: EntityDataModel, to new: EntityDataModel, _ policy: CompatibilityPolicy, root: String
    ) throws(TidelogError) {
        difference = ModelDifference(from: old, to: new)
        defects = new.defects
        let incompatible = policy.incompatibleChanges(in: difference)
        guard incompatible.isEmpty else {
            throw TidelogError(
                IncompatibleMetadata(difference: difference, changes: incompatible, defects: defects), root: root)
        }
    }

    /// Returns whether the element is new, individually or as part of a new element.
    ///
    /// - Parameter path: A path in the form of ``ModelChange/path``: `NS.Customer/Name`, `NS.Container/Orders`.
    public func isExtension(_ path: String) -> Bool { difference.extensions.contains(path) }

    /// Returns whether the element was removed, individually or as part of a removed element.
    public func isRemoved(_ path: String) -> Bool { difference.removed.contains(path) }
}

/// A defining query that the service's metadata do not allow.
public struct UnusableQuery: Sendable {
    /// The name of the defining query.
    public let name: String
    /// The reason.
    public let error: TidelogError
}

/// Metadata changes that prevented the installation of new metadata.
public struct IncompatibleMetadata: Error, Sendable, CustomStringConvertible {
    /// All differences.
    public let difference: ModelDifference
    /// The changes that are neither compatible nor approved; ``ModelChange/rule`` contains the reason.
    public let changes: [ModelChange]
    /// The defects of the new document. They may be the reason for missing elements.
    public let defects: [MetadataDefect]

    package init(difference: ModelDifference, changes: [ModelChange], defects: [MetadataDefect]) {
        self.difference = difference
        self.changes = changes
        self.defects = defects
    }

    /// Two lines for each change: the change, and the rule that it violates.
    public var description: String { changes.map { "\($0)\n  \($0.rule)" }.joined(separator: "\n") }
}

extension TidelogError {
    package init(_ incompatible: IncompatibleMetadata, root: String) {
        let count = incompatible.changes.count
        let named = incompatible.changes.prefix(5).map(\.description).joined(separator: "; ")
        let hidden = incompatible.defects.filter { $0.omitted != nil }
        let defects =
            hidden.first.map { "The new document has \(hidden.count) defects that hide elements, for example: \($0)" }
            ?? ""
        self.init(
            .incompatibleMetadata,
            "The metadata of the service changed incompatibly: \(named)\(count > 5 ? "; and \(count - 5) more" : "")."
                + (defects.isEmpty ? "" : " " + defects),
            place: "\(root)$metadata",
            recovery:
                "The store continues to use the previous metadata. Approve these changes, or use an app that supports them.",
            cause: incompatible)
    }
}
