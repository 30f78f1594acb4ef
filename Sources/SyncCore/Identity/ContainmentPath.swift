package import EDM
package import ODataQuery
import Operations

/// A path from an entity set or singleton to contained entities, such as `People('ann')/Trips(0)`, or only to the set
/// itself, such as `People('ann')`.
package struct ContainmentPath: Sendable, Hashable {
    package struct Step: Sendable, Hashable {
        package let set: EntitySet
        /// The key. Nil for a singleton, for the target of a to-one property, and for a whole collection.
        package let key: KeySelector?

        /// A Boolean value that indicates whether the step identifies one entity.
        package var isEntity: Bool { key != nil || set.isSingleton || set.isContainedSingle }
    }

    package let steps: [Step]

    /// The set at the end of the path.
    package var set: EntitySet { steps[steps.count - 1].set }
    /// A Boolean value that indicates whether the path leads to one entity.
    package var isEntity: Bool { steps[steps.count - 1].isEntity }
    /// The path of the container.
    package var parent: ContainmentPath? { steps.count > 1 ? ContainmentPath(Array(steps.dropLast())) : nil }

    private init(_ steps: [Step]) { self.steps = steps }

    /// Creates a containment path, or returns nil for any other path, such as one that follows a link to an entity that
    /// is not contained, ends at a property, or calls an operation. A type cast and a final `$count` are ignored.
    package init?(_ path: ResourcePath, _ model: EntityDataModel) {
        var steps: [Step] = []
        var set: EntitySet?
        var key: KeySelector?
        for segment in path.segments {
            switch segment {
            case .entitySet(let root) where set == nil: set = root
            case .key(let selector):
                guard set != nil, key == nil else { return nil }
                key = selector
            case .navigation(let property):
                guard let source = set, let target = model.target(of: property, in: source), target.isContained,
                    target.containment?.navigation == property
                else { return nil }
                let step = Step(set: source, key: key)
                guard step.isEntity else { return nil }
                steps.append(step)
                (set, key) = (target, nil)
            case .type: continue
            case .count where segment == path.segments.last: continue
            default: return nil
            }
        }
        guard let set else { return nil }
        self.init(steps + [Step(set: set, key: key)])
    }

    /// Returns the entity at the end of the path, or nil if it leads to several or to none.
    ///
    /// - Parameter find: Returns an entity by its key, in its container if the set is contained.
    func entity(
        _ find: (EntitySet, KeyPredicate?, _ parent: EntityID?) throws(StateError) -> EntityID?
    ) throws(StateError) -> EntityID? {
        var found: EntityID?
        for step in steps {
            guard step.isEntity else { return nil }
            switch step.key {
            case .entityID(let number): found = EntityID(rawValue: number)
            case .key(let key): found = try find(step.set, key, found)
            case nil: found = try find(step.set, nil, found)
            }
            guard found != nil else { return nil }
        }
        return found
    }
}
