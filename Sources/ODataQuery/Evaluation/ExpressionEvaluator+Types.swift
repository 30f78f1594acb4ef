internal import EDM

extension ExpressionEvaluator {
    /// Returns the qualified name of a type, given with a namespace alias or, in 4.01, without namespace.
    func resolve(_ type: String) -> String {
        guard let model else { return type }
        switch model.findType(type, isLocalAllowed: true) {
        case .structured(let found): return found.name
        case .enumeration(let name): return name
        default: return type
        }
    }

    /// Returns the type of the items if the name is that of a collection type.
    static func itemType(of type: String) -> String? {
        guard type.hasPrefix("Collection("), type.hasSuffix(")") else { return nil }
        return String(type.dropFirst("Collection(".count).dropLast())
    }

    /// Returns whether the value has the primitive, enumeration or complex type, or is a collection of such values.
    func isInstance(_ value: Value, of type: String) -> Bool {
        if let item = Self.itemType(of: type) {
            guard case .collection(let values) = value else { return false }
            return values.allSatisfy { isInstance($0, of: item) }
        }
        if let primitive = PrimitiveType(rawValue: type) {
            switch value {
            case .integer(let number): return primitive.integerRange?.contains(number) ?? false
            case .null: return false
            default:
                let natural = PrimitiveLiteral.naturalType(of: value, version: .v4)
                return natural == primitive || (natural == .duration && primitive == .time)
            }
        }
        let name = resolve(type)
        switch value {
        case .complex(let complex):
            // A value without a type of its own has the declared type, to which the path has led.
            guard let own = complex.type else { return model?.findComplexType(name) != nil }
            return own == name || model?.isType(own, derivedFrom: name) ?? false
        case .enumeration: return model?.enumerationType(named: name) != nil
        default: return false
        }
    }

    /// Casts a value. Returns null if the cast is impossible (OData 4.01 Part 2, section 5.1.1.10.1).
    func cast(_ value: Value, to type: String) -> Value {
        if let item = Self.itemType(of: type) {
            guard case .collection(let values) = value else { return .null }
            return .collection(values.map { cast($0, to: item) })
        }
        guard let primitive = PrimitiveType(rawValue: type) else {
            if case .string(let text) = value, let enumeration = model?.enumerationType(named: resolve(type)) {
                return enumeration.number(of: value) == nil ? .null : .enumeration(text)
            }
            return isInstance(value, of: type) ? value : .null
        }
        switch (value, primitive) {
        case (.null, _): return .null
        case (_, .string): return .string(PrimitiveLiteral.format(value, version: .v4, form: .text))
        case (.string(let text), _):
            return (try? PrimitiveLiteral.parse(text, as: primitive, version: .v4, form: .text)) ?? .null
        case (.dateTime(let dateTime), .date): return .date(dateTime.date)
        case (.dateTimeOffset(let dateTime), .date): return .date(dateTime.local.date)
        case (.dateTime(let dateTime), .timeOfDay): return .timeOfDay(dateTime.time)
        case (.dateTimeOffset(let dateTime), .timeOfDay): return .timeOfDay(dateTime.local.time)
        default: return castNumber(value, to: primitive)
        }
    }

    private func castNumber(_ value: Value, to type: PrimitiveType) -> Value {
        if PrimitiveLiteral.naturalType(of: value, version: .v4) == type { return value }
        guard let decimal = value.decimalValue else { return .null }
        switch type {
        case .decimal: return .decimal(decimal)
        case .double: return .double(decimal.doubleValue)
        case .single: return .single(Float(decimal.doubleValue))
        default:
            guard let range = type.integerRange, let big = BigDecimal(decimal) else { return .null }
            // Conversions truncate towards zero.
            let whole = big.rounded(.towardZero)
            guard let number = whole.value?.int64Value, range.contains(number) else { return .null }
            return .integer(number)
        }
    }
}

extension EntityDataModel {
    /// Returns the declared type at the end of a path of properties and types.
    func propertyType(of path: [ExpressionPath.Segment], from type: StructuredType?) -> TypeReference? {
        var type = type
        var last: TypeReference?
        for segment in path {
            switch segment {
            case .property(let name):
                guard let property = type?.findProperty(name) else { return nil }
                last = property.type
                switch property.type.kind {
                case .complex(let name): type = findComplexType(name)
                case .entity(let name): type = findEntityType(name)
                default: type = nil
                }
            case .type(let name):
                last = nil
                type = findEntityType(resolveAlias(name)) ?? findComplexType(resolveAlias(name))
            default: return nil
            }
        }
        return last
    }
}
