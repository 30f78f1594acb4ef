internal import EDM

/// A parser for the values of system query options: lists of sort terms, selected and expanded properties, numbers, and
/// options nested in parentheses.
struct SystemQueryOptionParser: QueryGrammar {
    var cursor: QueryCursor
    var state: QueryParserState

    // MARK: $orderby, $compute

    mutating func orderBy() throws(URLSyntaxError) -> [OrderItem] {
        var items: [OrderItem] = []
        repeat {
            let value = try expression()
            let start = cursor.offset
            var isDescending = false
            if cursor.skipWhitespace(), let word = cursor.identifier() {
                switch version == .v401 ? word.lowercased() : word {
                case "asc": break
                case "desc": isDescending = true
                default: throw cursor.error("\"\(word)\" is not a sort order.", at: start + 1)
                }
            }
            items.append(OrderItem(value, isDescending: isDescending))
            cursor.skipWhitespace()
        } while cursor.skip("," as Character)
        return items
    }

    mutating func compute() throws(URLSyntaxError) -> [ComputeItem] {
        var items: [ComputeItem] = []
        repeat {
            let value = try expression()
            guard cursor.skipWhitespace(), cursor.identifier()?.lowercased() == "as", cursor.skipWhitespace(),
                let name = cursor.identifier()
            else { throw cursor.error("Expected \"as\" and a name.") }
            items.append(ComputeItem(value, as: name))
            cursor.skipWhitespace()
        } while cursor.skip("," as Character)
        return items
    }

    // MARK: $select, $expand

    mutating func selectItems() throws(URLSyntaxError) -> [SelectItem] {
        var items: [SelectItem] = []
        repeat {
            cursor.skipWhitespace()
            var item = SelectItem(path: try selectPath(isExpand: false))
            if !version.isLegacy, item.path.last?.isStar == false, cursor.skip("(" as Character) {
                item.options = try nestedOptions(
                    allowing: [.filter, .search, .count, .orderby, .skip, .top, .compute, .select])
            }
            items.append(item)
            cursor.skipWhitespace()
        } while cursor.skip("," as Character)
        return items
    }

    mutating func expandItems() throws(URLSyntaxError) -> [ExpandItem] {
        var items: [ExpandItem] = []
        repeat {
            cursor.skipWhitespace()
            let item = version.isLegacy ? try legacyExpandItem() : try expandItem()
            if version.isLegacy { items.merge(item) } else { items.append(item) }
            cursor.skipWhitespace()
        } while cursor.skip("," as Character)
        return items
    }

    /// Parses `Orders/Items/Product`: each segment is a navigation property to expand.
    private mutating func legacyExpandItem() throws(URLSyntaxError) -> ExpandItem {
        var names: [String] = []
        repeat {
            guard let name = cursor.identifier() else { throw cursor.error("Expected a navigation property.") }
            names.append(name)
            guard names.count <= QueryLimits.height else {
                throw cursor.error("$expand has more than \(QueryLimits.height) levels.", .tooComplex)
            }
        } while cursor.skip("/" as Character)
        var item = ExpandItem(names.removeLast())
        for name in names.reversed() {
            var options = QueryOptions()
            options.expand = [item]
            item = ExpandItem(name, options: options)
        }
        return item
    }

    private mutating func expandItem() throws(URLSyntaxError) -> ExpandItem {
        var item = ExpandItem(path: try selectPath(isExpand: true))
        // The path ends before `/$ref` and `/$count`.
        if cursor.skip("/$ref") {
            item.form = .references
        } else if cursor.skip("/$count") {
            item.form = .count
        }
        let start = cursor.offset
        switch item.path.last {
        case .value:
            guard item.form == .entities else {
                throw cursor.error("$value must be the last segment.", .misplacedSegment)
            }
            return item
        case .star:
            guard item.form != .count else {
                throw cursor.error("$count cannot follow *.", .misplacedSegment)
            }
            guard item.form == .entities, cursor.skip("(" as Character) else { return item }
            item.options = try nestedOptions(allowing: [.levels])
            guard item.options.levels != nil, item.options.aliases.isEmpty else {
                throw cursor.error("After * only $levels is allowed.", .unknownOption, at: start)
            }
            return item
        default: break
        }
        guard cursor.skip("(" as Character) else { return item }
        var allowed: Set<QueryOptions.Name> = [.filter, .search]
        if item.form != .count { allowed.formUnion([.orderby, .skip, .top, .count]) }
        if item.form == .entities { allowed.formUnion([.select, .expand, .compute, .levels, .apply]) }
        item.options = try nestedOptions(allowing: allowed)
        return item
    }

    private mutating func selectPath(isExpand: Bool) throws(URLSyntaxError) -> [SelectSegment] {
        var path: [SelectSegment] = []
        while true {
            path.append(try selectSegment(isExpand: isExpand))
            guard path.count <= QueryLimits.height else {
                throw cursor.error("The path has more than \(QueryLimits.height) segments.", .tooComplex)
            }
            switch path.last {
            // These segments end the path.
            case .value, .star: return path
            default: break
            }
            guard cursor.peek() == UInt8(ascii: "/"), !cursor.starts(with: "/$ref"), !cursor.starts(with: "/$count")
            else {
                return path
            }
            cursor.offset += 1
        }
    }

    private mutating func selectSegment(isExpand: Bool) throws(URLSyntaxError) -> SelectSegment {
        if cursor.skip("*" as Character) { return .star(namespace: nil) }
        if !version.isLegacy {
            if isExpand, cursor.skip("$value") { return .value }
            if cursor.skip("@" as Character) {
                guard let name = cursor.annotationName() else {
                    throw cursor.error("Expected the name of an annotation.")
                }
                return .annotation(name)
            }
        }
        guard let name = cursor.qualifiedName() else { throw cursor.error("Expected the name of a property.") }
        if !isExpand, cursor.skip(".*") { return .star(namespace: name) }
        let isQualified = name.utf8.contains(UInt8(ascii: "."))
        let parameters = isExpand || version.isLegacy ? nil : parameterNames()
        return isQualified || parameters != nil ? .qualifiedName(name, parameters: parameters) : .name(name)
    }

    /// Parses `(Location,Kind)`, the parameters that select an overload of a function. Returns nil if there are none,
    /// also before nested options.
    private mutating func parameterNames() -> [String]? {
        let start = cursor.offset
        guard cursor.skip("(" as Character) else { return nil }
        var names: [String] = []
        repeat {
            guard let name = cursor.identifier() else { break }
            names.append(name)
        } while cursor.skip("," as Character)
        guard !names.isEmpty, cursor.skip(")" as Character) else {
            cursor.offset = start
            return nil
        }
        return names
    }

    // MARK: Nested options

    /// Parses `$filter=…;$select=…` including the closing parenthesis, after the opening one.
    mutating func nestedOptions(allowing allowed: Set<QueryOptions.Name>) throws(URLSyntaxError) -> QueryOptions {
        try nested(levels: 4) { (parser) throws(URLSyntaxError) in
            var options = QueryOptions()
            repeat {
                try parser.nestedOption(into: &options, allowing: allowed)
                parser.cursor.skipWhitespace()
            } while parser.cursor.skip(";" as Character)
            try parser.cursor.expect(")", "after the nested options")
            return options
        }
    }

    private mutating func nestedOption(
        into options: inout QueryOptions, allowing allowed: Set<QueryOptions.Name>
    ) throws(URLSyntaxError) {
        cursor.skipWhitespace()
        let start = cursor.offset
        if cursor.skip("@" as Character) {
            guard let name = cursor.identifier(), cursor.skip("=" as Character) else {
                throw cursor.error("Expected a parameter alias and its value.", at: start)
            }
            options.aliases.append(QueryOptions.ParameterAlias(name: name, value: try item()))
            return
        }
        let hasDollar = cursor.skip("$" as Character)
        guard let word = cursor.identifier(), hasDollar || version == .v401,
            let name = QueryOptions.Name(rawValue: version == .v401 ? word.lowercased() : word), allowed.contains(name)
        else { throw cursor.error("This option is not allowed here.", .unknownOption, at: start) }
        try cursor.expect("=", "after the name of the option")
        try value(of: name, into: &options)
    }

    /// Parses the value of a system query option that has a grammar of its own.
    mutating func value(of name: QueryOptions.Name, into options: inout QueryOptions) throws(URLSyntaxError) {
        let start = cursor.offset
        guard !options.holds(name) else {
            throw cursor.error("$\(name.rawValue) occurs twice.", .repeatedOption)
        }
        switch name {
        case .filter: options.filter = try expression()
        case .orderby: options.orderBy = try orderBy()
        case .select: options.select = try selectItems()
        case .expand: options.expand = try expandItems()
        case .compute: options.compute = try compute()
        case .apply:
            options.apply = try parse(with: ApplyParser.self) { (parser) throws(URLSyntaxError) in try parser.apply() }
        case .search:
            options.search = try parse(with: SearchParser.self) { (parser) throws(URLSyntaxError) in
                try parser.search()
            }
        case .top: options.top = try number(name)
        case .skip: options.skip = try number(name)
        case .index:
            let isNegative = cursor.skip("-" as Character)
            options.index = try number(name) * (isNegative ? -1 : 1)
        case .count:
            switch cursor.identifier()?.lowercased() {
            case "true": options.count = true
            case "false": options.count = false
            default: throw cursor.error("$count must be true or false.", .invalidOptionValue, at: start)
            }
        case .levels:
            if let word = cursor.identifier() {
                guard word.lowercased() == "max" else {
                    throw cursor.error("$levels must be a positive number or max.", .invalidOptionValue, at: start)
                }
                options.levels = .max
            } else {
                guard cursor.peek() != UInt8(ascii: "0") else {
                    throw cursor.error("$levels must be a positive number or max.", .invalidOptionValue, at: start)
                }
                options.levels = .number(try number(name))
            }
        case .format, .skiptoken, .deltatoken, .schemaversion, .id, .inlinecount:
            throw cursor.error("$\(name.rawValue) is not allowed here.", .unknownOption, at: start)
        }
    }

    private mutating func number(_ name: QueryOptions.Name) throws(URLSyntaxError) -> Int64 {
        guard let number = cursor.digits() else {
            throw cursor.error("$\(name.rawValue) must be a nonnegative integer.", .invalidOptionValue)
        }
        return number
    }
}

extension SelectSegment {
    fileprivate var isStar: Bool { if case .star = self { true } else { false } }
}

extension QueryOptions {
    func holds(_ name: Name) -> Bool {
        switch name {
        case .filter: filter != nil
        case .orderby: !orderBy.isEmpty
        case .select: !select.isEmpty
        case .expand: !expand.isEmpty
        case .compute: !compute.isEmpty
        case .search: search != nil
        case .top: top != nil
        case .skip: skip != nil
        case .index: index != nil
        case .count, .inlinecount: count != nil
        case .levels: levels != nil
        case .skiptoken: skipToken != nil
        case .deltatoken: deltaToken != nil
        case .schemaversion: schemaVersion != nil
        case .id: id != nil
        case .apply: !apply.isEmpty
        // The grammar of 4.01 permits several, of which the first supported one is used.
        case .format: false
        }
    }
}

extension [ExpandItem] {
    /// Adds an item of V2, in which `Orders,Orders/Items` denotes one tree.
    mutating func merge(_ item: ExpandItem) {
        guard let index = firstIndex(where: { $0.path == item.path }) else {
            append(item)
            return
        }
        for inner in item.options.expand { self[index].options.expand.merge(inner) }
    }
}
