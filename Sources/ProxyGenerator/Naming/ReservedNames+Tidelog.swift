extension ReservedNames {
    /// The public types of `Tidelog`; a test compares.
    static let tidelog: Set<String> = [
        "BatchCall", "BatchCallOutcome", "Box", "ChangeSet", "ClosedEnumeration", "DataQuery", "DataService",
        "DataServiceProvider", "DynamicOperand", "EmbeddedMetadata", "EntityValue", "EnumerationValue",
        "FlagsEnumeration", "InvocationArgument", "InvocationArguments", "InvocationBinding", "InvocationResult",
        "KeyAssignment", "LiveEntities", "LiveQueryResult", "MediaContent", "OfflineODataConfiguration",
        "OfflineODataDefiningQuery", "OfflineODataParameters", "OfflineODataProvider", "OnlineODataProvider",
        "OpenEnumeration", "OpenFlagsEnumeration", "OperationStatus", "PastODataProvider", "PlannedBatch",
        "PropertyConvertible", "PropertyReference", "QueryAggregate", "QueryFilter", "QueryFunction", "QueryLiteral",
        "QueryOperand", "QueryPath", "QueryPathOperand", "QueryRequest", "QueryResult", "RequestBatch",
        "RequestOptions", "ServiceMetadata", "StoreDurability", "StreamProperty", "StructuralProperty", "ToMany",
        "ToManyProperty", "ToOne", "ToOneProperty", "TypedComplexValue",
    ]
}
