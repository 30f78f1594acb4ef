internal import EDM

extension ResourcePathParser {
    // MARK: The first segment

    mutating func readFirst(_ text: String) throws(URLSyntaxError) {
        if text.hasPrefix("$") { return try readFirstSystem(text) }
        let (name, parentheses) = try nameAndParentheses(text)
        guard let name else { throw error(.unknownSegment, "\(text) is not a name with an optional key.") }
        if let set = findSet(name) {
            segments.append(.entitySet(set))
            guard !set.isSingleton else {
                guard parentheses == nil else { throw error(.misplacedSegment, "A singleton has no key.") }
                target = .entity(set.entityType, in: set)
                return
            }
            target = .entities(set.entityType, in: set)
            return try applyKey(parentheses)
        }
        if try readImport(name, parentheses) { return }
        throw error(
            .unknownSegment, model.missingResource(name, "The service has no entity set, singleton or function"))
    }

    private mutating func readFirstSystem(_ text: String) throws(URLSyntaxError) {
        switch text {
        case "$metadata":
            segments.append(.metadata)
            target = .metadata
            isFinal = true
        case "$batch":
            segments.append(.batch)
            target = .batch
            isFinal = true
        case "$all" where !version.isLegacy:
            segments.append(.all)
            target = .anyEntities
        case "$entity" where !version.isLegacy:
            segments.append(.entity)
            target = .anyEntities
        default:
            if text.hasPrefix("$crossjoin("), text.hasSuffix(")"), !version.isLegacy {
                let names = text.dropFirst("$crossjoin(".count).dropLast().split(
                    separator: ",", omittingEmptySubsequences: false)
                var sets: [EntitySet] = []
                for name in names {
                    guard let set = model.findEntitySet(String(name)) else {
                        throw error(
                            .unknownSegment, model.missingResource(String(name), "The service has no entity set"))
                    }
                    sets.append(set)
                }
                segments.append(.crossjoin(sets))
                target = .anyEntities
                return
            }
            let id = String(text.dropFirst())
            guard !Self.reserved.contains(id.lowercased()) else {
                throw error(.unknownSegment, "\(text) is unknown or cannot be the first segment.")
            }
            guard !id.isEmpty, id.utf8.allSatisfy({ PercentCoding.AllowedCharacters.unreservedOnly.keeps($0) }) else {
                throw error(.unknownSegment, "\(text) is unknown.")
            }
            segments.append(.contentID(id))
            target = contentIDs[id] ?? .unresolved
        }
    }

    /// Names of standard segments, in any case, are not Content-IDs.
    private static let reserved: Set<String> = [
        "metadata", "batch", "all", "entity", "crossjoin", "root", "it", "this", "count", "value", "ref", "each",
        "query",
        "filter", "links",
    ]

    /// Returns a set or singleton by its name, optionally prefixed with the container. V2 and V3 require the prefix for
    /// sets outside of the default container.
    private func findSet(_ name: String) -> EntitySet? {
        guard let dot = name.lastIndex(of: ".") else { return model.findEntitySet(name) }
        let container = name[..<dot]
        let local = name[name.index(after: dot)...]
        for schema in model.schemas {
            for candidate in schema.containers
            where candidate.name == container || candidate.name == "\(schema.namespace).\(container)" {
                return (candidate.entitySets + candidate.singletons).first {
                    $0.name == local || $0.segment.hasSuffix(".\(local)")
                }
            }
        }
        return nil
    }

    // MARK: Segments that begin with a dollar sign

    /// Parses a system segment. Returns false if it is unknown or not permitted here.
    mutating func readSystem(_ text: String) throws(URLSyntaxError) -> Bool {
        guard !isExpectingLink else { return false }
        switch text {
        case "$links" where version.isLegacy:
            guard case .entity = target else { return false }
            beginLinks()
            return true
        case "$count": return readCount()
        case "$value": return try readValue()
        case "$ref" where !version.isLegacy: return readReference()
        case "$each" where !version.isLegacy:
            guard case .entities(let type, let set) = target else { return false }
            segments.append(.each)
            target = .entities(type, in: set)
            return true
        case "$query" where !version.isLegacy:
            segments.append(.query)
            isFinal = true
            return true
        default:
            guard text.hasPrefix("$filter("), !version.isLegacy else { return false }
            return try readFilter(text)
        }
    }

    private mutating func readCount() -> Bool {
        switch target {
        case .entities, .value(TypeReference(.primitive(.untyped))): break
        case .value(let type) where type.isCollection: break
        // V2 also counts the single entity, or the links, at the end of a path.
        case .references where version.isLegacy, .entity where version.isLegacy: break
        default: return false
        }
        segments.append(.count)
        target = .count
        isFinal = true
        return true
    }

    private mutating func readValue() throws(URLSyntaxError) -> Bool {
        switch target {
        // The content of a media entity. In V2, in which services are lenient, the type is not required to have a
        // stream.
        case .entity(let type, _):
            target = .media(type)
        case .value(let type) where !type.isCollection:
            guard isRawValue(type) else { return false }
            target = .rawValue(type.primitive ?? .string)
        default: return false
        }
        segments.append(.value)
        isFinal = true
        return true
    }

    private func isRawValue(_ type: TypeReference) -> Bool {
        switch type.kind {
        // A stream property is read without `$value`.
        case .primitive(let primitive), .typeDefinition(_, let primitive): primitive != .stream
        case .enumeration, .unresolved: true
        case .complex, .entity: false
        }
    }

    private mutating func readReference() -> Bool {
        var navigation: Property?
        for segment in segments.reversed() {
            if case .navigation(let property) = segment { navigation = property }
            if case .key = segment { continue }
            break
        }
        switch target {
        case .entities(let type, _): target = .references(navigation, type, isCollection: true)
        case .entity(let type, _): target = .references(navigation, type, isCollection: false)
        case .anyEntities: break
        default: return false
        }
        segments.append(.ref)
        isFinal = true
        return true
    }

    /// Parses `$filter(…)`, which a key may follow.
    private mutating func readFilter(_ text: String) throws(URLSyntaxError) -> Bool {
        let item: ExpressionType
        switch target {
        case .entities(let type, _): item = .structured(type)
        case .value(let type) where type.isCollection: item = ExpressionType(type.item, in: model)
        default: return false
        }
        var parser = try ExpressionParser(text, version: version)
        parser.cursor.offset = "$filter(".utf8.count
        let condition = try parser.expression()
        parser.cursor.skipWhitespace()
        try parser.cursor.expect(")", "at the end of $filter()")
        var check = ExpressionTypeCheck(type: item, model: model, version: version)
        try check.expectBoolean(condition)
        segments.append(.filter(condition))
        try applyKey(after: parser.cursor)
        return true
    }
}
