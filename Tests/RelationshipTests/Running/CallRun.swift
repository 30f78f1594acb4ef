import EDM
import SyncCore
import Tidelog

/// Performs the calls of a cell on a data service, as an app does.
final class CallRun {
    let service: DataService
    private let combination: Combination
    private(set) var entities: [Call.Name: EntityValue] = [:]

    init(_ service: DataService, _ combination: Combination) {
        self.service = service
        self.combination = combination
    }

    /// Reads the entities that the call refers to and does not create.
    func load(_ call: Call) async throws {
        for name in call.names where !name.isNew && entities[name] == nil {
            let entity = EntityValue(try type(name.set))
            entity.readLink = "\(name)"
            try await service.loadEntity(entity)
            entities[name] = entity
        }
    }

    func perform(_ call: Call) async throws {
        switch call {
        case .createLink(let from, let to):
            try await service.createLink(
                from: try entity(from.entity), property: try property(from), to: try entity(to))
        case .updateLink(let from, let to):
            try await service.updateLink(
                from: try entity(from.entity), property: try property(from), to: try entity(to))
        case .deleteLink(let from, let to):
            try await service.deleteLink(
                from: try entity(from.entity), property: try property(from), to: try to.map { try entity($0) })
        case .replaceLinks(let from, let targets):
            try await service.replaceLinks(
                from: try entity(from.entity), property: try property(from), with: try targets.map { try entity($0) })
        case .createEntity(let draft): try await service.createEntity(try prepare(draft))
        case .createRelatedEntity(let draft, let place):
            try await service.createRelatedEntity(
                try prepare(draft), in: try entity(place.entity), property: try property(place))
        case .updateEntity(let draft): try await service.updateEntity(try prepare(draft))
        case .deleteEntity(let name): try await service.deleteEntity(try entity(name))
        case .calls(let calls): for call in calls { try await perform(call) }
        case .changeSet(let calls):
            let changes = ChangeSet()
            for call in calls { try record(call, in: changes) }
            try await service.applyChanges(changes)
        }
    }

    private func record(_ call: Call, in changes: ChangeSet) throws {
        switch call {
        case .createLink(let from, let to):
            changes.createLink(from: try entity(from.entity), property: try property(from), to: try entity(to))
        case .updateLink(let from, let to):
            changes.updateLink(from: try entity(from.entity), property: try property(from), to: try entity(to))
        case .deleteLink(let from, let to):
            changes.deleteLink(
                from: try entity(from.entity), property: try property(from), to: try to.map { try entity($0) })
        case .createEntity(let draft): changes.createEntity(try prepare(draft))
        case .createRelatedEntity(let draft, let place):
            changes.createRelatedEntity(
                try prepare(draft), in: try entity(place.entity), property: try property(place))
        case .updateEntity(let draft): changes.updateEntity(try prepare(draft))
        case .deleteEntity(let name): changes.deleteEntity(try entity(name))
        case .changeSet, .calls, .replaceLinks: preconditionFailure("A change set holds single calls.")
        }
    }

    private func prepare(_ draft: Call.Draft) throws -> EntityValue {
        let entity = try entity(draft.entity)
        for (name, value) in draft.values {
            entity.setDataValue(for: try property(draft.entity.set, name), to: value.map { .integer(Int64($0)) })
        }
        for (name, target) in draft.bound {
            entity.bindEntity(try self.entity(target), to: try property(draft.entity.set, name))
        }
        for (name, targets) in draft.related {
            let property = try property(draft.entity.set, name)
            let values = try targets.map { try prepare($0) }
            if property.isCollection {
                property.setEntityList(in: entity, to: values)
            } else {
                property.setEntityValue(in: entity, to: values[0])
            }
        }
        return entity
    }

    /// Returns the object for a name of the cell. A new entity has a value for its label property, and no key.
    private func entity(_ name: Call.Name) throws -> EntityValue {
        if let known = entities[name] { return known }
        let entity = EntityValue(try type(name.set))
        let end = name.set == combination.first.set ? combination.first : combination.second
        entity[end.label] = .string("new")
        entities[name] = entity
        return entity
    }

    func type(_ set: String) throws -> EntityType { try service.entitySet(withName: set).entityType }

    func property(_ set: String, _ name: String) throws -> Property { try type(set).property(withName: name) }

    private func property(_ place: Call.Place) throws -> Property { try property(place.entity.set, place.navigation) }
}
