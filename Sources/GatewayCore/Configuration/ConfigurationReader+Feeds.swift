extension ConfigurationReader {
    /// Adds the feed of a `[defining_query]` section to the endpoint before it. A section that configures only clients is
    /// accepted with a notice.
    mutating func addFeed(
        _ section: Section, to configuration: inout GatewayConfiguration
    ) throws(ConfigurationError) {
        guard let last = configuration.endpoints.indices.last else {
            throw error(
                section.line, "[defining_query] precedes the first [endpoint].",
                "Move it after the section of its service.")
        }
        let name = try required("name", section)
        let isShared = try section.values["is_shared_data"].map { value throws(ConfigurationError) in
            try flag(value, "is_shared_data")
        }
        try checkChanges(section)
        var feed = FeedSettings(name: name.text, query: CanonicalQuery.placeholder)
        try number(section, "refresh_interval", 0...5_256_000) { feed.refreshMilliseconds = Int64($0) * 60_000 }
        try number(section, "delta_token_lifetime", 1...5_256_000) { feed.tokenMilliseconds = Int64($0) * 60_000 }
        if let value = section.values["authorize"] {
            guard let authorization = FeedSettings.Authorization(rawValue: value.text) else {
                throw error(
                    value.line, "authorize must be probe or any, not “\(value.text)”.",
                    "Write authorize = probe: the service decides who may read the query.")
            }
            feed.authorization = authorization
        }
        if let value = section.values["accept_language"] {
            guard let language = FeedSettings.Language(rawValue: value.text) else {
                throw error(
                    value.line, "accept_language must be pass or ignore, not “\(value.text)”.",
                    "Write accept_language = ignore if the rows do not depend on the language of the user.")
            }
            feed.language = language
        }
        guard let query = section.values["query"] else {
            return pass(section.line, name.text, "it has no query")
        }
        if query.text.contains("{") { return pass(query.line, name.text, "patterns are not supported") }
        guard isShared == true else { return pass(section.line, name.text, "its data are not shared") }
        if try !tracksDeltas(section) { return pass(section.line, name.text, "track_deltas is NEVER") }
        guard let canonical = Self.canonical(query.text) else {
            throw error(
                query.line, "“\(query.text)” cannot be a shared feed.",
                "Write an entity set with options such as $filter, $select and $expand, relative to the root; $orderby and $count are not possible."
            )
        }
        feed.query = canonical
        if let other = configuration.endpoints[last].feeds.first(where: {
            $0.query == canonical || $0.name == feed.name
        }) {
            throw error(
                section.line, "The endpoint has the feed \(other.name) already.",
                "Give each feed its own name and query.")
        }
        configuration.endpoints[last].feeds.append(feed)
    }

    private mutating func pass(_ line: Int, _ name: String, _ reason: String) {
        notices.append(
            ConfigurationNotice(file: file, line: line, message: "The query \(name) passes through: \(reason)."))
    }

    private func tracksDeltas(_ section: Section) throws(ConfigurationError) -> Bool {
        guard let value = section.values["track_deltas"] else { return true }
        switch value.text {
        case "AUTO", "ALWAYS": return true
        case "NEVER": return false
        default:
            throw error(
                value.line, "track_deltas must be AUTO, ALWAYS or NEVER, not “\(value.text)”.",
                "Write track_deltas = AUTO.")
        }
    }

    private func checkChanges(_ section: Section) throws(ConfigurationError) {
        guard let value = section.values["changes"], value.text != "scan" else { return }
        throw error(
            value.line, "changes = \(value.text) is not supported by this version.",
            "Write changes = scan: each refresh reads the whole query.")
    }

    /// Returns the normal form of a query in the file, which may contain spaces and number signs.
    private static func canonical(_ text: String) -> CanonicalQuery? {
        let text = text.hasPrefix("/") ? String(text.dropFirst()) : text
        let url = text.unicodeScalars.reduce(into: "") { result, scalar in
            if scalar.isASCII, !" \"#".unicodeScalars.contains(scalar) {
                result.unicodeScalars.append(scalar)
            } else {
                result += FeedURL.encoded(String(scalar))
            }
        }
        return CanonicalQuery(url)
    }
}
