/// Names that generated declarations must not have, by scope.
enum ReservedNames {
    /// Keywords that are names only in backticks.
    static let keywords: Set<String> = [
        "Any", "Self", "as", "associatedtype", "await", "break", "case", "catch", "class", "continue", "default",
        "defer",
        "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard",
        "if", "import", "in", "init", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private",
        "protocol", "public", "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super",
        "switch", "throw", "throws", "true", "try", "typealias", "var", "where", "while",
    ]

    /// Words with a special meaning after a dot, with or without backticks.
    private static let afterDot: Set<String> = ["self", "Self", "init", "Type", "Protocol"]

    /// Types of the language that most apps need, and nested types of `EntityValue`, which its subclasses find first. A
    /// test compares them.
    private static let language: Set<String> = [
        "Any", "AnyObject", "Array", "Bool", "CaseIterable", "Character", "Codable", "Comparable", "Decodable",
        "Dictionary", "Double", "Encodable", "Equatable", "Error", "Float", "Hashable", "Hasher", "ID", "Identifiable",
        "Int",
        "Int64", "KeyPath", "MainActor", "Never", "OptionSet", "Optional", "RawRepresentable", "Result", "Self",
        "Sendable", "Sequence", "Set", "State", "String", "Substring", "Swift", "SyncState", "Task", "Tidelog", "UInt8",
        "Void",
    ]

    /// Types of the metadata and its values that apps and generated code use.
    private static let values: Set<String> = [
        "ComplexType", "ComplexValue", "DayTimeDuration", "DecimalValue", "EntityDataModel", "EntitySet", "EntityType",
        "EnumerationType", "GeoPosition", "GeoShape", "GlobalDateTime", "GuidValue", "KeyPredicate", "LocalDate",
        "LocalDateTime", "LocalTime",
        "Property", "PropertyValues", "TidelogError", "TypeDefinition", "Value",
    ]

    /// Types that apps and generated code use, which no generated type may hide.
    static let typesInUse: Set<String> = language.union(values).union(tidelog)

    /// Names of values in the bodies of generated functions and accessors.
    private static let locals: Set<String> = ["binding", "newValue", "query", "result"]

    /// Words with a special meaning at the position of a type that are names elsewhere.
    private static let typeWords: Set<String> = ["any", "async", "each", "nonisolated", "sending", "some"]

    /// Names that generated types must not have. A chosen name or a prefix may begin with a lowercase letter; members
    /// or values would hide a type with such a name.
    static let types: Set<String> = afterDot.union(typesInUse).union(typeWords).union(locals)
        .union(entityMembers).union(complexMembers).union(enumerationMembers).union(serviceMembers)

    /// The public members of `EntityValue`. A test compares them.
    static let entityMembers: Set<String> = afterDot.union([
        "backlinks", "bindEntity", "copy", "copyWithoutKey", "dataValue", "editLink", "entityID", "entitySet",
        "entityType",
        "entityTypeName", "etag", "hasDataValue", "isFromLocalRelationship", "isLoaded", "isLocal", "key", "isCreated",
        "isDeleted", "isUpdated", "isDraft", "isNew",
        "hasError", "makeDraftCopy", "activateDraft",
        "lastOperation", "ofType", "properties", "readLink", "relatedEntities", "relatedEntity", "setDataValue",
        "state", "unsetDataValue",
    ])

    /// Names that static members of complex types must not have: the members of `TypedComplexValue`, which differ from
    /// those of entities. A test compares them.
    static let complexMembers: Set<String> = afterDot.union([
        "complexType", "complexValue", "embeddedMetadata", "hash", "hashValue", "propertyDefault", "propertyValue",
    ])

    /// Names that members of enumerations must not have: their members that are not from the metadata (a test compares
    /// them), and the cases of `Optional`, because `.none` denotes nil if an optional is expected.
    static let enumerationMembers: Set<String> = afterDot.union([
        "allCases", "enumerationType", "hash", "hashValue", "members", "none", "number", "propertyDefault",
        "propertyValue", "queryValue", "rawValue", "some",
    ])

    /// The public members of `DataService`. A test compares them.
    static let serviceMembers: Set<String> = afterDot.union([
        "applyChanges", "box", "createEntity", "createLink", "createMedia", "createRelatedEntity", "createRelatedMedia",
        "deleteEntity", "deleteLink", "deleteMedia", "deleteStream", "downloadMedia", "downloadStream",
        "embeddedMetadata", "entities", "entity", "entityClasses", "entitySet", "executeQuery", "firstEntity",
        "hasOpenEnumerations", "invoke",
        "isMediaLocal", "loadEntity", "loadMetadata", "loadProperty", "localMedia", "localStream", "logger", "metadata",
        "observe", "prettyTracing", "processBatch", "provider", "queueAction", "refreshMetadata", "replaceLinks",
        "start",
        "singleton",
        "traceRequests",
        "traceWithData", "updateEntity", "updateLink", "uploadMedia", "uploadStream",
    ])
}
