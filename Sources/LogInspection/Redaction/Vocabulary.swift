import EDM

/// The names that a redaction keeps: those of the model and of OData.
struct Vocabulary {
    private var names: Set<String> = Self.words
    private var sets: Set<String> = []

    mutating func add(_ model: EntityDataModel) {
        for set in model.allSets {
            names.insert(set.name)
            sets.insert(set.name)
            add(set.entityType)
        }
        for schema in model.schemas {
            names.insert(schema.namespace)
            if let alias = schema.alias { names.insert(alias) }
            for type in schema.entityTypes + schema.complexTypes { add(type) }
            for enumeration in schema.enumerationTypes {
                add(qualified: enumeration.name)
                for member in enumeration.members { names.insert(member.name) }
            }
            for definition in schema.typeDefinitions { add(qualified: definition.name) }
            for container in schema.containers {
                add(qualified: container.name)
                for found in container.functionImports + container.actionImports {
                    names.insert(found.name)
                    for parameter in found.parameters { names.insert(parameter.name) }
                }
            }
            for operation in schema.actions + schema.functions {
                add(qualified: operation.name)
                for parameter in operation.parameters { names.insert(parameter.name) }
            }
        }
    }

    private mutating func add(_ type: StructuredType) {
        add(qualified: type.name)
        for property in type.properties + type.navigationProperties {
            names.insert(property.name)
            add(qualified: property.declaringType)
            if let name = property.navigation?.relationship.name { add(qualified: name) }
        }
    }

    private mutating func add(qualified name: String) {
        names.insert(name)
        if let dot = name.lastIndex(of: ".") { names.insert(String(name[name.index(after: dot)...])) }
    }

    func isSet(_ name: String) -> Bool { sets.contains(name) }

    func contains(_ name: some StringProtocol) -> Bool { names.contains(String(name)) }

    /// System query options whose values are expressions over the model.
    static let options: Set<String> = [
        "filter", "select", "expand", "orderby", "top", "skip", "count", "inlinecount", "format", "compute", "apply",
        "levels", "search", "it", "root", "this", "value", "ref", "links", "batch", "metadata", "all", "entity", "each",
        "crossjoin", "delta",
    ]

    private static let words: Set<String> = Set(
        """
        eq ne gt ge lt le and or not has in add sub mul div divby mod true false null asc desc any all max min sum average \
        countdistinct aggregate groupby filter compute as with from concat identity rollup topcount topsum bottomcount \
        contains startswith endswith indexof length substring substringof tolower toupper trim replace matchesPattern \
        year month day hour minute second fractionalseconds totalseconds totaloffsetminutes date time now mindatetime \
        maxdatetime round floor ceiling isof cast geo distance intersects case allpages none json atom verbose only \
        exactly Edm Binary Boolean Byte Date DateTime DateTimeOffset Decimal Double Duration Guid Int16 Int32 Int64 SByte \
        Single Stream String Time TimeOfDay NaN INF guid datetime datetimeoffset duration binary X W \
        d results uri type etag __metadata __deferred __next __count content_type media_src edit_media value id \
        odata context bind nextLink deltaLink editLink readLink navigationLink associationLink mediaReadLink \
        mediaEditLink mediaContentType mediaEtag deltaToken metadataEtag removed reason changed deleted error code \
        message innererror target details
        """.split(separator: " ").map(String.init))
}
