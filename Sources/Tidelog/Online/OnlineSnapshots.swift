import EDM
import ODataQuery
import ODataWire
import OfflineStore
import SyncCore

/// Entities of a service's responses in the form of the app, with links relative to the service root.
package struct OnlineSnapshots: Sendable {
    let model: EntityDataModel
    let root: String
    private let encoder: RequestEncoder

    package init(model: EntityDataModel, root: String) {
        self.model = model
        self.root = root
        encoder = RequestEncoder(version: model.version, model: model, serviceRoot: root)
    }

    /// The location of contained entities, whose URLs contain the containing entity.
    package enum ContainedLocation: Sendable {
        case entity(String)
        case collection(String)
    }

    /// Returns the path relative to the service root, without query options.
    func relative(_ url: String) -> String {
        let path = String(url.prefix { $0 != "?" })
        return String(path.hasPrefix(root) ? path.dropFirst(root.count) : path.drop { $0 == "/" })
    }

    private func canonical(_ set: EntitySet?, _ key: KeyPredicate?, at place: ContainedLocation?) -> String? {
        guard let set else { return nil }
        guard set.isContained else { return key.map { encoder.url(of: .entity(set: set, key: $0)) } }
        switch place {
        case .entity(let url): return url
        case .collection(let url): return key.map { url + encoder.predicate($0, of: set.entityType) }
        case nil: return nil
        }
    }

    /// Returns an entity.
    ///
    /// - Parameter place: the location of a contained entity.
    package func snapshot(
        _ payload: EntityPayload, _ declared: EntityType, _ set: EntitySet?, at place: ContainedLocation? = nil
    ) -> EntitySnapshot {
        let type = payload.type.flatMap { model.findEntityType($0) } ?? declared
        let key = KeyPredicate(of: type, in: payload.values)
        let canonical = canonical(set, key, at: place)
        let link = payload.readLink ?? payload.id ?? payload.editLink ?? canonical ?? set?.name ?? ""
        var expanded: [EntitySnapshot.Expanded] = []
        for item in payload.expanded {
            guard let property = type.findProperty(item.navigation),
                let target = property.navigation.flatMap({ model.findEntityType($0.targetType) })
            else { continue }
            let targetSet = set.flatMap { model.target(of: property, in: $0) }
            var below: ContainedLocation?
            if let containment = targetSet?.containment, containment.navigation == property, let canonical {
                let path = canonical + "/" + (containment.cast.map { $0 + "/" } ?? "") + property.name
                below = property.isCollection ? .collection(path) : .entity(path)
            }
            expanded.append(
                EntitySnapshot.Expanded(
                    navigation: item.navigation,
                    entities: item.entities.map { snapshot($0, target, targetSet, at: below) }))
        }
        let links = EntityLinks(model: model, serviceRoot: root)
        // A service behind a gateway may return links of another origin, to which no change is sent.
        let editLink = payload.editLink.flatMap { links.isOfOrigin(links.absolute($0)) ? $0 : nil }
        var entity = EntitySnapshot(
            set: set?.name ?? "", type: type.name, values: payload.values, etag: payload.etag,
            readLink: canonical ?? link, editLink: editLink ?? canonical ?? link, expanded: expanded)
        entity.links.streams = StreamLinks.all(in: payload).map { $0.resolved(by: links) }
        return entity
    }

    /// Returns a row of `$apply`, which has values but no identity.
    package func row(_ payload: EntityPayload, _ type: EntityType) -> EntitySnapshot {
        EntitySnapshot(set: "", type: type.name, values: payload.values, readLink: "", editLink: "")
    }

    /// Returns an entity of which only the URL is known.
    package func reference(_ url: String, _ type: EntityType, _ set: EntitySet?) -> EntitySnapshot {
        let link = encoder.url(of: .url(url))
        return EntitySnapshot(set: set?.name ?? "", type: type.name, values: [:], readLink: link, editLink: link)
    }

    /// Returns the link of an entity that a delta reports as removed.
    package func link(ofRemoved removed: RemovedEntity, _ type: EntityType, _ set: EntitySet?) -> String? {
        if let key = KeyPredicate(of: type, in: removed.entity.values), let set, !set.isContained {
            return encoder.url(of: .entity(set: set, key: key))
        }
        return removed.entity.id.map { encoder.url(of: .url($0)) }
    }

    /// Returns an entity of any set. `nil` if the metadata does not contain its type.
    package func mixed(_ payload: EntityPayload) -> EntitySnapshot? {
        guard let type = payload.type.flatMap({ model.findEntityType($0) }) else { return nil }
        let set = payload.set.flatMap(model.findEntitySet) ?? onlySet(of: type)
        return snapshot(payload, type, set)
    }

    /// Returns the only set with entities of the type.
    func onlySet(of type: EntityType) -> EntitySet? {
        let candidates = model.entitySets.filter { model.isType(type.name, derivedFrom: $0.entityType.name) }
        return candidates.count == 1 ? candidates[0] : nil
    }

    /// Returns a combination of `$crossjoin`.
    package func combination(_ row: [(set: EntitySet, entity: MixedEntitiesReader.JoinedEntity)]) -> EntitySnapshot {
        let expanded = row.map { set, entity in
            let part =
                switch entity {
                case .entity(let payload): snapshot(payload, set.entityType, set)
                case .link(let url): reference(url, set.entityType, set)
                }
            return EntitySnapshot.Expanded(navigation: set.name, entities: [part])
        }
        return EntitySnapshot(set: "", type: "", values: [:], readLink: "", editLink: "", expanded: expanded)
    }
}
