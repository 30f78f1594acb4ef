package import EDM

extension QueryOptions {
    /// Parses the query part of a URL, percent-encoded and without the question mark.
    ///
    /// V2 and V3 have `$inlinecount`; V4 has `$count`, `$search` and more. `v401` also accepts names without `$` and
    /// in any case. The option `odata-accept-forms-encoding=true`, at any position, makes `+` a space.
    ///
    /// - Parameters:
    ///   - type: The type at the end of the resource path. If it is passed, properties, types and operands are checked.
    ///   - model: The model, which is necessary for the check.
    package static func parse(
        _ query: String, version: ODataVersion, type: StructuredType? = nil, model: EntityDataModel? = nil
    ) throws(URLSyntaxError) -> QueryOptions {
        guard query.utf8.count <= QueryLimits.length else {
            throw URLSyntaxError(.tooComplex, "The query is longer than \(QueryLimits.length) bytes.", in: "")
        }
        if let hash = query.utf8.firstIndex(of: UInt8(ascii: "#")) {
            throw URLSyntaxError(
                .unexpectedText, "A number sign must be percent-encoded in a query.", in: query,
                at: query.utf8.distance(from: query.startIndex, to: hash))
        }
        // By bytes, because splitting by characters takes half of the time of the parser.
        let pairs = query.utf8.split(separator: UInt8(ascii: "&")).map { pair in
            let end = pair.firstIndex(of: UInt8(ascii: "="))
            return (
                name: Substring(pair[..<(end ?? pair.endIndex)]),
                value: end.map { Substring(pair[pair.index(after: $0)...]) }
            )
        }
        let plusIsSpace = pairs.contains {
            $0.name == "odata-accept-forms-encoding" && $0.value?.lowercased() == "true"
        }
        var options = QueryOptions()
        for pair in pairs {
            let name = try PercentCoding.decode(pair.name, plusIsSpace: plusIsSpace)
            try options.read(name, pair.value, version: version, plusIsSpace: plusIsSpace)
        }
        if let type, let model { try options.check(against: type, model: model, version: version) }
        return options
    }

    private mutating func read(
        _ name: String, _ encoded: Substring?, version: ODataVersion, plusIsSpace: Bool
    ) throws(URLSyntaxError) {
        if name.hasPrefix("@"), !version.isLegacy {
            guard let encoded, Self.isIdentifier(name.dropFirst()) else {
                throw URLSyntaxError(.unknownOption, "\(name) is not a parameter alias with a value.", in: name)
            }
            let value = try PercentCoding.decode(encoded, plusIsSpace: plusIsSpace)
            var parser = try ExpressionParser(value, version: version)
            let expression = try parser.item()
            try parser.expectEnd()
            aliases.append(ParameterAlias(name: String(name.dropFirst()), value: expression))
            return
        }
        guard !name.isEmpty else {
            throw URLSyntaxError(.unknownOption, "A query option has no name.", in: String(encoded ?? ""))
        }
        let hasDollar = name.hasPrefix("$")
        let word = hasDollar ? String(name.dropFirst()) : name
        guard hasDollar || version == .v401,
            let option = Name(rawValue: version.isLegacy ? word : word.lowercased()), option.isKnown(to: version)
        else {
            if hasDollar {
                throw URLSyntaxError(
                    .unknownOption, "\(name) is not a query option of OData \(version.rawValue).", in: name)
            }
            let value = try encoded.map { (text) throws(URLSyntaxError) in
                try PercentCoding.decode(text, plusIsSpace: plusIsSpace)
            }
            custom.append(CustomOption(name: name, value: value))
            return
        }
        try read(option, encoded ?? "", version: version, plusIsSpace: plusIsSpace)
    }

    private mutating func read(
        _ option: Name, _ encoded: Substring, version: ODataVersion, plusIsSpace: Bool
    ) throws(URLSyntaxError) {
        let value = try PercentCoding.decode(encoded, plusIsSpace: plusIsSpace)
        func invalid(_ message: String) -> URLSyntaxError { URLSyntaxError(.invalidOptionValue, message, in: value) }
        switch option {
        case .format, .skiptoken, .deltatoken, .schemaversion, .id, .inlinecount:
            guard !holds(option) else {
                throw URLSyntaxError(.repeatedOption, "$\(option.rawValue) occurs twice.", in: value)
            }
            guard !value.isEmpty else { throw invalid("$\(option.rawValue) has no value.") }
        default:
            var parser = try SystemQueryOptionParser(value, version: version)
            parser.cursor.encodedSemicolons = encodedSemicolons(in: encoded)
            try parser.value(of: option, into: &self)
            try parser.expectEnd()
        }
        switch option {
        case .format:
            guard version.isLegacy || Self.isFormat(value) else {
                throw invalid("$format must be json, xml, atom or a media type.")
            }
            format = format ?? value
        case .skiptoken: skipToken = value
        case .deltatoken: deltaToken = value
        case .id: id = value
        case .schemaversion:
            guard value == "*" || value.utf8.allSatisfy({ $0.isIdentifierPart || [0x2D, 0x2E, 0x7E].contains($0) })
            else {
                throw invalid("$schemaversion must be a version or *.")
            }
            schemaVersion = value
        case .inlinecount:
            guard value == "allpages" || value == "none" else {
                throw invalid("$inlinecount must be allpages or none.")
            }
            count = value == "allpages"
        default: break
        }
    }

    private static func isIdentifier(_ text: Substring) -> Bool {
        text.utf8.first?.isIdentifierStart == true && text.utf8.allSatisfy(\.isIdentifierPart)
    }

    /// Returns whether the text is valid for `$format` of V4: one of three words, or a media type.
    private static func isFormat(_ text: String) -> Bool {
        if ["json", "xml", "atom"].contains(text.lowercased()) { return true }
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { !$0.isEmpty }
    }

    /// Returns the offsets in the decoded text of semicolons that were percent-encoded.
    private func encodedSemicolons(in encoded: Substring) -> Set<Int> {
        var result: Set<Int> = []
        var offset = 0
        var bytes = encoded.utf8.makeIterator()
        while let byte = bytes.next() {
            if byte == UInt8(ascii: "%"), let high = bytes.next(), let low = bytes.next(),
                high == UInt8(ascii: "3"), low.asciiLowercased == UInt8(ascii: "b")
            {
                result.insert(offset)
            }
            offset += 1
        }
        return result
    }
}

extension QueryOptions {
    /// Returns the name of a custom option that would be a system query option of the version with a dollar sign, or
    /// nil.
    ///
    /// Ignoring such an option would return a different result than intended.
    package func withoutDollar(_ version: ODataVersion) -> String? {
        custom.first { Name(rawValue: $0.name.lowercased())?.isKnown(to: version) == true }?.name
    }
}

extension QueryOptions.Name {
    func isKnown(to version: ODataVersion) -> Bool {
        switch self {
        case .filter, .orderby, .select, .expand, .top, .skip, .format, .skiptoken: true
        case .inlinecount: version.isLegacy
        // Delta queries of V2 services (SAP Gateway) contain a delta token as `!deltatoken`.
        case .count, .search, .deltatoken, .compute, .id, .apply, .index, .schemaversion: !version.isLegacy
        case .levels: false
        }
    }
}
