extension Value {
    /// Returns why the value does not conform to `type` under `facets`, as a sentence that begins with the path
    /// within the value, or `nil` if it conforms.
    ///
    /// Complex values are checked property by property; undeclared properties are allowed in open types only. A
    /// navigation property in a complex value counts as undeclared. Cost: the size of the value.
    public func mismatch(
        with type: TypeReference, facets: Facets = Facets(), isNullable: Bool = true, in model: EntityDataModel
    ) -> String? {
        mismatch(with: type, facets, isNullable, model, depth: 0)
    }

    /// Returns why the value cannot be the value of a structural property, or `nil` if it can.
    ///
    /// Never inlined, because the compiler (Swift 6.3) then copies the facets of the property.
    @inline(never)
    func mismatch(with property: Property, in model: EntityDataModel, depth: Int = 0) -> String? {
        mismatch(with: property.type, property.facets, property.isNullable, model, depth: depth)
    }

    /// The maximum nesting depth. Values are created by apps and read from logs, so deeper nesting is refused.
    static let depthLimit = 64

    private func mismatch(
        with type: TypeReference, _ facets: Facets, _ isNullable: Bool, _ model: EntityDataModel, depth: Int
    ) -> String? {
        guard depth < Self.depthLimit else { return "is nested more than \(Self.depthLimit) levels deep" }
        if type.isCollection {
            guard case .collection(let items) = self else { return "is \(kindName), not a collection of \(type.name)" }
            for (index, item) in items.enumerated() {
                if let reason = item.mismatch(with: type.item, facets, isNullable, model, depth: depth + 1) {
                    return "[\(index)] \(reason)"
                }
            }
            return nil
        }
        if case .null = self { return isNullable ? nil : "must not be null" }
        switch type.kind {
        case .primitive(let primitive): return mismatch(with: primitive) ?? facets.mismatch(of: self)
        case .typeDefinition(let name, let primitive):
            let own = model.typeDefinition(named: name)?.facets
            return mismatch(with: primitive) ?? facets.completed(by: own).mismatch(of: self)
        case .enumeration(let name): return enumerationMismatch(name, model)
        case .complex(let name): return complexMismatch(name, model, depth)
        case .entity(let name): return "is \(kindName), not an entity of type \(name)"
        // The type is declared in a document that was not read, so any value is accepted.
        case .unresolved: return nil
        }
    }

    private func mismatch(with type: PrimitiveType) -> String? {
        let fits =
            switch (self, type) {
            case (_, .untyped): true
            case (.complex, .primitiveType), (.collection, .primitiveType): false
            case (_, .primitiveType): true
            case (.boolean, .boolean), (.string, .string), (.binary, .binary), (.guid, .guid), (.date, .date),
                (.timeOfDay, .timeOfDay), (.duration, .duration), (.duration, .time), (.dateTime, .dateTime),
                (.dateTimeOffset, .dateTimeOffset), (.double, .double), (.single, .single), (.decimal, .decimal),
                (.binary, .stream), (.string, .stream):
                true
            case (.integer(let number), _): type.integerRange?.contains(number) ?? false
            case (.raw, _): GeoShape(self).map { type.holds($0.coordinates.kind) } ?? false
            default: false
            }
        if fits { return nil }
        if case .integer(let number) = self, type.isInteger {
            return "is \(number), outside the range of \(type.rawValue)"
        }
        return type.isGeo
            ? "is \(kindName), not a shape of \(type.rawValue)" : "is \(kindName), not \(type.rawValue)"
    }

    private func enumerationMismatch(_ name: String, _ model: EntityDataModel) -> String? {
        guard case .enumeration(let text) = self else { return "is \(kindName), not a member of \(name)" }
        guard let type = model.enumerationType(named: name) else { return nil }
        let parts = EnumerationType.parts(of: text, omittingEmptySubsequences: false)
        guard parts.count <= 1 || type.isFlags else {
            return "names several members of \(name), which is not a flag enumeration"
        }
        for part in parts where Int64(part) == nil && type.member(named: String(part)) == nil {
            return "is \"\(part)\", which is not a member of \(name)"
        }
        return nil
    }

    private func complexMismatch(_ name: String, _ model: EntityDataModel, _ depth: Int) -> String? {
        guard case .complex(let value) = self else { return "is \(kindName), not a complex value of type \(name)" }
        if let own = value.type, own != name, !model.isType(own, derivedFrom: name) {
            return "is of type \(own), not of \(name)"
        }
        guard let type = model.findComplexType(value.type ?? name) else {
            return value.type.map { "is of the unknown type \($0)" }
        }
        for (name, item) in value.properties {
            guard let property = type.findProperty(name), !property.isNavigation else {
                if type.isOpen(to: name) { continue }
                return "/\(name) is not a property of \(type.name)"
            }
            if let reason = item.mismatch(with: property, in: model, depth: depth + 1) { return "/\(name) \(reason)" }
        }
        return nil
    }
}

extension PrimitiveType {
    /// The minimum and maximum of an integer type, or `nil` for other types.
    public var integerRange: ClosedRange<Int64>? {
        switch self {
        case .byte: 0...255
        case .sbyte: -128...127
        case .int16: -32_768...32_767
        case .int32: -2_147_483_648...2_147_483_647
        case .int64: Int64.min...Int64.max
        default: nil
        }
    }
}

extension Facets {
    /// Returns the facets, with those of the type definition if the property declares none (CSDL 4.01, 11.1).
    func completed(by definition: Facets?) -> Facets {
        guard let definition else { return self }
        var facets = self
        facets.maxLength = maxLength ?? definition.maxLength
        facets.precision = precision ?? definition.precision
        facets.scale = scale ?? definition.scale
        facets.isUnicode = isUnicode ?? definition.isUnicode
        facets.srid = srid ?? definition.srid
        return facets
    }

    /// Returns why `value` violates MaxLength, Unicode, Precision or Scale, or `nil` if it conforms.
    ///
    /// Facets that the document does not declare are not checked. Lengths are counted in Unicode scalars and bytes;
    /// trailing zeros of a fraction do not count.
    public func mismatch(of value: Value) -> String? {
        switch value {
        case .string(let text):
            if let maxLength, text.utf8.count > maxLength, text.unicodeScalars.count > maxLength {
                return "is longer than MaxLength \(maxLength)"
            }
            if isUnicode == false, !text.utf8.allSatisfy({ $0 < 0x80 }) {
                return "contains characters that are not ASCII"
            }
        case .binary(let bytes):
            if let maxLength, bytes.count > maxLength { return "is longer than MaxLength \(maxLength)" }
        case .decimal(let number): return mismatch(of: number)
        case .timeOfDay(let time): return fractionMismatch(time.significantDigits)
        case .dateTime(let dateTime): return fractionMismatch(dateTime.time.significantDigits)
        case .dateTimeOffset(let dateTime): return fractionMismatch(dateTime.local.time.significantDigits)
        case .duration(let duration): return fractionMismatch(duration.significantDigits)
        default: break
        }
        return nil
    }

    private func fractionMismatch(_ digits: Int) -> String? {
        guard let precision, digits > precision else { return nil }
        return "has \(digits) fractional digits, more than Precision \(precision)"
    }

    private func mismatch(of number: DecimalValue) -> String? {
        guard number.isFinite else {
            return scale == nil || scale == .floating
                ? nil : "is \(number), which only a decimal with Scale=floating can have"
        }
        if let precision, number.text.utf8.count > precision, number.precision > precision {
            return "has \(number.precision) digits, more than Precision \(precision)"
        }
        if case .fixed(let limit) = scale, number.scale > limit {
            return "has \(number.scale) fractional digits, more than Scale \(limit)"
        }
        return nil
    }
}
