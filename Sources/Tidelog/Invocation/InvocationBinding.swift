public import EDM
import ODataWire
import OfflineStore

/// The binding parameter of a bound function or action.
public enum InvocationBinding {
    /// An entity that exists on the service. For a queued action also one that was created locally.
    case entity(EntityValue)
    /// All entities of a set, or a singleton, by name. If a type is given, only the entities of this derived type.
    case set(String, as: EntityType? = nil)
    /// The targets of a navigation property of an entity, or the value of a structural property.
    case property(Property, of: EntityValue)
}

/// A binding, with the type that selects the operation.
struct ResolvedBinding {
    let type: TypeReference
    let binding: InvocationBinding
    let property: Property?
    /// The entity set of the binding, if known.
    let set: EntitySet?
    /// The declared type of the resource that the URL addresses, or `nil` if unknown.
    let declared: String?
    let etag: String?

    init(_ binding: InvocationBinding, in model: EntityDataModel) throws(TidelogError) {
        self.binding = binding
        switch binding {
        case .entity(let entity):
            type = TypeReference(.entity(name: entity.entityType.name))
            property = nil
            set = entity.entitySet
            declared = entity.entitySet?.entityType.name
            etag = entity.etag
        case .set(let name, let only):
            guard let found = model.findEntitySet(name) else {
                throw TidelogError(.refused(.unknownEntitySet), "There is no entity set \(name).")
            }
            type = TypeReference(
                .entity(name: only?.name ?? found.entityType.name), isCollection: !found.isSingleton)
            property = nil
            set = found
            declared = found.entityType.name
            etag = nil
        case .property(let own, let entity):
            type =
                own.navigation.map { TypeReference(.entity(name: $0.targetType), isCollection: own.isCollection) }
                ?? own.type
            property = own
            set = own.isNavigation ? entity.entitySet.flatMap { model.target(of: own, in: $0) } : nil
            declared = nil
            etag = nil
        }
    }

    /// Returns the binding of a call that is sent at once.
    func binding(
        of operation: InvokedOperation, in model: EntityDataModel
    ) throws(TidelogError) -> OperationInvocation.Binding {
        let resource: OperationInvocation.Binding.Resource
        switch (binding, set) {
        case (.entity(let entity), _), (.property(_, let entity), _):
            resource = .entity(try IntentBuilder(model: model).reference(to: entity))
        case (.set, let set?): resource = .set(set)
        case (.set(let name, _), nil):
            throw TidelogError(.refused(.unknownEntitySet), "There is no entity set \(name).")
        }
        return OperationInvocation.Binding(
            resource, property: property, cast: cast(of: operation, in: model), set: set)
    }

    /// Returns the type cast that the URL needs for an operation of a derived type.
    func cast(of operation: InvokedOperation, in model: EntityDataModel) -> String? {
        operation.bindingType.flatMap { bound in
            declared.flatMap { model.isType($0, derivedFrom: bound.name) ? nil : bound.name }
        }
    }
}

extension IntentBuilder {
    func reference(to entity: EntityValue) throws(TidelogError) -> ResourceReference {
        switch try address(of: entity, forReading: true) {
        case .link(let url): return .url(url)
        case .key(let name, let key):
            if let set = model.findEntitySet(name) { return .entity(set: set, key: key) }
        case .draft, .id: break
        }
        throw TidelogError(.refused(.unknownEntitySet), "The metadata does not contain the entity set of the entity.")
    }
}
