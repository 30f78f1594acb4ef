extension ReservedNames {
    /// The public types of `Tidelog`. A test compares them.
    static let tidelog: Set<String> = [
        "ActionAnswer", "ActionEffect", "ActionInvocation", "Box", "BoxPropertyQuery",
        "BoxQuery",
        "CalendarLiteral", "ChangeSet", "ClassSchema", "ClassService",
        "ClockLiteral",
        "ClientRegistration", "ClosedEnumeration", "DataQuery", "DataService", "DataServiceProvider", "DateTimeLiteral",
        "DeclarableValue", "DeclaredEntity", "DynamicOperand",
        "EmbeddedMetadata", "EncodableEntity", "EntitiesPath", "EntityIdentity", "EntityPath", "EntityValue",
        "EnumerationValue", "FlagsEnumeration", "IdentifiableEntity", "InverseRelation",
        "InvocationArgument", "InvocationArguments", "InvocationBinding", "InvocationResult",
        "KeyAssignment", "ListUpdate", "LiveEntities", "LiveList", "LiveQueryResult", "MediaContent",
        "NavigationReference", "NumberLiteral",
        "OfflineODataConfiguration", "OfflineODataDefiningQuery", "OfflineODataErrorArchiveEntity", "OfflineODataEvent",
        "OfflineODataParameters", "OfflineODataProvider", "OfflineODataRequestQueueEntity",
        "OnlineODataProvider", "OpenEnumeration", "OpenFlagsEnumeration", "OperationStatus", "OrderedLiteral",
        "PastODataProvider", "PlannedBatch", "PreparedODataStore", "PropertyConvertible", "PropertyReference",
        "ProviderBackend",
        "QueryAggregate",
        "QueryExpression", "QueryFilter", "QueryFunction", "QueryLiteral", "QueryOperand", "QueryPath",
        "QueryPathOperand",
        "QueryResult", "RequestBatch", "RequestOptions", "SelectOperand", "ServiceConnection", "ServiceMetadata",
        "StoreDurability",
        "StreamProperty", "StructuralOperand", "StructuralProperty", "SummableLiteral", "ToMany", "ToManyOperand",
        "ToManyProperty", "ToOne", "ToOneOperand", "ToOneProperty", "TypedComplexValue", "TypedFunction",
        "TypedOperand", "TypedPath", "UserStores",
    ]
}
