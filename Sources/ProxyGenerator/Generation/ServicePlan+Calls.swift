internal import EDM

extension ServicePlan {
    /// An entity set with the names of its functions.
    struct Set {
        let set: EntitySet
        let className: String
        let list: String
        let fetchList: String
        /// The name of the functions that return one entity: the first result of a query, or the entity with a key.
        let fetchOne: String
        let key: [KeyPart]
        /// The label of the query parameter of the function with the key.
        let query: String
    }

    /// A singleton with the names of its functions.
    struct Singleton {
        let set: EntitySet
        let className: String
        let get: String
        let fetch: String
    }

    /// A function or action with one signature.
    struct Operation {
        let kind: OperationKind
        /// The name for the invocation: that of the import, or the qualified name of a bound operation.
        let invokedName: String
        let name: String
        let binding: Binding?
        let parameters: [Parameter]
        let result: Result
        let annotations: [Annotation]

        enum Binding {
            /// The class of the entity.
            case entity(String)
            /// A collection of entities from the only entity set that can contain them. `derived` is their type if the
            /// set declares a base type.
            case set(String, derived: String?)
            case other
        }

        struct Parameter {
            let parameter: ServiceOperation.Parameter
            let label: String
            let type: String
            let form: ParameterForm

            enum ParameterForm {
                case value, entity, entities
            }
            /// Whether the argument can be nil. Nil means null, or that an optional parameter is omitted.
            var isOptional: Bool { parameter.isOptional || parameter.isNullable && !parameter.type.isCollection }
        }

        enum Result {
            case nothing
            case value(String, isOptional: Bool)
            case entity(String, isOptional: Bool)
            case entities(String)
        }
    }
}
