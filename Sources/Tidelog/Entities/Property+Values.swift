public import EDM
import ODataWire
import SyncCore
public import SyncEngine

/// Typed access to property values of an entity.
extension PropertyReference {
    /// Sets the value of a String property, or of a Guid, Date, Decimal or similar property from its text.
    ///
    /// If the text is invalid for the type, the entity is refused when it is saved.
    public func setStringValue(in target: EntityValue, to value: String) {
        target.setDataValue(for: self, to: Value.string(value).adapted(to: property.type))
    }

    public func setIntValue(in target: EntityValue, to value: Int) {
        target.setDataValue(for: self, to: Value.integer(Int64(value)).adapted(to: property.type))
    }

    public func setBooleanValue(in target: EntityValue, to value: Bool) {
        target.setDataValue(for: self, to: .boolean(value))
    }

    public func setDoubleValue(in target: EntityValue, to value: Double) {
        target.setDataValue(for: self, to: Value.double(value).adapted(to: property.type))
    }

    public func setDecimalValue(in target: EntityValue, to value: DecimalValue) {
        target.setDataValue(for: self, to: .decimal(value))
    }

    public func setGuidValue(in target: EntityValue, to value: GuidValue) {
        target.setDataValue(for: self, to: .guid(value))
    }

    public func setBinaryValue(in target: EntityValue, to value: [UInt8]) {
        target.setDataValue(for: self, to: .binary(value))
    }

    /// Sets the value of the property. `nil` sets it to null.
    public func setDataValue(in target: EntityValue, to value: Value?) { target.setDataValue(for: self, to: value) }

    /// Sets the target of a single-valued navigation property.
    ///
    /// A new entity is created together with `target` (deep insert); an existing one is bound.
    public func setEntityValue(in target: EntityValue, to value: EntityValue) {
        target.relation(property).replace([value])
    }

    /// Sets the new entities of a collection-valued navigation property, which are created together with `target`.
    public func setEntityList(in target: EntityValue, to value: [EntityValue]) {
        target.relation(property).replace(value)
    }

    // MARK: Reading

    /// Returns the value as an integer.
    ///
    /// - Throws: `invalidRequest` if the property is unset, null, or not an integer that fits `Int`.
    public func intValue(from entity: EntityValue) throws(TidelogError) -> Int {
        guard let value = optionalInt(from: entity) else { throw notThere(entity, "a whole number") }
        return value
    }

    /// Returns the value as an integer, or `nil` if it is unset, null, or not an integer that fits `Int`.
    public func optionalInt(from entity: EntityValue) -> Int? {
        entity.dataValue(for: self)?.integerValue.flatMap { Int(exactly: $0) }
    }

    /// Returns the value as a string.
    ///
    /// - Throws: `invalidRequest` if the property is unset, null, or not a string.
    public func stringValue(from entity: EntityValue) throws(TidelogError) -> String {
        guard let value = optionalString(from: entity) else { throw notThere(entity, "a string") }
        return value
    }

    /// Returns the value as a string, or `nil` if it is unset, null, or not a string.
    public func optionalString(from entity: EntityValue) -> String? { entity.dataValue(for: self)?.stringValue }

    /// Returns the expanded or loaded target of a single-valued navigation property.
    public func entityValue(from entity: EntityValue) -> EntityValue? { entity.relatedEntity(self) }

    /// Returns the expanded or loaded targets of a navigation property.
    public func entityList(from entity: EntityValue) -> [EntityValue] { entity.relatedEntities(self) }

    private func notThere(_ entity: EntityValue, _ what: String) -> TidelogError {
        let found = entity.dataValue(for: self).map { "holds \($0.kindName)" } ?? "is unset"
        return TidelogError(.invalidRequest, "\(property) \(found), not \(what).")
    }
}

extension StructuredType {
    /// Returns the property with the given name, including inherited properties.
    ///
    /// - Throws: `refused(.unknownProperty)` if there is no such property.
    public func property(withName name: String) throws(TidelogError) -> Property {
        guard let property = findProperty(name) else {
            throw TidelogError(.refused(.unknownProperty), "\(self.name) has no property \(name).")
        }
        return property
    }
}

extension Value {
    /// Returns the value converted to the type if Swift's own types are ambiguous: an integer to a decimal, a text to
    /// a guid.
    ///
    /// A value that cannot be converted is returned unchanged, and is refused with a reason when it is used.
    func adapted(to type: TypeReference) -> Value {
        guard !type.isCollection else { return self }
        switch (type.kind, self) {
        case (.enumeration, .string(let text)): return .enumeration(text)
        case (.complex(let declared), .complex(let value)) where value.type == declared:
            // A complex value contains its type name only if it differs from the declared type.
            return .complex(ComplexValue(properties: value.properties))
        default: break
        }
        guard let primitive = type.primitive else { return self }
        switch (self, primitive) {
        case (.integer(let number), .decimal): return .decimal(DecimalValue(number))
        case (.integer(let number), .double): return .double(Double(number))
        case (.integer(let number), .single): return .single(Float(number))
        case (.double(let number), .single): return .single(Float(number))
        case (.double(let number), .decimal): return .decimal(DecimalValue(number))
        case (.string(let text), let other) where other != .string:
            let parsed = try? PrimitiveLiteral.parse(text, as: other, facets: nil, version: .v4, form: .json)
            return parsed ?? self
        default: return self
        }
    }
}

extension GuidValue {
    /// Returns a random guid (RFC 9562, version 4), suitable as a key that no other client chooses.
    public static func random() -> GuidValue {
        var generator = SystemRandomNumberGenerator()
        let high = generator.next() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        let low = generator.next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        return GuidValue(high: high, low: low)
    }

    public func toString() -> String { description }
}
