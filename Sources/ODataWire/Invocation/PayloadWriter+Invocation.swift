package import EDM
import ODataQuery

extension PayloadWriter {
    /// Returns the result of a function or action, if it is not an entity.
    ///
    /// In V4 the result is in `value`, and a complex value is the document itself. In V2 a collection is in `results`,
    /// and any other result is under the function's name.
    ///
    /// - Parameter name: The name of the function import.
    package func result(_ value: Value, type: TypeReference, name: String) -> [UInt8] {
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
