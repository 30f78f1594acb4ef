public import EDM

/// What an expression evaluates to, as far as a model tells.
public indirect enum ExpressionType: Sendable, Hashable {
    /// The literal `null`, which goes with everything.
    case null
    case primitive(PrimitiveType)
    case enumeration(String)
    case structured(StructuredType)
    case collection(ExpressionType)
    /// A dynamic property, an annotation, a parameter, or a type that no schema at hand declares.
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

    /// The name for messages.
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

    /// Types that can be compared with each other share a family.
    enum Family: Hashable {
        case any, number, string, boolean, guid, binary, moment, time, geo, stream, structured, collection
    }

    var family: Family {
        switch self {
        case .null, .unknown: .any
        // 4.01 lets enumeration values be written as strings.
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
