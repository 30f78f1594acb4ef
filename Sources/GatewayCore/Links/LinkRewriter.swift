internal import EDM

/// Replaces the root of the service in the links of a JSON document, while it streams through.
///
/// Links are the control information of OData (`@odata.nextLink`, `@id`, `__metadata.uri`, `__next`, …). Property
/// values are never changed. Everything else, also white space and escapes, stays byte for byte. Input that is not JSON
/// passes through. Memory is bounded by the length of a member name, of the root, and of a URL in a batch.
package struct LinkRewriter: Sendable {
    /// The names that are links in addition to the control information.
    package struct Scope: OptionSet, Sendable, Hashable {
        package let rawValue: Int
        package init(rawValue: Int) { self.rawValue = rawValue }

        /// `url`, as in service documents.
        package static let serviceDocument = Scope(rawValue: 1)
        /// `uri`, as in the responses to and the bodies of requests for links in V2.
        package static let links = Scope(rawValue: 2)
        /// `url` and the members of `headers`, as in JSON batches.
        package static let batch = Scope(rawValue: 4)
    }

    private let roots: [(from: [UInt8], to: [UInt8])]
    /// Nil for responses.
    private let requestRoots: ServiceRoots?
    private let scope: Scope
    private var containers: [Container] = []
    private var name: [UInt8] = []
    private var url: [UInt8] = []
    /// The raw bytes of the link, as long as it may begin with a root.
    private var link: [UInt8] = []
    /// The number of bytes of the link without escapes.
    private var matched = 0
    /// Whether each root begins with these bytes.
    private var candidates: [Bool] = []
    private var isLink = false
    /// Set for input that is nested too deeply.
    private var isOff = false
    private var state = ScanState.outside

    private struct Container {
        let isObject: Bool
        /// The kind of object, by the name under which it is.
        let role: Role
        /// Whether the strings of this array are links.
        let holdsLinks: Bool
        var expectsName: Bool
    }

    private enum Role { case other, metadata, deferred, headers }

    private enum ScanState {
        case outside
        /// Inside of a member name.
        case name(isEscaped: Bool)
        /// Inside of a string value that is not a link, or whose root was decided.
        case text(isEscaped: Bool)
        /// Inside of the URL of a request in a JSON batch, whose raw bytes are in ``url``.
        case target(isEscaped: Bool)
        /// At the beginning of a link, whose raw bytes are in ``link``.
        case link(isEscaped: Bool)
    }

    private static let maximumDepth = 500
    private static let maximumName = 512
    /// The largest length of a URL that is rewritten.
    private static let maximumURL = 64 << 10

    package init(_ roots: ServiceRoots, _ direction: ServiceRoots.Direction, scope: Scope = []) {
        let (source, target) = (roots.source(direction), roots.target(direction))
        self.roots = [
            (Array(source.description.utf8), Array(target.description.utf8)),
            (Array(source.path.utf8), Array(target.path.utf8)),
        ]
        candidates = self.roots.map { _ in true }
        self.scope = scope
        requestRoots = direction == .request ? roots : nil
    }

    /// Rewrites a whole document.
    package static func rewrite(
        _ bytes: [UInt8], _ roots: ServiceRoots, _ direction: ServiceRoots.Direction, scope: Scope = []
    ) -> [UInt8] {
        var rewriter = LinkRewriter(roots, direction, scope: scope)
        var output = rewriter.rewrite(bytes)
        output += rewriter.finish()
        return output
    }

    /// Returns the rewritten bytes that are decided. The rest follows with the next call.
    package mutating func rewrite(_ bytes: [UInt8]) -> [UInt8] {
        if isOff { return bytes }
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count + 64)
        var index = 0
        while index < bytes.count {
            if case .text(isEscaped: false) = state {
                // Most bytes belong to texts, which are copied as a whole.
                let end = bytes[index...].firstIndex { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }
                output += bytes[index..<(end ?? bytes.count)]
                guard let end else { return output }
                index = end
            }
            step(bytes[index], &output)
            index += 1
            if isOff {
                output += bytes[index...]
                return output
            }
        }
        return output
    }

    /// Returns the remaining bytes of a document that ends inside of a link.
    package mutating func finish() -> [UInt8] {
        defer { state = .outside }
        switch state {
        case .link: return link
        case .target: return url
        case .outside, .name, .text: return []
        }
    }

    private mutating func step(_ byte: UInt8, _ output: inout [UInt8]) {
        switch state {
        case .outside:
            output.append(byte)
            outside(byte)
        case .name(let isEscaped):
            output.append(byte)
            if !isEscaped, byte == UInt8(ascii: "\"") {
                state = .outside
            } else {
                if name.count < Self.maximumName { name.append(byte) }
                state = .name(isEscaped: !isEscaped && byte == UInt8(ascii: "\\"))
            }
        case .text(let isEscaped):
            output.append(byte)
            if !isEscaped, byte == UInt8(ascii: "\"") {
                state = .outside
            } else {
                state = .text(isEscaped: !isEscaped && byte == UInt8(ascii: "\\"))
            }
        case .target(let isEscaped): target(byte, isEscaped, &output)
        case .link(let isEscaped): link(byte, isEscaped, &output)
        }
    }

    private mutating func outside(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["): open(isObject: byte == UInt8(ascii: "{"))
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            _ = containers.popLast()
            isLink = false
        case UInt8(ascii: ","):
            if containers.last?.isObject == true { containers[containers.count - 1].expectsName = true }
            isLink = containers.last?.holdsLinks ?? false
        case UInt8(ascii: ":"):
            if containers.last?.isObject == true {
                containers[containers.count - 1].expectsName = false
                isLink = namesLink()
            }
        case UInt8(ascii: "\""):
            if containers.last?.expectsName == true {
                name.removeAll(keepingCapacity: true)
                state = .name(isEscaped: false)
            } else if isLink, requestRoots != nil, isRequestOfBatch, name.elementsEqual("url".utf8) {
                url.removeAll(keepingCapacity: true)
                state = .target(isEscaped: false)
            } else if isLink {
                link.removeAll(keepingCapacity: true)
                matched = 0
                for index in candidates.indices { candidates[index] = true }
                state = .link(isEscaped: false)
            } else {
                state = .text(isEscaped: false)
            }
        default: break
        }
    }

    private mutating func open(isObject: Bool) {
        guard containers.count < Self.maximumDepth else {
            isOff = true
            return
        }
        let isMember = containers.last?.isObject == true
        var role = Role.other
        if isObject, isMember {
            if name.elementsEqual("__metadata".utf8) { role = .metadata }
            if name.elementsEqual("__deferred".utf8) { role = .deferred }
            if scope.contains(.batch), name.elementsEqual("headers".utf8) { role = .headers }
        }
        let holdsLinks = !isObject && isMember && isLink
        containers.append(Container(isObject: isObject, role: role, holdsLinks: holdsLinks, expectsName: isObject))
        isLink = holdsLinks
    }

    private static let annotations: Set<String> = [
        "context", "id", "editLink", "readLink", "nextLink", "deltaLink", "mediaReadLink", "mediaEditLink",
        "navigationLink", "associationLink", "bind",
    ]

    /// Whether the current object is an element of the array of a JSON batch, and not a part of its body.
    private var isRequestOfBatch: Bool { scope.contains(.batch) && containers.count == 3 }

    /// Whether the member with the current name is a link.
    private func namesLink() -> Bool {
        let role = containers.last?.role ?? .other
        if let at = name.lastIndex(of: UInt8(ascii: "@")) {
            var term = name[(at + 1)...]
            if term.starts(with: "odata.".utf8) { term = term.dropFirst(6) }
            return Self.annotations.contains(String(decoding: term, as: UTF8.self))
        }
        if name.isEmpty || name.count > 24 { return false }
        let text = String(decoding: name, as: UTF8.self)
        switch role {
        case .metadata: return ["uri", "id", "media_src", "edit_media"].contains(text)
        case .deferred: return text == "uri"
        case .headers: return ["location", "odata-entityid", "content-location"].contains(text.lowercased())
        case .other: break
        }
        switch text {
        case "__next", "__delta": return true
        case "url": return scope.contains(.serviceDocument) || isRequestOfBatch
        case "uri": return scope.contains(.links)
        default: return false
        }
    }

    /// Rewrites the URL of a request, which can contain a second one in its query.
    private mutating func target(_ byte: UInt8, _ isEscaped: Bool, _ output: inout [UInt8]) {
        guard !isEscaped, byte == UInt8(ascii: "\"") else {
            url.append(byte)
            state = .target(isEscaped: !isEscaped && byte == UInt8(ascii: "\\"))
            guard url.count > Self.maximumURL else { return }
            output += url
            state = .text(isEscaped: !isEscaped && byte == UInt8(ascii: "\\"))
            return
        }
        let quote = [UInt8(ascii: "\"")]
        let text = (try? JSONValue.parse(quote + url + quote))?.string
        let changed = text.flatMap { requestRoots?.rewrittenTarget($0) }
        if let changed, changed != text {
            var writer = JSONWriter()
            writer.string(changed)
            output += writer.bytes.dropFirst().dropLast()
        } else {
            // The escapes stay as well.
            output += url
        }
        output.append(byte)
        state = .outside
    }

    private mutating func link(_ byte: UInt8, _ isEscaped: Bool, _ output: inout [UInt8]) {
        if !isEscaped, byte == UInt8(ascii: "\"") {
            output += link
            output.append(byte)
            state = .outside
            return
        }
        link.append(byte)
        if !isEscaped, byte == UInt8(ascii: "\\") {
            state = .link(isEscaped: true)
            return
        }
        // Of the escapes, only that of the slash occurs in a root.
        if isEscaped, byte != UInt8(ascii: "/") {
            output += link
            state = .text(isEscaped: false)
            return
        }
        state = .link(isEscaped: false)
        var isPrefix = false
        for index in roots.indices where candidates[index] {
            let from = roots[index].from
            candidates[index] = matched < from.count && from[matched] == byte
            guard candidates[index] else { continue }
            isPrefix = true
            if matched + 1 == from.count {
                let escapes = link.count > matched + 1
                output += roots[index].to.flatMap {
                    escapes && $0 == UInt8(ascii: "/") ? [UInt8(ascii: "\\"), $0] : [$0]
                }
                state = .text(isEscaped: false)
                return
            }
        }
        matched += 1
        if !isPrefix {
            output += link
            state = .text(isEscaped: false)
        }
    }
}
