import Foundation
import Testing

/// The size of types in lines without documentation comments, with all of their extensions in the module that declares
/// them.
@Suite struct TypeSizeTests {
    /// The largest number of lines of a type. It is only ever lowered.
    private static let limit = 580

    /// Classes of SAPOData's API, each with the number of lines that it must not exceed.
    ///
    /// SAPOData declares their members on these classes, and apps subclass two of them, so that members cannot move to
    /// other types. The numbers are only ever lowered; no type is added without a decision record
    /// (`Docs/Decisions/0108-facade-classes-mirror-the-api-of-sapodata.md`).
    private static let facades: [String: Int] = [
        "Tidelog.DataService": 695
    ]

    /// Returns the lines of each type, by `Module.Type`. A declaration begins and ends in the first column.
    private static func sizes() throws -> [String: Int] {
        let declaration =
            /^(?:@\w+(?:\([^)]*\))? )*(?:(?:open|public|package|internal|private|fileprivate|final|indirect|nonisolated) )*(?:struct|class|enum|actor|extension|protocol) ([A-Z]\w*)/
        var sizes: [String: Int] = [:]
        for file in try PackageSources.swiftFiles("Sources") {
            let module = file.split(separator: "/")[1]
            var current: (name: String, count: Int)?
            for line in try PackageSources.text(file).split(separator: "\n", omittingEmptySubsequences: false) {
                if var open = current {
                    if !line.drop(while: { $0 == " " }).hasPrefix("///") { open.count += 1 }
                    current = open
                    if line.hasPrefix("}") {
                        sizes["\(module).\(open.name)", default: 0] += open.count
                        current = nil
                    }
                } else if let found = line.firstMatch(of: declaration), !line.hasSuffix("}") {
                    current = (String(found.1), 1)
                }
            }
        }
        return sizes
    }

    @Test func `no type has more than 580 lines, except for the facade classes, which do not grow`() throws {
        let sizes = try Self.sizes()
        #expect(sizes.count > 500)
        for (name, size) in sizes.sorted(by: { $0.key < $1.key }) {
            let limit = Self.facades[name] ?? Self.limit
            #expect(size <= limit, "\(name) has \(size) lines")
        }
    }

    @Test func `a facade class that has become smaller has a lower limit`() throws {
        let sizes = try Self.sizes()
        for (name, limit) in Self.facades {
            let size = sizes[name] ?? 0
            #expect(size > Self.limit && limit - size < 50, "\(name) has \(size) lines, the limit is \(limit)")
        }
    }
}
