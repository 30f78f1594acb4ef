import EDM
import ODataQuery
import ODataWire
import OfflineStore
import SyncCore

/// Finds the entities that were created as children of an entity, in a representation of that entity.
package struct OnlineChildren {
    let model: EntityDataModel
    let options: ServiceOptions
    let snapshots: OnlineSnapshots

    package init(model: EntityDataModel, options: ServiceOptions, snapshots: OnlineSnapshots) {
        self.model = model
        self.options = options
        self.snapshots = snapshots
    }

    /// Adds the created entities by the numbers of their drafts. Returns whether all were found.
    ///
    /// An entity that cannot be identified is not added: a wrong key is worse than none.
    package func take(
        _ creation: OnlineCreation, _ body: EntityBody, _ payload: EntityPayload, _ set: EntitySet,
        at place: OnlineSnapshots.ContainedLocation? = nil, into entities: inout ResultEntities
    ) -> Bool {
        var own = payload
        // The app has the objects of these entities already.
        own.expanded.removeAll { item in creation.below.contains { $0.navigation.name == item.navigation } }
        let snapshot = snapshots.snapshot(own, model.findEntityType(creation.type) ?? set.entityType, set, at: place)
        entities[creation.draft] = snapshot
        var isComplete = true
        for (level, sent) in zip(creation.below, body.inline) {
            let navigation = level.navigation
            guard let target = model.target(of: navigation, in: set) ?? only(level) else {
                isComplete = false
                continue
            }
            let answered = payload.expanded.first { $0.navigation == navigation.name }?.entities ?? []
            let pairs = ChildMatching(options: options).pairs(
                sent.entities, answered, isSingle: !navigation.isCollection)
            if pairs.count < level.entities.count { isComplete = false }
            let path = snapshot.readLink + "/" + navigation.name
            let below: OnlineSnapshots.ContainedLocation? =
                !target.isContained ? nil : navigation.isCollection ? .collection(path) : .entity(path)
            for pair in pairs {
                let isWhole = take(
                    level.entities[pair.sent], sent.entities[pair.sent], answered[pair.answered], target, at: below,
                    into: &entities)
                isComplete = isComplete && isWhole
            }
        }
        return isComplete
    }

    private func only(_ level: OnlineCreation.Level) -> EntitySet? {
        level.entities.first.flatMap { model.findEntitySet($0.set) }
    }

    /// Returns the expansion of all created entities.
    package func expansion(of creation: OnlineCreation) -> [ExpandItem] {
        creation.below.map { level in
            var options = QueryOptions()
            options.expand = level.entities.flatMap { expansion(of: $0) }.uniqued
            return ExpandItem(level.navigation.name, options: options)
        }
    }
}

extension [ExpandItem] {
    /// The first item of each path.
    fileprivate var uniqued: [ExpandItem] {
        reduce(into: []) { items, item in if !items.contains(where: { $0.path == item.path }) { items.append(item) } }
    }
}
