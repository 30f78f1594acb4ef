/// A request as the OData standards require it, written once for V2 and once for V4, independently of the product's
/// code.
struct Wanted: Sendable {
    var v2: Lines
    var v4: Lines

    /// The request line, and the content that differs between requests.
    struct Lines: Sendable, Hashable {
        var method: String
        /// The URL, relative to the service root.
        var url: String
        var ifMatch: String?
        var body: String?
    }

    enum Version: String, Sendable, CaseIterable {
        case v2, v4

        var root: String { "http://shop.test/\(rawValue)/" }

        /// Returns the headers of a request in a batch.
        func headers(_ lines: Lines) -> [String] {
            var headers =
                switch self {
                case .v2: ["DataServiceVersion: 2.0", "MaxDataServiceVersion: 2.0", "Accept: application/json"]
                case .v4: ["OData-Version: 4.0", "OData-MaxVersion: 4.01", "Accept: application/json"]
                }
            if lines.body != nil { headers.append("Content-Type: application/json") }
            if let ifMatch = lines.ifMatch { headers.append("If-Match: \(ifMatch)") }
            if let body = lines.body { headers.append("Content-Length: \(body.utf8.count)") }
            return headers
        }
    }

    subscript(version: Version) -> Lines { version == .v2 ? v2 : v4 }

    /// A member of a body.
    enum Member: Sendable {
        case text(String, String)
        case value(String, Int?)
        /// A binding of a single-valued property. `$1` is the entity of the request with Content-ID 1.
        case bind(String, String)
        /// A binding of a collection-valued property.
        case bindAll(String, [String])
        case inline(String, [Member])
    }
}

extension Wanted {
    static func either(v2: Wanted, v4: Wanted) -> Wanted { Wanted(v2: v2.v2, v4: v4.v4) }

    // MARK: Links

    /// Returns a request that sets the link of a single-valued property, such as `Cars(1)/Owner`.
    static func setLink(_ place: String, _ target: String) -> Wanted { link("PUT", place, target) }

    /// Returns a request that adds a link to a collection, such as `Customers(1)/Orders`.
    static func addLink(_ place: String, _ target: String) -> Wanted { link("POST", place, target) }

    /// Returns a request that removes a link.
    ///
    /// - Parameter target: The entity to remove, for a collection.
    static func removeLink(_ place: String, _ target: String? = nil) -> Wanted {
        let parts = place.split(separator: "/")
        let key = target.map { String($0[($0.firstIndex(of: "(") ?? $0.startIndex)...]) } ?? ""
        let id = target.map { "?$id=\(Version.v4.root)\($0)" } ?? ""
        return Wanted(
            v2: Lines(method: "DELETE", url: "\(parts[0])/$links/\(parts[1])\(key)"),
            v4: Lines(method: "DELETE", url: "\(place)/$ref\(id)"))
    }

    private static func link(_ method: String, _ place: String, _ target: String) -> Wanted {
        let parts = place.split(separator: "/")
        return Wanted(
            v2: Lines(
                method: method, url: "\(parts[0])/$links/\(parts[1])", body: "{\"uri\":\"\(url(target, .v2))\"}"),
            v4: Lines(method: method, url: "\(place)/$ref", body: "{\"@odata.id\":\"\(url(target, .v4))\"}"))
    }

    // MARK: Entities

    static func post(_ url: String, _ members: Member...) -> Wanted {
        Wanted(
            v2: Lines(method: "POST", url: url, body: body(members, .v2)),
            v4: Lines(method: "POST", url: url, body: body(members, .v4)))
    }

    static func change(_ entity: String, _ members: Member...) -> Wanted {
        Wanted(
            v2: Lines(method: "MERGE", url: entity, ifMatch: etag(entity), body: body(members, .v2)),
            v4: Lines(method: "PATCH", url: entity, ifMatch: etag(entity), body: body(members, .v4)))
    }

    static func delete(_ entity: String) -> Wanted {
        let lines = Lines(method: "DELETE", url: entity, ifMatch: etag(entity))
        return Wanted(v2: lines, v4: lines)
    }

    /// Returns the ETag. The sandbox assigns ETags only to orders, and all of these are in their first version.
    private static func etag(_ entity: String) -> String? { entity.hasPrefix("Orders(") ? "W/\"1\"" : nil }

    // MARK: Bodies

    private static func url(_ target: String, _ version: Version) -> String {
        target.hasPrefix("$") ? target : version.root + target
    }

    private static func body(_ members: [Member], _ version: Version) -> String {
        "{" + members.map { text($0, version) }.joined(separator: ",") + "}"
    }

    private static func text(_ member: Member, _ version: Version) -> String {
        switch (member, version) {
        case (.text(let name, let value), _): "\"\(name)\":\"\(value)\""
        case (.value(let name, let value), _): "\"\(name)\":\(value.map(String.init) ?? "null")"
        case (.bind(let name, let target), .v2): "\"\(name)\":\(reference(target))"
        case (.bind(let name, let target), .v4): "\"\(name)@odata.bind\":\"\(url(target, .v4))\""
        case (.bindAll(let name, let targets), .v2):
            "\"\(name)\":[" + targets.map(reference).joined(separator: ",") + "]"
        case (.bindAll(let name, let targets), .v4):
            "\"\(name)@odata.bind\":[" + targets.map { "\"\(url($0, .v4))\"" }.joined(separator: ",") + "]"
        case (.inline(let name, let members), _): "\"\(name)\":\(body(members, version))"
        }
    }

    private static func reference(_ target: String) -> String { "{\"__metadata\":{\"uri\":\"\(url(target, .v2))\"}}" }
}

/// The body of a `$batch` request with given requests (OData 4.01 Part 1, 11.7.7; MS-ODATA 2.2.7.6).
enum WantedBatch {
    /// Returns the headers of the batch request, except for its boundary.
    static func headers(_ version: Wanted.Version) -> [(name: String, value: String)] {
        switch version {
        case .v2:
            [("DataServiceVersion", "2.0"), ("MaxDataServiceVersion", "2.0"), ("Accept", "multipart/mixed")]
        case .v4: [("OData-Version", "4.0"), ("OData-MaxVersion", "4.01"), ("Accept", "multipart/mixed")]
        }
    }

    static func text(_ changeSets: [[Wanted.Lines]], _ version: Wanted.Version, number: Int) -> String {
        var lines: [String] = []
        var contentID = 0
        for (index, changeSet) in changeSets.enumerated() {
            let boundary = "changeset_\(number)_\(index + 1)"
            lines += ["--batch_tidelog_\(number)", "Content-Type: multipart/mixed; boundary=\(boundary)", ""]
            for request in changeSet {
                contentID += 1
                lines += [
                    "--\(boundary)", "Content-Type: application/http", "Content-Transfer-Encoding: binary",
                    "Content-ID: \(contentID)", "", "\(request.method) \(request.url) HTTP/1.1",
                ]
                lines += version.headers(request) + ["", request.body ?? ""]
            }
            lines.append("--\(boundary)--")
        }
        return (lines + ["--batch_tidelog_\(number)--", ""]).joined(separator: "\r\n")
    }
}
