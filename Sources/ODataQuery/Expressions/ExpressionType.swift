package import EDM

/// The type of an expression, as far as the model determines it.
package indirect enum ExpressionType: Sendable, Hashable {
    /// The literal `null`, which is compatible with every type.
    case null
    case primitive(PrimitiveType)
    case enumeration(String)
    case structured(StructuredType)
    case collection(ExpressionType)
    /// The type of a dynamic property, an annotation or a parameter, or a type that no available schema declares.
    case unknown

    init(_ reference: TypeReference, in model: EntityDataModel) {
        let item: ExpressionType
        switch reference.kind {
        case .primitive(.untyped), .primitive(.primitiveType), .unresolved: item = .unknown
        case .primitive(let type), .typeDefinition(_, let type): item = .primitive(type)
        case .enumeration(let name): item = .enumeration(name)
        case .complex(let name), .entity(let name):
            item =
                (model.findComplexType(name) ?? model.findEntityType(name)).map(ExpressionType.structured) ?? .unknown
        }
        self = reference.isCollection ? .collection(item) : item
    }

    /// The name of the type in messages.
    var name: String {
        switch self {
        case .null: "null"
        case .primitive(let type): type.rawValue
        case .enumeration(let name): name
        case .structured(let type): type.name
        case .collection(let item): "Collection(\(item.name))"
        case .unknown: "unknown"
        }
    }

    /// The families of types. Types of one family can be compared with each other.
    enum Family: Hashable {
        case any, number, string, boolean, guid, binary, moment, time, geo, stream, structured, collection
    }

    var family: Family {
        switch self {
        case .null, .unknown: .any
        // 4.01 permits enumeration values as strings.
        case .enumeration: .string
        case .structured: .structured
        case .collection: .collection
        case .primitive(let type):
            switch type {
            case .byte, .sbyte, .int16, .int32, .int64, .single, .double, .decimal: .number
            case .string: .string
            case .boolean: .boolean
            case .guid: .guid
            case .binary: .binary
            case .date, .dateTime, .dateTimeOffset: .moment
            case .time, .timeOfDay, .duration: .time
            case .stream: .stream
            case .primitiveType, .untyped: .any
            default: .geo
            }
        }
    }

    func isComparable(with other: ExpressionType) -> Bool {
        family == other.family || family == .any || other.family == .any
    }
}
