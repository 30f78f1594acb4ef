internal import EDM
internal import ODataQuery

/// Reads the values of structural properties.
struct PropertyValueReader: Sendable {
    let version: ODataVersion
    let model: EntityDataModel
    /// The converter of the document, if it is Atom.
    var markup: AtomConverter?

    var family: ODataVersionKind { version.isLegacy ? .legacy : .current }

    /// Reads a structural property's value.
    func value(_ json: JSONValue, type: TypeReference) throws(PayloadError) -> Value {
        if case .null = json { return .null }
        if type.isCollection { return try collection(json, type) }
        switch type.kind {
        case .primitive(let primitive), .typeDefinition(_, let primitive):
            return try self.primitive(json, primitive)
        case .enumeration:
            switch json {
            case .string(let text), .number(let text): return .enumeration(text)
            default: throw mismatch(json, type.name)
            }
        case .complex(let name): return .complex(try complex(json, name))
        case .unresolved: return .raw(json.text)
        case .entity: throw mismatch(json, type.name)
        }
    }

    /// Reads a structural property's value with the type that the payload names, which matters only if the declared one
    /// is abstract.
    func value(_ json: JSONValue, type: TypeReference, typeName: String?) throws(PayloadError) -> Value {
        if let typeName, type.primitive == .primitiveType || type.primitive == .untyped {
            return try dynamicValue(json, typeName: typeName)
        }
        return try value(json, type: type)
    }

    private func mismatch(_ json: JSONValue, _ type: String) -> PayloadError {
        PayloadError(.typeMismatch, "Expected a value of type \(type), not \(json.kindName).")
    }

    private func collection(_ json: JSONValue, _ type: TypeReference) throws(PayloadError) -> Value {
        if markup?.isBlank(json) == true { return .collection([]) }
        // V3 wraps collections of values like feeds.
        guard let items = json.array ?? (version.isLegacy ? json["results"]?.array : nil) else {
            throw mismatch(json, "Collection(\(type.name))")
        }
        var values: [Value] = []
        values.reserveCapacity(items.count)
        for (index, item) in items.enumerated() {
            do { values.append(try value(item, type: type.item)) } catch { throw error.below(index) }
        }
        return .collection(values)
    }

    /// - Parameter declared: The declared type, or nil if the type is known only from the payload. The value names its
    ///   type if that differs.
    private func complex(_ json: JSONValue, _ declared: String?) throws(PayloadError) -> ComplexValue {
        guard let object = json.object ?? (markup?.isBlank(json) == true ? JSONObject() : nil) else {
            throw mismatch(json, declared ?? "Edm.ComplexType")
        }
        var types: [String: String] = [:]
        var own: String?
        for member in object.members {
            switch MemberName(member.name, version: family) {
            case .control("type", of: ""): own = member.value.string.map(typeName)
            case .control("type", of: let target): types[String(target)] = member.value.string.map(typeName)
            case .control("__metadata", of: ""): own = member.value["type"]?.string.map(typeName)
            default: break
            }
        }
        if let declared, let name = own, model.findComplexType(name) != nil,
            !model.isType(name, derivedFrom: declared)
        {
            throw PayloadError(.unknownType, "Expected a value of type \(declared), not \(name).")
        }
        let type = own.flatMap(model.findComplexType) ?? declared.flatMap(model.findComplexType)
        var value = ComplexValue(type: own == declared ? nil : own, properties: [:])
        for member in object.members {
            guard case .property(let name) = MemberName(member.name, version: family) else { continue }
            do {
                if let property = type?.findProperty(String(name)) {
                    guard !property.isNavigation, property.type.primitive != .stream else { continue }
                    value.properties[property.name] = try self.value(
                        member.value, type: property.type, typeName: types[property.name])
                } else if type?.isOpen(to: String(name)) ?? true {
                    value.properties[String(name)] = try dynamicValue(member.value, typeName: types[String(name)])
                }
            } catch { throw error.below(member.name) }
        }
        return value
    }

    /// Reads a value without a declared type, using the type in the payload or otherwise the JSON type.
    ///
    /// Complex values contain the type, because a request must repeat it (JSON Format 4.01, 4.6.3).
    ///
    /// A number without a type is `Edm.Double` if that represents it exactly, and `Edm.Decimal` otherwise, so that no
    /// digit is lost.
    func dynamicValue(_ json: JSONValue, typeName: String?) throws(PayloadError) -> Value {
        if let typeName, let type = reference(typeName) { return try value(json, type: type).naming(type) }
        switch json {
        case .null: return .null
        case .boolean(let flag): return .boolean(flag)
        case .string(let text): return .string(text)
        case .number(let text):
            guard let exact = DecimalValue(text) else { return .raw(text) }
            let double = exact.doubleValue
            return double.isFinite && DecimalValue(double) == exact ? .double(double) : .decimal(exact)
        case .array(let items):
            var values: [Value] = []
            let itemType = typeName.flatMap(Self.itemName).map(self.typeName)
            for (index, item) in items.enumerated() {
                do { values.append(try dynamicValue(item, typeName: itemType)) } catch { throw error.below(index) }
            }
            return .collection(values)
        case .object(let object):
            if object["type"]?.string != nil, object.contains("coordinates") || object.contains("geometries") {
                return .raw(json.text)
            }
            var value = try complex(json, nil)
            // A type that the metadata lack. `Edm.ComplexType` is none.
            if value.type == nil, let typeName, !typeName.hasPrefix("Edm.") { value.type = typeName }
            return .complex(value)
        }
    }

    /// Returns the qualified type name.
    ///
    /// Accepts `#Namespace.Type`, `Namespace.Type`, or a URL with such a fragment. Primitive names may omit `Edm.`, and
    /// an alias may replace a namespace (JSON Format 4.01, 4.6.3).
    func typeName(_ text: String) -> String {
        let name = text.lastIndex(of: "#").map { String(text[text.index(after: $0)...]) } ?? text
        guard let item = Self.itemName(name) else { return model.resolveAlias(name) }
        return "Collection(\(model.resolveAlias(item)))"
    }

    /// Returns the name of the items' type if the name is that of a collection.
    private static func itemName(_ name: String) -> String? {
        name.hasPrefix("Collection(") && name.hasSuffix(")") ? String(name.dropFirst(11).dropLast()) : nil
    }

    /// Returns the type for a type name in a payload: `Edm.Int32`, `Int32`, `Collection(NS.Color)`.
    func reference(_ name: String) -> TypeReference? {
        if let item = Self.itemName(name) {
            // There are no collections of collections.
            guard Self.itemName(item) == nil else { return nil }
            return reference(typeName(item)).map { TypeReference($0.kind, isCollection: true) }
        }
        if let primitive = PrimitiveType(rawValue: name) ?? PrimitiveType(rawValue: "Edm." + name) {
            return TypeReference(.primitive(primitive))
        }
        if model.enumerationType(named: name) != nil { return TypeReference(.enumeration(name: name)) }
        if let definition = model.typeDefinition(named: name) {
            return TypeReference(.typeDefinition(name: name, underlying: definition.underlyingType))
        }
        return model.findComplexType(name) != nil ? TypeReference(.complex(name: name)) : nil
    }
}

extension Value {
    /// Returns the value whose complex values name the type, or the derived type that they already name.
    fileprivate func naming(_ type: TypeReference) -> Value {
        guard case .complex(let name) = type.kind else { return self }
        switch self {
        case .complex(var complex):
            complex.type = complex.type ?? name
            return .complex(complex)
        case .collection(let items): return .collection(items.map { $0.naming(type.item) })
        default: return self
        }
    }
}

// MARK: Primitive values

extension PropertyValueReader {
    private func primitive(_ json: JSONValue, _ type: PrimitiveType) throws(PayloadError) -> Value {
        if let markup { return try markup.primitive(json, type, self) }
        switch (json, type) {
        case (_, .untyped): return .raw(json.text)
        case (_, .primitiveType): return try dynamicValue(json, typeName: nil)
        case (_, _) where type.isGeo: return .raw(json.text)
        case (.boolean(let flag), .boolean): return .boolean(flag)
        case (.string(let text), .string), (.string(let text), .stream): return .string(text)
        case (.string, .boolean): break
        // Large numbers are strings in V2, and if IEEE754Compatible was requested.
        case (.number(let text), _), (.string(let text), _):
            if let value = try number(text, type) { return value }
            guard case .string = json else { break }
            do {
                return try PrimitiveLiteral.parse(text, as: type, version: version, form: .json)
            } catch { throw PayloadError(.typeMismatch, error.message) }
        default: break
        }
        throw mismatch(json, type.rawValue)
    }

    /// Returns a numeric value from a JSON number or its string form, or nil for other types.
    private func number(_ text: String, _ type: PrimitiveType) throws(PayloadError) -> Value? {
        switch type {
        case _ where type.isInteger:
            // Some services write 1.0 or 1e3 for integers.
            guard let number = Int64(text) ?? DecimalValue(text)?.int64Value, let range = type.integerRange,
                range.contains(number)
            else {
                throw PayloadError(
                    .typeMismatch,
                    "\(clipped(text)) is not an integer in the range of \(type.rawValue).")
            }
            return .integer(number)
        case .decimal, .double, .single:
            do {
                return try PrimitiveLiteral.parse(text, as: type, version: version, form: .json)
            } catch { throw PayloadError(.typeMismatch, error.message) }
        default: return nil
        }
    }
}
