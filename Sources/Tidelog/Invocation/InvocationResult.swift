public import EDM
public import OfflineStore

/// The result of a function or action.
public struct InvocationResult {
    /// A primitive, enumeration or complex value, or a collection of such values. `nil` if the operation returned
    /// entities, null or nothing.
    public let value: Value?
    /// The returned entities of all pages, in the order of the service.
    public let entities: [EntityValue]
    /// The operation's name, for error messages.
    let name: String

    /// Returns the value as a Swift type.
    ///
    /// - Throws: `notFound` if there is no value; `notOData` if the value cannot be converted.
    public func value<T: PropertyConvertible>(_ type: T.Type) throws(TidelogError) -> T {
        guard let value = try optionalValue(type) else { throw nothing }
        return value
    }

    /// Returns the value as a Swift type, or `nil` if there is no value.
    ///
    /// - Throws: `notOData` if the value cannot be converted.
    public func optionalValue<T: PropertyConvertible>(_ type: T.Type) throws(TidelogError) -> T? {
        guard let value else { return nil }
        guard let converted = T(propertyValue: value) else { throw other(than: "\(type)", found: value.kindName) }
        return converted
    }

    /// Returns the bytes of a result of type `Edm.Binary`.
    ///
    /// - Throws: `notFound` if there is no value; `notOData` if the value is not binary.
    public func binary() throws(TidelogError) -> [UInt8] {
        guard let bytes = try optionalBinary() else { throw nothing }
        return bytes
    }

    /// Returns the bytes of a result of type `Edm.Binary`, or `nil` if there is no value.
    ///
    /// - Throws: `notOData` if the value is not binary.
    public func optionalBinary() throws(TidelogError) -> [UInt8]? {
        guard let value else { return nil }
        guard case .binary(let bytes) = value else { throw other(than: "binary", found: value.kindName) }
        return bytes
    }

    /// Returns the first entity as an object of the given class.
    ///
    /// - Throws: `notFound` if there is no entity; `invalidRequest` if it has another class.
    public func entity<Entity: EntityValue>(_ type: Entity.Type = EntityValue.self) throws(TidelogError) -> Entity {
        guard let entity = try optionalEntity(type) else { throw nothing }
        return entity
    }

    /// Returns the first entity as an object of the given class, or `nil` if there is no entity.
    ///
    /// - Throws: `invalidRequest` if it has another class.
    public func optionalEntity<Entity: EntityValue>(
        _ type: Entity.Type = EntityValue.self
    ) throws(TidelogError) -> Entity? {
        try entities.first.map { entity throws(TidelogError) in try object(entity, type) }
    }

    /// Returns the entities as objects of the given class.
    ///
    /// - Throws: `invalidRequest` if an entity has another class.
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
                .invalidRequest, "\(name) returned an entity of type \(entity.entityType.name), which is not a \(type)."
            )
        }
        return object
    }

    private var nothing: TidelogError { TidelogError(.notFound, "\(name) returned nothing.") }

    private func other(than type: String, found: String) -> TidelogError {
        TidelogError(.notOData, "\(name) returned \(found), not a value that can be read as \(type).")
    }
}
