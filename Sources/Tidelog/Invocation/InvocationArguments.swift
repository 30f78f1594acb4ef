import EDM
import ODataWire
import OfflineStore

/// The arguments of a call by parameter name: `["lat": .value(47.4), "count": .value(3)]`.
public struct InvocationArguments: ExpressibleByDictionaryLiteral {
    let pairs: [(name: String, argument: InvocationArgument)]

    /// Creates arguments from pairs. The call refuses a duplicate name.
    public init(_ pairs: [(name: String, argument: InvocationArgument)]) {
        self.pairs = pairs.filter { !$0.argument.isOmitted }
    }

    /// Creates arguments from a literal. The call refuses a duplicate name.
    public init(dictionaryLiteral elements: (String, InvocationArgument)...) {
        self.init(elements.map { (name: $0.0, argument: $0.1) })
    }
}

/// The argument for one parameter.
public struct InvocationArgument {
    private enum ArgumentValue {
        case value(any PropertyConvertible)
        case entity(EntityValue)
        case entities([EntityValue])
        case omitted
    }

    private let content: ArgumentValue

    /// The entities of the argument.
    var entities: [EntityValue] {
        switch content {
        case .entity(let entity): [entity]
        case .entities(let entities): entities
        case .value, .omitted: []
        }
    }

    fileprivate var isOmitted: Bool { if case .omitted = content { true } else { false } }

    /// Returns a primitive, enumeration or complex value, or a collection of such values. `nil` is null.
    ///
    /// The value is converted to the parameter's type if Swift's own types are ambiguous: an `Int` to a decimal
    /// number, a `String` to a member of an enumeration or a guid.
    public static func value<T: PropertyConvertible>(_ value: T?) -> InvocationArgument {
        InvocationArgument(content: .value(value.map { $0 as any PropertyConvertible } ?? Value.null))
    }

    /// Returns the argument for a parameter of type `Edm.Binary`. `nil` is null.
    public static func binary(_ bytes: [UInt8]?) -> InvocationArgument {
        InvocationArgument(content: .value(bytes.map { Value.binary($0) } ?? .null))
    }

    /// Returns an entity argument. An existing entity is sent as a reference, a new one with its values. `nil` is
    /// null.
    public static func entity(_ entity: EntityValue?) -> InvocationArgument {
        InvocationArgument(content: entity.map { .entity($0) } ?? .value(Value.null))
    }

    /// Returns an argument with several entities. Existing ones are sent as references, new ones with their values.
    public static func entities(_ entities: [EntityValue]) -> InvocationArgument {
        InvocationArgument(content: .entities(entities))
    }

    /// The argument null.
    public static var null: InvocationArgument { InvocationArgument(content: .value(Value.null)) }

    /// Omits the parameter, so that the service uses its default.
    ///
    /// Allowed for parameters with the annotation `Core.OptionalParameter` and for nullable ones.
    public static var omitted: InvocationArgument { InvocationArgument(content: .omitted) }

    func resolved(
        for parameter: ServiceOperation.Parameter, in model: EntityDataModel
    ) throws(TidelogError) -> OperationInvocation.Argument.ArgumentValue {
        switch content {
        case .value(let value):
            let type = parameter.type
            return .value(value.propertyValue(for: type, parameter.facets).adapted(toItemsOf: type))
        case .entity(let entity): return .entity(try Self.resolved(entity, model))
        case .entities(let entities):
            var resolved: [OperationInvocation.Argument.Entity] = []
            for entity in entities { resolved.append(try Self.resolved(entity, model)) }
            return .entities(resolved)
        // Omitted arguments were removed earlier.
        case .omitted: return .value(.null)
        }
    }

    /// Returns the argument of a queued call.
    func drafted(
        for parameter: ServiceOperation.Parameter, by builder: IntentBuilder
    ) throws(TidelogError) -> ActionDraft.ArgumentValue {
        switch content {
        case .value(let value):
            let type = parameter.type
            return .value(value.propertyValue(for: type, parameter.facets).adapted(toItemsOf: type))
        case .entity(let entity): return .entity(try Self.drafted(entity, builder))
        case .entities(let entities):
            var drafted: [ActionDraft.Entity] = []
            for entity in entities { drafted.append(try Self.drafted(entity, builder)) }
            return .entities(drafted)
        // Omitted arguments were removed earlier.
        case .omitted: return .value(.null)
        }
    }

    private static func drafted(
        _ entity: EntityValue, _ builder: IntentBuilder
    ) throws(TidelogError) -> ActionDraft.Entity {
        guard !builder.isKnown(entity) else {
            return .reference(try builder.address(of: entity), entity.entityType)
        }
        return .content(try content(of: entity))
    }

    private static func resolved(
        _ entity: EntityValue, _ model: EntityDataModel
    ) throws(TidelogError) -> OperationInvocation.Argument.Entity {
        guard entity.readLink == nil, entity.editLink == nil else {
            return .reference(try IntentBuilder(model: model).reference(to: entity), entity.entityType)
        }
        return .body(try content(of: entity))
    }

    private static func content(of entity: EntityValue) throws(TidelogError) -> EntityBody {
        guard entity.bindings.isEmpty, !entity.related.isEdited else {
            throw TidelogError(
                .unsupported, "A new entity that is a parameter cannot have links or related entities.",
                recovery: "Create the entity first, and pass the created one.")
        }
        return EntityBody(type: entity.entityType, values: entity.values)
    }
}
