public import EDM

extension PayloadWriter {
    /// The result of a function or action that is no entity: V4 under `value`, a complex value by itself; V2 under `results`
    /// where it is a collection, and under the function's name otherwise.
    ///
    /// - Parameter name: of the function import.
    public func result(_ value: Value, type: TypeReference, name: String) -> [UInt8] {
        let context = type.isCollection ? "#Collection(\(type.name))" : "#\(type.name)"
        return document { writer in
            begin(&writer, context: context)
            if case .complex(let complex) = value, !version.isLegacy {
                let members = model.findComplexType(complex.type ?? type.name)
                if let own = complex.type, own != type.name { values.typeName(own, &writer) }
                for (name, value) in complex.properties {
                    values.property(name, value, members?.findProperty(name)?.type, &writer)
                }
            } else {
                writer.name(!version.isLegacy ? "value" : type.isCollection ? "results" : name)
                values.write(value, as: type, to: &writer)
            }
            writer.endObject()
        }
    }
}
