package import EDM

/// Writes property values as JSON in the format of each version.
package struct ValueJSONWriter {
    let version: ODataVersion
    let model: EntityDataModel?
    /// Whether to write `Edm.Int64` and `Edm.Decimal` of V4 as strings, for readers limited to 64-bit floating point
    /// numbers.
    let isIEEE754Compatible: Bool

    package init(version: ODataVersion, model: EntityDataModel?, isIEEE754Compatible: Bool = false) {
        self.version = version
        self.model = model
        self.isIEEE754Compatible = isIEEE754Compatible
    }

    /// Writes a value.
    ///
    /// - Parameter type: The declared type of the property, or nil for a dynamic property.
    package func write(_ value: Value, as type: TypeReference? = nil, to writer: inout JSONWriter) {
        switch value {
        case .null: writer.null()
        case .boolean(let flag): writer.boolean(flag)
        case .collection(let items): collection(items, type, &writer)
        case .complex(let complex): self.complex(complex, type, &writer)
        case .raw(let json): writer.raw(json)
        default:
            let text = PrimitiveLiteral.format(value, as: type?.primitive, version: version, form: .json)
            if isNumber(value, type?.primitive) { writer.raw(text) } else { writer.string(text) }
        }
    }

    /// Returns whether a value is written as a JSON number.
    ///
    /// V2 writes numbers that JavaScript cannot represent, and floating point numbers, as strings.
    private func isNumber(_ value: Value, _ type: PrimitiveType?) -> Bool {
        switch value {
        case .integer(let number):
            let type = type ?? PrimitiveLiteral.naturalType(of: value, version: version)
            if type.isInteger, type != .int64 { return PrimitiveType.int32.integerRange?.contains(number) ?? false }
            return !version.isLegacy && !isIEEE754Compatible
        case .decimal(let number): return !version.isLegacy && !isIEEE754Compatible && number.isFinite
        case .double(let number): return !version.isLegacy && number.isFinite
        case .single(let number): return !version.isLegacy && number.isFinite
        default: return false
        }
    }

    private func collection(_ items: [Value], _ type: TypeReference?, _ writer: inout JSONWriter) {
        if version == .v3 {
            writer.beginObject()
            if let type {
                writer.name("__metadata")
                writer.beginObject()
                writer.name("type")
                writer.string("Collection(\(type.name))")
                writer.endObject()
            }
            writer.name("results")
        }
        writer.beginArray()
        for item in items { write(item, as: type?.item, to: &writer) }
        writer.endArray()
        if version == .v3 { writer.endObject() }
    }

    private func complex(_ complex: ComplexValue, _ type: TypeReference?, _ writer: inout JSONWriter) {
        let declared = type?.name
        writer.beginObject()
        if let own = complex.type, own != declared { typeName(own, &writer) }
        let members = model?.findComplexType(complex.type ?? declared ?? "")
        for (name, value) in complex.properties {
            property(name, value, members?.findProperty(name)?.type, &writer)
        }
        writer.endObject()
    }

    /// Writes one member of an entity or complex value. The type of a dynamic one, or of one whose declared type is
    /// abstract, is included if JSON does not imply it.
    package func property(_ name: String, _ value: Value, _ type: TypeReference?, _ writer: inout JSONWriter) {
        let isAbstract = type?.primitive == .primitiveType || type?.primitive == .untyped
        if type == nil || isAbstract, !version.isLegacy, let typeName = dynamicTypeName(value) {
            writer.name(name + "@odata.type")
            writer.string(typeName)
        }
        writer.name(name)
        write(value, as: type, to: &writer)
    }

    package func typeName(_ name: String, _ writer: inout JSONWriter) {
        if version.isLegacy {
            writer.name("__metadata")
            writer.beginObject()
            writer.name("type")
            writer.string(name)
            writer.endObject()
        } else {
            writer.name("@odata.type")
            writer.string("#" + name)
        }
    }

    /// Returns the type name to write for a dynamic value, or nil.
    ///
    /// Boolean, string and double are inferred; other types are named (OData JSON 4.01, section 4.6.3).
    private func dynamicTypeName(_ value: Value) -> String? {
        switch value {
        case .null, .boolean, .string, .complex, .enumeration, .raw: return nil
        case .double(let number): return number.isFinite ? nil : "#Double"
        case .collection(let items):
            let names = items.map { item -> String? in
                if case .null = item { return nil }
                if case .complex(let complex) = item { return complex.type }
                let type = PrimitiveLiteral.naturalType(of: item, version: version)
                return type == .untyped ? nil : String(type.rawValue.dropFirst(4))
            }
            guard let first = names.first ?? nil, names.allSatisfy({ $0 == first }) else { return nil }
            return "#Collection(\(first))"
        default: return "#" + PrimitiveLiteral.naturalType(of: value, version: version).rawValue.dropFirst(4)
        }
    }
}
