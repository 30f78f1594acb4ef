internal import EDM

/// Converts the properties in an entry, or in a complex value, to JSON. All values are text.
enum AtomProperties {
    /// Appends the properties within an element, each with its type if the document states it.
    ///
    /// Elements of other namespaces, and names that JSON uses for control information, are skipped.
    static func append(_ element: MarkupElement, to object: inout JSONObject) throws(PayloadError) {
        var names = Set(object.members.map(\.name))
        for child in element.children where child.namespace == AtomNames.data {
            guard case .property = MemberName(child.name, version: .legacy) else { continue }
            guard names.insert(child.name).inserted else {
                throw PayloadError(.malformedXML, "The entry contains the property \(clipped(child.name)) twice.")
            }
            do throws(PayloadError) {
                object.members.append(.init(name: child.name, value: try value(of: child)))
            } catch {
                throw error.below(child.name)
            }
            guard let type = typeName(of: child) else { continue }
            object.members.append(.init(name: child.name + "@odata.type", value: .string(type)))
        }
    }

    /// Returns the value of a property's element: null, text, an array, or an object for a complex value.
    static func value(of element: MarkupElement) throws(PayloadError) -> JSONValue {
        if let null = element.attribute("null", in: AtomNames.metadata), null == "true" || null == "1" { return .null }
        let type = typeName(of: element)
        // Collections of values exist since V3; in V2 they are results of functions.
        let isCollection = type?.hasPrefix("Collection(") ?? false
        let items = element.children.filter {
            $0.name == "element" && ($0.namespace == AtomNames.data || $0.namespace == AtomNames.metadata)
        }
        if isCollection || (type == nil && !items.isEmpty && items.count == element.children.count) {
            var values: [JSONValue] = []
            for item in items {
                do throws(PayloadError) { values.append(try value(of: item)) } catch {
                    throw error.below(values.count)
                }
            }
            return .array(values)
        }
        // A complex value without properties is recognizable by its type only.
        let isComplex = type.map { $0.utf8.contains(UInt8(ascii: ".")) && !$0.hasPrefix("Edm.") } ?? false
        guard
            element.children.contains(where: { $0.namespace == AtomNames.data })
                || isComplex && element.trimmedText.isEmpty
        else { return .string(element.text) }
        var object = JSONObject()
        if let type {
            object.members.append(
                .init(name: "__metadata", value: .object(JSONObject([.init(name: "type", value: .string(type))]))))
        }
        try append(element, to: &object)
        return .object(object)
    }

    static func typeName(of element: MarkupElement) -> String? { element.attribute("type", in: AtomNames.metadata) }
}
