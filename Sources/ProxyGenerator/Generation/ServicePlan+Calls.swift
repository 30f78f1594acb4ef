internal import EDM

extension ServicePlan {
    /// An entity set with the names of its functions.
    struct Set {
        let set: EntitySet
        let className: String
        let list: String
        let fetchList: String
        /// The first that a query finds, and with a key, the one that has it.
        let fetchOne: String
        let key: [KeyPart]
        /// The parameter beside the key.
        let query: String
    }

    /// A singleton with the names of its functions.
    struct Singleton {
        let set: EntitySet
        let className: String
        let get: String
        let fetch: String
    }

    /// A function or action, as one call of it is declared.
    struct Operation {
        let kind: ServiceOperation.Kind
        /// What it is invoked by: the name of an import, or the qualified one of what is bound.
        let invokedName: String
        let name: String
        let binding: Binding?
        let parameters: [Parameter]
        let result: Result
        let annotations: [Annotation]

        enum Binding {
            /// The class of the entity.
            case entity(String)
            /// A collection of entities, which the one set of that name holds, maybe among entities of a base type.
            case set(String, derived: String?)
            case other
        }

        struct Parameter {
            let parameter: ServiceOperation.Parameter
            let label: String
            let type: String
            let form: Form

            enum Form {
                case value, entity, entities
            }
            /// Whether nil can be given: it means null, or that the parameter is left out where it may be.
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
