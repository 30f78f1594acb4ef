package import EDM

extension QueryOptions {
    /// Returns the query part of a URL, percent-encoded and without the question mark. Empty if there are no options.
    ///
    /// `count: false` is the default of every version. V2 writes it as `none`.
    package func print(version: ODataVersion) throws(URLSyntaxError) -> String {
        try parts(version: version).map { part in
            let name = PercentCoding.encode(part.name, for: .queryValue)
            guard let value = part.encodedValue else { return name }
            return "\(name)=\(value)"
        }.joined(separator: "&")
    }

    struct PrintedOption {
        let name: String
        /// The value without percent-encoding.
        let value: String
        /// The percent-encoded value, or nil for a custom option without a value.
        let encodedValue: String?

        init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
            encodedValue = PercentCoding.encode(value, for: .queryValue)
        }

        /// - Parameter encoded: The percent-encoded value.
        init(_ name: String, encoded: String) {
            self.name = name
            value = (try? PercentCoding.decode(encoded)) ?? encoded
            encodedValue = encoded
        }

        /// Creates `$search`. A semicolon in a search word is encoded, because a plain one ends the option.
        init(_ search: SearchExpression) {
            let text = search.description
            self.init("$search", encoded: PercentCoding.encode(text, for: .queryValue).replacing(";", with: "%3B"))
        }

        init(custom option: CustomOption) {
            name = option.name
            value = option.value ?? ""
            encodedValue = option.value.map { PercentCoding.encode($0, for: .queryValue) }
        }
    }

    /// Returns the options in a fixed order, with `$` in their names.
    func parts(version: ODataVersion) throws(URLSyntaxError) -> [PrintedOption] {
        var parts: [PrintedOption] = []
        func refuse(_ option: String) -> URLSyntaxError {
            URLSyntaxError(.notExpressible, "OData \(version.rawValue) has no \(option).", in: option)
        }
        if !apply.isEmpty { parts.append(PrintedOption("$apply", try Transformation.print(apply, version: version))) }
        if let filter { parts.append(PrintedOption("$filter", try filter.print(version: version))) }
        if let search {
            if version.isLegacy { throw refuse("$search") }
            parts.append(PrintedOption(search))
        }
        if !expand.isEmpty { parts.append(PrintedOption("$expand", encoded: try encodedExpand(version))) }
        if !select.isEmpty { parts.append(PrintedOption("$select", encoded: try encodedSelect(version))) }
        if !compute.isEmpty {
            if version.isLegacy { throw refuse("$compute") }
            var items: [String] = []
            for item in compute { items.append("\(try item.expression.print(version: version)) as \(item.name)") }
            parts.append(PrintedOption("$compute", items.joined(separator: ",")))
        }
        if !orderBy.isEmpty {
            var items: [String] = []
            for item in orderBy {
                items.append(try item.expression.print(version: version) + (item.isDescending ? " desc" : ""))
            }
            parts.append(PrintedOption("$orderby", items.joined(separator: ",")))
        }
        if let skip { parts.append(PrintedOption("$skip", "\(skip)")) }
        if let top { parts.append(PrintedOption("$top", "\(top)")) }
        if let count {
            parts.append(
                version.isLegacy
                    ? PrintedOption("$inlinecount", count ? "allpages" : "none") : PrintedOption("$count", "\(count)"))
        }
        if let format { parts.append(PrintedOption("$format", format)) }
        if let skipToken { parts.append(PrintedOption("$skiptoken", skipToken)) }
        parts += try newerParts(version)
        return parts
    }

    /// Returns the options that only V4 has, and the custom options.
    private func newerParts(_ version: ODataVersion) throws(URLSyntaxError) -> [PrintedOption] {
        var parts: [PrintedOption] = []
        if let deltaToken { parts.append(PrintedOption("$deltatoken", deltaToken)) }
        switch levels {
        case .number(let number): parts.append(PrintedOption("$levels", "\(number)"))
        case .max: parts.append(PrintedOption("$levels", "max"))
        case nil: break
        }
        if let index { parts.append(PrintedOption("$index", "\(index)")) }
        if let schemaVersion { parts.append(PrintedOption("$schemaversion", schemaVersion)) }
        if let id { parts.append(PrintedOption("$id", id)) }
        for alias in aliases { parts.append(PrintedOption("@\(alias.name)", try alias.value.print(version: version))) }
        if version.isLegacy, let first = parts.first {
            throw URLSyntaxError(.notExpressible, "OData \(version.rawValue) has no \(first.name).", in: first.name)
        }
        return parts + custom.map(PrintedOption.init(custom:))
    }

    private func encodedSelect(_ version: ODataVersion) throws(URLSyntaxError) -> String {
        var items: [String] = []
        for item in select {
            items.append(Self.encoded(item.path) + (try item.options.encodedNested(version)))
        }
        return items.joined(separator: ",")
    }

    private static func encoded(_ path: [SelectSegment]) -> String {
        PercentCoding.encode(path.map(\.text).joined(separator: "/"), for: .queryValue)
    }

    private func encodedExpand(_ version: ODataVersion) throws(URLSyntaxError) -> String {
        var items: [String] = []
        for item in expand {
            if version.isLegacy {
                items += try item.legacyPaths().map { PercentCoding.encode($0, for: .queryValue) }
            } else {
                let suffix =
                    switch item.form {
                    case .entities: ""
                    case .references: "/$ref"
                    case .count: "/$count"
                    }
                items.append(Self.encoded(item.path) + suffix + (try item.options.encodedNested(version)))
            }
        }
        return items.joined(separator: ",")
    }

    private func encodedNested(_ version: ODataVersion) throws(URLSyntaxError) -> String {
        let parts = try parts(version: version).map { "\($0.name)=\($0.encodedValue ?? "")" }
        return parts.isEmpty ? "" : "(" + parts.joined(separator: ";") + ")"
    }
}

extension SelectSegment {
    var text: String {
        switch self {
        case .name(let name): name
        case .qualifiedName(let name, let parameters):
            name + (parameters.map { "(\($0.joined(separator: ",")))" } ?? "")
        case .annotation(let name): "@\(name)"
        case .star(let namespace): namespace.map { "\($0).*" } ?? "*"
        case .value: "$value"
        }
    }
}

extension ExpandItem {
    /// Returns one path, such as `Orders`, or one path for each leaf below it.
    fileprivate func legacyPaths() throws(URLSyntaxError) -> [String] {
        var rest = options
        rest.expand = []
        guard form == .entities, rest == QueryOptions() else {
            throw URLSyntaxError(
                .notExpressible, "V2 and V3 have no options within $expand.",
                in: path.map(\.text).joined(separator: "/"))
        }
        let own = path.map(\.text).joined(separator: "/")
        guard !options.expand.isEmpty else { return [own] }
        var paths: [String] = []
        for inner in options.expand {
            for path in try inner.legacyPaths() { paths.append("\(own)/\(path)") }
        }
        return paths
    }
}
