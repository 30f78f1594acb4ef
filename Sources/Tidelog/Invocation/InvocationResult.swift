public import EDM
import ODataWire
public import SyncEngine

/// What a function or action returned.
public struct InvocationResult {
    /// A primitive, enumeration or complex value, or a collection of such. nil where it returned entities, null, or nothing.
    public let value: Value?
    /// In the order of the service, all pages of them.
    public let entities: [EntityValue]
    /// Names it in errors.
    let name: String

    /// The value as a Swift type. Throws `notFound` where there is none, and `notOData` where it is of another kind.
    public func value<T: PropertyConvertible>(_ type: T.Type) throws(TidelogError) -> T {
        guard let value = try optionalValue(type) else { throw nothing }
        return value
    }

    /// The value as a Swift type; nil where there is none. Throws `notOData` where it is of another kind.
    public func optionalValue<T: PropertyConvertible>(_ type: T.Type) throws(TidelogError) -> T? {
        guard let value else { return nil }
        guard let converted = T(propertyValue: value) else { throw other(than: "\(type)", found: value.kindName) }
        return converted
    }

    /// The bytes of a result of type `Edm.Binary`. Throws as ``value(_:)``.
    public func binary() throws(TidelogError) -> [UInt8] {
        guard let bytes = try optionalBinary() else { throw nothing }
        return bytes
    }

    /// The bytes of a result of type `Edm.Binary`; nil where there is none.
    public func optionalBinary() throws(TidelogError) -> [UInt8]? {
        guard let value else { return nil }
        guard case .binary(let bytes) = value else { throw other(than: "binary", found: value.kindName) }
        return bytes
    }

    /// The entity, of that class. Throws `notFound` where there is none, and `invalidRequest` where it is of another class.
    public func entity<Entity: EntityValue>(_ type: Entity.Type = EntityValue.self) throws(TidelogError) -> Entity {
        guard let entity = try optionalEntity(type) else { throw nothing }
        return entity
    }

    /// The entity, of that class; nil where there is none. Throws `invalidRequest` where it is of another class.
    public func optionalEntity<Entity: EntityValue>(
        _ type: Entity.Type = EntityValue.self
    ) throws(TidelogError) -> Entity? {
        try entities.first.map { entity throws(TidelogError) in try object(entity, type) }
    }

    /// The entities, of that class. Throws `invalidRequest` where one is of another class.
    public func entityList<Entity: EntityValue>(
        _ type: Entity.Type = EntityValue.self
    ) throws(TidelogError) -> [Entity] {
        var list: [Entity] = []
        for entity in entities { list.append(try object(entity, type)) }
        return list
    }

    private func object<Entity: EntityValue>(
        _ entity: EntityValue, _ type: Entity.Type
    ) throws(TidelogError) -> Entity {
        guard let object = entity as? Entity else {
            throw TidelogError(
                .invalidRequest, "\(name) returned an entity of type \(entity.entityType.name), which is no \(type).")
        }
        return object
    }

    private var nothing: TidelogError { TidelogError(.notFound, "\(name) returned nothing.") }

    private func other(than type: String, found: String) -> TidelogError {
        TidelogError(.notOData, "\(name) returned \(found), not a value that can be read as \(type).")
    }
}

/// What a function or action returned, in terms of values.
public enum InvocationAnswer: Sendable {
    case nothing
    case value(Value)
    /// One at most where the operation returns one.
    case entities([EntitySnapshot])
}
