/// Names that generated declarations may not have, by the scope that they would stand in.
enum ReservedNames {
    /// Words that need backticks to be names.
    static let keywords: Set<String> = [
        "associatedtype", "class", "deinit", "enum", "extension", "fileprivate", "func", "import", "inout", "internal",
        "let", "operator", "precedencegroup", "private", "protocol", "public", "rethrows", "static", "struct",
        "subscript", "typealias", "var", "break", "case", "catch", "continue", "default", "defer", "do", "else",
        "fallthrough", "for", "guard", "if", "in", "repeat", "return", "switch", "throw", "where", "while", "Any", "as",
        "false", "is", "nil", "super", "throws", "true", "try", "self", "Self", "init",
    ]

    /// Words that mean something else after a dot, with or without backticks.
    private static let afterDot: Set<String> = ["self", "Self", "init", "Type", "Protocol"]

    /// Names that generated code uses, types within `EntityValue`, which its subclasses see first (a test compares), and
    /// types of the language that an app can hardly do without.
    static let types: Set<String> = afterDot.union([
        "Any", "AnyObject", "Array", "Bool", "ComplexValue", "DataQuery", "DataService", "DayTimeDuration",
        "DecimalValue", "Dictionary", "Double", "EmbeddedMetadata", "EntityType", "EntityValue", "Error", "Float",
        "GlobalDateTime", "GuidValue", "Int", "LocalDate", "LocalDateTime", "LocalTime", "Never", "Optional",
        "Property", "Sendable", "Set", "State", "String", "Swift", "Tidelog", "TidelogError", "UInt8", "Value", "Void",
    ])

    /// The public members of `EntityValue`; a test compares.
    static let entityMembers: Set<String> = afterDot.union([
        "bindEntity", "copy", "dataValue", "editLink", "entityID", "entitySet", "entityType", "etag", "hasDataValue",
        "isFromLocalRelationship", "isLoaded", "isLocal", "key", "lastOperation", "ofType", "properties", "readLink",
        "relatedEntities", "relatedEntity",
        "setDataValue", "state", "unsetDataValue",
    ])

    /// The public members of `DataService`; a test compares.
    static let serviceMembers: Set<String> = afterDot.union([
        "applyChanges", "createEntity", "createLink", "createMedia", "createRelatedEntity", "createRelatedMedia",
        "deleteEntity", "deleteLink", "deleteStream", "downloadMedia", "downloadStream", "entities", "entityClasses",
        "entitySet", "executeQuery", "firstEntity", "hasOpenEnumerations", "invoke", "isMediaLocal", "loadEntity",
        "loadMetadata", "loadProperty",
        "localMedia", "localStream", "logger", "metadata", "observe", "prettyTracing", "processBatch", "provider",
        "refreshMetadata", "traceRequests", "traceWithData", "updateEntity", "updateLink", "uploadMedia",
        "uploadStream",
    ])
}
