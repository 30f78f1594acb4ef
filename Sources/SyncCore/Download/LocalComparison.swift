import EDM
import Operations

/// The result of comparing a received entity with the store.
enum LocalComparisonResult { case inserted, changed, unchanged }

/// Determines changes if the service does not report them, by comparing the received entities with the base state.
struct LocalComparison {
    let storage: WorkingSet
    let model: EntityDataModel
    let index: RelationshipIndex
    private let single = SingleDependents()

    /// The constraints with single dependents of the last set, because the entities of a page belong to few sets.
    private final class SingleDependents {
        private var set = ""
        private var constraints: [RelationshipIndex.Constraint] = []

        func constraints(in set: String, _ index: RelationshipIndex) -> [RelationshipIndex.Constraint] {
            if set != self.set {
                (self.set, constraints) = (set, index.constraints(ofDependentsIn: set).filter(\.isDependentSingle))
            }
            return constraints
        }
    }

    init(storage: WorkingSet, model: EntityDataModel, index: RelationshipIndex) {
        self.storage = storage
        self.model = model
        self.index = index
    }

    /// Compares an image. The result is unchanged only if applying the image would have no effect at all.
    ///
    /// - Parameters:
    ///   - isNaming: Whether the image contains only another name of the entity.
    ///   - known: The base state of the entity. Its parts are read one by one, because a constant for it is a copy.
    func finding(
        _ image: EntityImage, isNaming: Bool, _ known: EntityRow?
    ) throws(StateError) -> LocalComparisonResult {
        if isNaming, let name = image.editLink {
            let known = try storage.entity(set: EntityNames<WorkingSet>.namesSet, key: name)
            return known == image.entity ? .unchanged : .changed
        }
        guard let origin = known?.origin, origin != .gone, let kind = known?.kind, let values = known?.values
        else { return .inserted }
        // For an entity with a local change since the last read, even unchanged values are new information.
        guard origin == .service, kind.type == image.type, kind.set == image.set,
            image.etag == nil || image.etag.isExactly(known?.etag),
            image.editLink == nil || image.editLink.isExactly(known?.editLink)
        else { return .changed }
        guard Self.isSame(image.values, values) else { return .changed }
        for links in image.links where try !isSame(links, image.entity, kind) { return .changed }
        return try hasItsPartners(image.entity, kind, values) ? .unchanged : .changed
    }

    /// Returns whether all sent values are known and identical.
    private static func isSame(_ sent: PropertyValues, _ known: PropertyValues) -> Bool {
        // An unchanged entity usually has the same bytes.
        if sent.hasSameEncoding(as: known) { return true }
        // A changed one usually has the same properties in the same order.
        if sent.names == known.names { return zip(sent.values, known.values).allSatisfy { isSame($0, $1) } }
        return sent.allSatisfy { name, value in known[name].map { isSame($0, value) } ?? false }
    }

    /// Returns whether the values are identical and not only equal: `1.5` differs from `1.50`. A NaN is identical to
    /// itself.
    private static func isSame(_ a: Value, _ b: Value) -> Bool {
        switch (a, b) {
        case (.null, .null): true
        case (.integer(let a), .integer(let b)): a == b
        case (.boolean(let a), .boolean(let b)): a == b
        case (.guid(let a), .guid(let b)): a == b
        case (.date(let a), .date(let b)): a == b
        case (.double(let a), .double(let b)): a.bitPattern == b.bitPattern
        case (.string(let a), .string(let b)): a.isExactly(b)
        case (.decimal(let a), .decimal(let b)): a.text.isExactly(b.text)
        case (.dateTimeOffset(let a), .dateTimeOffset(let b)):
            a == b && a.local.time.fractionDigits == b.local.time.fractionDigits
        default: ValueCodec.encode(["": a]) == ValueCodec.encode(["": b])
        }
    }

    private func isSame(
        _ links: EntityImage.ImageLinks, _ id: EntityID, _ kind: EntityKind
    ) throws(StateError) -> Bool {
        guard let end = model.findEntityType(kind.type)?.findProperty(links.navigation)?.navigation else { return true }
        let known = Set(try storage.links(of: id, along: end).filter(\.inBase).map { $0.target(along: end) })
        // If dependent properties define the links, an expansion removes none.
        let isAll = links.isComplete && end.constraints.isEmpty && end.inverseConstraints.isEmpty
        return isAll ? known == Set(links.targets) : known.isSuperset(of: links.targets)
    }

    /// Returns whether the entity still has the partners that its dependent properties name. Applying the image would
    /// restore a link that another entity displaced.
    private func hasItsPartners(
        _ id: EntityID, _ kind: EntityKind, _ values: PropertyValues
    ) throws(StateError) -> Bool {
        for constraint in single.constraints(in: kind.set, index) {
            guard constraint.pairs.allSatisfy({ (values[$0.dependent] ?? .null) != .null }) else { continue }
            let links =
                constraint.dependentIsFirst
                ? try storage.links(constraint.relationship, first: id)
                : try storage.links(constraint.relationship, second: id)
            if !links.contains(where: \.inBase) { return false }
        }
        return true
    }
}
