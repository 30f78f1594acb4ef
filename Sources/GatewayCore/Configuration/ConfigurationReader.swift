/// Reads the configuration file of a gateway.
///
///     [gateway]
///     listen = 127.0.0.1:8443
///     public_root = https://gw.example/odata/
///     storage = sqlite:/var/lib/tidelog-gateway/gateway.db
///
///     [endpoint]
///     name = shop
///     root = https://backend.example/shop/
///
/// A line that begins with `#` or `;` is a comment; so is the rest of a line after ` ;` or ` #`, unless it
/// is inside of quotation marks. Parameters of SAP's file that this version does not use are accepted with a notice;
/// unknown parameters are errors.
package struct ConfigurationReader {
    let file: String
    var sections: [Section] = []
    package var notices: [ConfigurationNotice] = []

    struct Value {
        let text: String
        let line: Int
    }

    struct Section {
        let name: String
        let line: Int
        var values: [String: Value] = [:]
    }

    /// Reads a configuration.
    ///
    /// - Parameters:
    ///   - text: The content of the file.
    ///   - file: The name of the file for messages.
    /// - Returns: The configuration, and notices about parameters without effect.
    /// - Throws: The first error.
    package static func read(
        _ text: String, file: String
    ) throws(ConfigurationError) -> (configuration: GatewayConfiguration, notices: [ConfigurationNotice]) {
        var reader = ConfigurationReader(file: file)
        try reader.split(text)
        return (try reader.configuration(), reader.notices)
    }

    private init(file: String) { self.file = file }

    func error(_ line: Int, _ message: String, _ fix: String) -> ConfigurationError {
        ConfigurationError(file: file, line: line, message: message, fix: fix)
    }

    // MARK: Lines

    private mutating func split(_ text: String) throws(ConfigurationError) {
        let text = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
        for (index, raw) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let number = index + 1
            let line = Self.trimmed(raw)
            guard let first = line.first, first != "#", first != ";" else { continue }
            if first == "[" {
                try begin(Self.withoutComment(line), number)
            } else {
                try parameter(line, number)
            }
        }
    }

    private mutating func begin(_ line: String, _ number: Int) throws(ConfigurationError) {
        let known = ["gateway", "endpoint", "defining_query"]
        guard line.hasSuffix("]"), known.contains(String(line.dropFirst().dropLast())) else {
            throw error(
                number, "There is no section \(line).", "The sections are [gateway], [endpoint] and [defining_query].")
        }
        let name = String(line.dropFirst().dropLast())
        if name == "gateway", let first = sections.first(where: { $0.name == name }) {
            throw error(number, "[gateway] occurs twice.", "Move the parameters to the section in line \(first.line).")
        }
        sections.append(Section(name: name, line: number))
    }

    private mutating func parameter(_ line: String, _ number: Int) throws(ConfigurationError) {
        guard !sections.isEmpty else {
            throw error(number, "A parameter precedes the first section.", "Write [gateway] or [endpoint] before it.")
        }
        guard let equals = line.firstIndex(of: "=") else {
            throw error(number, "“\(line)” is not of the form parameter = value.", "Add “=” and a value.")
        }
        let name = Self.trimmed(line[..<equals])
        let value = Self.withoutComment(Self.trimmed(line[line.index(after: equals)...]))
        let section = sections[sections.count - 1]
        guard let use = ConfigurationParameters.use(of: name, in: section.name) else {
            throw error(
                number, "There is no parameter \(name) in [\(section.name)].",
                "The parameters are \(ConfigurationParameters.names(in: section.name)).")
        }
        if let first = section.values[name] {
            throw error(number, "\(name) occurs twice in the section.", "Remove line \(first.line) or this one.")
        }
        guard !value.isEmpty else { throw error(number, "\(name) has no value.", "Write a value, or remove the line.") }
        sections[sections.count - 1].values[name] = Value(text: value, line: number)
        if case .ignored(let reason) = use {
            notices.append(ConfigurationNotice(file: file, line: number, message: "\(name) has no effect: \(reason)."))
        }
    }

    /// Returns the text before ` #` or ` ;`, which begin no comment inside of quotation marks.
    private static func withoutComment(_ text: String) -> String {
        var previous: Character = "x"
        var quote: Character?
        for index in text.indices {
            let character = text[index]
            if let open = quote {
                if character == open { quote = nil }
            } else if character == "'" || character == "\"" {
                // An apostrophe by itself is a part of a name.
                if text[text.index(after: index)...].contains(character) { quote = character }
            } else if previous == " " || previous == "\t", character == ";" || character == "#" {
                return trimmed(text[..<index])
            }
            previous = character
        }
        return text
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        func isSpace(_ character: Character) -> Bool { character == " " || character == "\t" || character == "\r" }
        let end = text.lastIndex { !isSpace($0) }.map { text.index(after: $0) } ?? text.startIndex
        return String(text[..<end].drop(while: isSpace))
    }

    // MARK: Values

    private mutating func configuration() throws(ConfigurationError) -> GatewayConfiguration {
        guard let gateway = sections.first(where: { $0.name == "gateway" }) else {
            throw error(
                1, "The file has no section [gateway].", "Write [gateway] with listen, public_root and storage.")
        }
        let root = try required("public_root", gateway)
        var configuration = GatewayConfiguration(
            listen: try listen(required("listen", gateway)), publicRoot: try url(root, "public_root"),
            storage: try storage(required("storage", gateway), gateway), endpoints: [])
        if let admin = gateway.values["admin"] { configuration.admin = try self.admin(admin) }
        configuration.keyFile = gateway.values["key_file"]?.text
        configuration.places = places(["listen", "admin", "storage", "key_file"], gateway)
        try number(gateway, "ledger_days", 1...365) { configuration.ledgerDays = $0 }
        try number(gateway, "body_limit", 1 << 10...1 << 30) { configuration.limits.bodyBytes = $0 }
        try bodyMemory(gateway, &configuration.limits)
        try number(gateway, "drain_seconds", 0...600) { configuration.drainSeconds = $0 }
        try number(gateway, "batch_parts", 1...100_000) { configuration.limits.batchParts = $0 }
        try number(gateway, "requests", 1...1_000_000) { configuration.limits.requests = $0 }
        try number(gateway, "requests_per_user", 1...1_000_000) { configuration.limits.requestsPerUser = $0 }
        try number(gateway, "requests_per_endpoint", 1...100_000) { configuration.limits.requestsPerEndpoint = $0 }
        try number(gateway, "connections", 1...1_000_000) { configuration.limits.connections = $0 }
        try number(gateway, "feed_rows", 1...1_000_000_000) { configuration.limits.feedRows = $0 }
        try number(gateway, "feed_bytes", 1 << 20...1 << 40) { configuration.limits.feedBytes = $0 }
        if let value = gateway.values["trust_forwarded"] {
            configuration.trustsForwarded = try flag(value, "trust_forwarded")
        }
        for section in sections where section.name != "gateway" {
            if section.name == "defining_query" {
                try addFeed(section, to: &configuration)
                continue
            }
            let endpoint = try self.endpoint(section)
            if configuration.endpoints.contains(where: { $0.name == endpoint.name }) {
                throw error(section.line, "There are two endpoints \(endpoint.name).", "Give each one its own name.")
            }
            configuration.endpoints.append(endpoint)
        }
        guard !configuration.endpoints.isEmpty else {
            throw error(
                gateway.line, "The file has no section [endpoint].", "Write one with name and root for each service.")
        }
        return configuration
    }

    /// Reads the memory for request bodies, which is enough for at least one body of the maximum size.
    private func bodyMemory(_ gateway: Section, _ limits: inout GatewayLimits) throws(ConfigurationError) {
        guard let value = gateway.values["body_memory"] else {
            limits.bodyMemory = max(limits.bodyMemory, 4 * limits.bodyBytes)
            return
        }
        try number(gateway, "body_memory", 1 << 10...1 << 40) { limits.bodyMemory = $0 }
        guard limits.bodyMemory >= limits.bodyBytes else {
            throw error(
                value.line, "body_memory is less than body_limit.",
                "Write at least \(limits.bodyBytes), or a smaller body_limit.")
        }
    }

    private func endpoint(_ section: Section) throws(ConfigurationError) -> GatewayConfiguration.Endpoint {
        let name = try required("name", section)
        let isPlain = name.text.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
        }
        guard isPlain else {
            throw error(
                name.line, "“\(name.text)” cannot be the name of an endpoint.",
                "Use letters, digits, - and _: the name is a part of the URL.")
        }
        var endpoint = GatewayConfiguration.Endpoint(name: name.text, root: try url(required("root", section), "root"))
        try number(section, "origin_timeout", 1...3_600) { endpoint.timeoutMilliseconds = Int64($0) * 1000 }
        try number(section, "origin_margin", 0...3_600) { endpoint.marginMilliseconds = Int64($0) * 1000 }
        endpoint.credentialsFile = section.values["credentials_file"]?.text
        endpoint.certificateAuthorities = section.values["certificate_authorities"]?.text
        endpoint.places = places(["credentials_file", "certificate_authorities"], section)
        if let identity = section.values["identity"], identity.text != "origin" {
            throw error(
                identity.line, "identity = \(identity.text) is not supported by this version.",
                "Write identity = origin.")
        }
        return endpoint
    }

    func required(_ name: String, _ section: Section) throws(ConfigurationError) -> Value {
        guard let value = section.values[name] else {
            throw error(
                section.line, "[\(section.name)] has no \(name).",
                "Add \(name) = \(ConfigurationParameters.example(of: name)).")
        }
        return value
    }

    private func listen(_ value: Value, _ name: String = "listen") throws(ConfigurationError)
        -> GatewayConfiguration.ListenAddress
    {
        if value.text.hasPrefix("unix:/"), value.text.utf8.count <= 105 {
            return .unix(path: String(value.text.dropFirst(5)))
        }
        if let colon = value.text.lastIndex(of: ":"), let port = Int(value.text[value.text.index(after: colon)...]),
            (0...65_535).contains(port), colon != value.text.startIndex
        {
            var host = String(value.text[..<colon])
            if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
            return .tcp(host: host, port: port)
        }
        throw error(
            value.line, "\(name) must be HOST:PORT or unix:/PATH, not “\(value.text)”.",
            "For example \(name) = 127.0.0.1:8443.")
    }

    private mutating func admin(_ value: Value) throws(ConfigurationError) -> GatewayConfiguration.ListenAddress {
        let address = try listen(value, "admin")
        if !address.isLocal {
            notices.append(
                ConfigurationNotice(
                    file: file, line: value.line,
                    message: "\(value.text) can be reached from other machines, and admin has no access control."))
        }
        return address
    }

    /// Returns the places of the parameters that the section contains.
    private func places(_ names: [String], _ section: Section) -> [String: ConfigurationPlace] {
        var places: [String: ConfigurationPlace] = [:]
        for name in names {
            places[name] = section.values[name].map { ConfigurationPlace(file: file, line: $0.line) }
        }
        return places
    }

    private func url(_ value: Value, _ name: String) throws(ConfigurationError) -> ServiceRoot {
        guard let root = ServiceRoot(value.text) else {
            throw error(
                value.line, "“\(value.text)” cannot be \(name).",
                "Write an http or https URL that ends with a slash, without credentials, query and fragment.")
        }
        return root
    }

    func number(
        _ section: Section, _ name: String, _ range: ClosedRange<Int>, _ set: (Int) -> Void
    ) throws(ConfigurationError) {
        guard let value = section.values[name] else { return }
        guard value.text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(value.text),
            range.contains(number)
        else {
            throw error(
                value.line,
                "\(name) must be a number from \(range.lowerBound) to \(range.upperBound), not “\(value.text)”.",
                "Correct the number, or remove the line for the default.")
        }
        set(number)
    }

    func flag(_ value: Value, _ name: String) throws(ConfigurationError) -> Bool {
        switch value.text {
        case "Y": return true
        case "N": return false
        default:
            throw error(value.line, "\(name) must be Y or N, not “\(value.text)”.", "Write \(name) = Y or \(name) = N.")
        }
    }
}
