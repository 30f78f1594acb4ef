/// Names that generated declarations may not have, by the scope that they would stand in.
enum ReservedNames {
    /// Words that need backticks to be names.
    static let keywords: Set<String> = [
        "Any", "Self", "as", "associatedtype", "await", "break", "case", "catch", "class", "continue", "default",
        "defer",
        "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard",
        "if", "import", "in", "init", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private",
        "protocol", "public", "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super",
        "switch", "throw", "throws", "true", "try", "typealias", "var", "where", "while",
    ]

    /// Words that mean something else after a dot, with or without backticks.
    private static let afterDot: Set<String> = ["self", "Self", "init", "Type", "Protocol"]

    /// Types of the language that an app can hardly do without, and types within `EntityValue`, which its subclasses see
    /// first (a test compares).
    private static let language: Set<String> = [
        "Any", "AnyObject", "Array", "Bool", "CaseIterable", "Character", "Codable", "Comparable", "Decodable",
        "Dictionary", "Double", "Encodable", "Equatable", "Error", "Float", "Hashable", "Hasher", "Identifiable", "Int",
        "Int64", "KeyPath", "MainActor", "Never", "OptionSet", "Optional", "RawRepresentable", "Result", "Self",
        "Sendable", "Sequence", "Set", "State", "String", "Substring", "Swift", "Task", "Tidelog", "UInt8", "Void",
    ]

    /// Types of the metadata and its values that apps and generated code name.
    private static let values: Set<String> = [
        "ComplexType", "ComplexValue", "DayTimeDuration", "DecimalValue", "EntityDataModel", "EntitySet", "EntityType",
        "EnumerationType", "GlobalDateTime", "GuidValue", "KeyPredicate", "LocalDate", "LocalDateTime", "LocalTime",
        "Property", "PropertyValues", "TidelogError", "TypeDefinition", "Value",
    ]

    /// Types that apps and generated code name, which nothing may hide.
    static let typesInUse: Set<String> = language.union(values).union(tidelog)

    /// What bodies of generated functions and accessors call values by.
    private static let locals: Set<String> = ["binding", "newValue", "query", "result"]

    /// Words that mean something else where a type is expected, but are names elsewhere.
    private static let typeWords: Set<String> = ["any", "async", "each", "nonisolated", "sending", "some"]

    /// Names that types of generated code may not have. A type that begins with a small letter, as a chosen one or a prefix may,
    /// would be hidden by a member or a value.
    static let types: Set<String> = afterDot.union(typesInUse).union(typeWords).union(locals)
        .union(entityMembers).union(complexMembers).union(enumerationMembers).union(serviceMembers)

    /// The public members of `EntityValue`; a test compares.
    static let entityMembers: Set<String> = afterDot.union([
        "backlinks", "bindEntity", "copy", "dataValue", "editLink", "entityID", "entitySet", "entityType",
        "entityTypeName", "etag", "hasDataValue", "isFromLocalRelationship", "isLoaded", "isLocal", "key",
        "lastOperation", "ofType", "properties", "readLink", "relatedEntities", "relatedEntity", "setDataValue",
        "state", "unsetDataValue",
    ])

    /// The static members of complex types, of which those of entities are others: what `TypedComplexValue` has; a test
    /// compares.
    static let complexMembers: Set<String> = afterDot.union([
        "complexType", "complexValue", "embeddedMetadata", "hash", "hashValue", "propertyDefault", "propertyValue",
    ])

    /// What members of enumerations are called beside those of the metadata (a test compares), and the cases of an optional,
    /// which `.none` means in the place of one.
    static let enumerationMembers: Set<String> = afterDot.union([
        "allCases", "enumerationType", "hash", "hashValue", "members", "none", "number", "propertyDefault",
        "propertyValue", "queryValue", "rawValue", "some",
    ])

    /// The public members of `DataService`; a test compares.
    static let serviceMembers: Set<String> = afterDot.union([
        "applyChanges", "box", "createEntity", "createLink", "createMedia", "createRelatedEntity", "createRelatedMedia",
        "deleteEntity", "deleteLink", "deleteMedia", "deleteStream", "downloadMedia", "downloadStream",
        "embeddedMetadata", "entities", "entity", "entityClasses", "entitySet", "executeQuery", "firstEntity",
        "hasOpenEnumerations", "invoke",
        "isMediaLocal", "loadEntity", "loadMetadata", "loadProperty", "localMedia", "localStream", "logger", "metadata",
        "observe", "prettyTracing", "processBatch", "provider", "refreshMetadata", "singleton", "traceRequests",
        "traceWithData", "updateEntity", "updateLink", "uploadMedia", "uploadStream",
    ])
}
