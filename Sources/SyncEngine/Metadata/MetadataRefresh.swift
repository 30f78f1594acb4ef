public import EDM
public import Operations

/// What reading the metadata again came to: what is different, and what follows from it.
public struct MetadataRefresh: Sendable {
    /// What the new document says differently, to branch on and to read.
    public let difference: ModelDifference
    /// The changes that are neither compatible nor approved. Only of a rehearsal; otherwise they are an error.
    public var incompatible: [ModelChange] = []
    /// Pending operations that the new metadata have no place for, each with the reason. They are in the error archive.
    public var unfit: [UnfitOperation] = []
    /// Operations that had no place in the metadata before, and have one now. They go with the next upload.
    public var fitAgain: [SequenceNumber] = []
    /// Defining queries that the new metadata do not allow. Downloads pass over them.
    public var unusableQueries: [UnusableQuery] = []

    /// What is wrong with the new document, and what the model does not have because of it. What a document had before and a
    /// defect hides now counts as removed.
    public let defects: [MetadataDefect]

    public init(difference: ModelDifference, defects: [MetadataDefect] = []) {
        self.difference = difference
        self.defects = defects
    }

    /// Of metadata that no store is kept by.
    ///
    /// - Parameter root: of the service, for the error.
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

    /// Whether the element is new, by itself or with what it is in.
    ///
    /// - Parameter path: as ``ModelChange/path`` has it: `NS.Customer/Name`, `NS.Container/Orders`.
    public func isExtension(_ path: String) -> Bool { difference.extensions.contains(path) }

    /// Whether the element is gone, by itself or with what it was in.
    public func isRemoved(_ path: String) -> Bool { difference.removed.contains(path) }
}

/// A defining query that the service's metadata do not allow.
public struct UnusableQuery: Sendable {
    public let name: String
    /// Says why.
    public let error: TidelogError
}

/// The changes of metadata that kept them from being taken over.
public struct IncompatibleMetadata: Error, Sendable, CustomStringConvertible {
    /// Everything that is different.
    public let difference: ModelDifference
    /// What of it is neither compatible nor approved; ``ModelChange/rule`` says why.
    public let changes: [ModelChange]
    /// What is wrong with the new document. It may be why elements are gone.
    public let defects: [MetadataDefect]

    package init(difference: ModelDifference, changes: [ModelChange], defects: [MetadataDefect]) {
        self.difference = difference
        self.changes = changes
        self.defects = defects
    }

    /// Two lines for each change: what it is, and the rule that it breaks.
    public var description: String { changes.map { "\($0)\n  \($0.rule)" }.joined(separator: "\n") }
}

extension TidelogError {
    package init(_ incompatible: IncompatibleMetadata, root: String) {
        let count = incompatible.changes.count
        let named = incompatible.changes.prefix(5).map(\.description).joined(separator: "; ")
        let hidden = incompatible.defects.filter { $0.leftOut != nil }
        let defects =
            hidden.first.map { "The new document cannot be used as a whole (\(hidden.count) defects), as: \($0)" } ?? ""
        self.init(
            .incompatibleMetadata,
            "The service's metadata have changed incompatibly: \(named)\(count > 5 ? "; and \(count - 5) more" : "")."
                + (defects.isEmpty ? "" : " " + defects),
            place: "\(root)$metadata",
            recovery: "What was known stays in force. Approve such changes, or use an app that was made for them.",
            cause: incompatible)
    }
}
