import Foundation
import Testing

/// The size of types, with all of their extensions in the module that declares them.
@Suite struct TypeSizeTests {
    /// The largest number of lines of a type.
    private static let limit = 600

    /// Types above the limit, with a size that they must not exceed. A type that has become smaller gets a lower number.
    private static let known: [String: Int] = [
        "Tidelog.OfflineODataProvider": 800
    ]

    /// Returns the lines of each type, by `Module.Type`. A declaration begins and ends in the first column.
    private static func sizes() throws -> [String: Int] {
        let declaration =
            /^(?:@\w+(?:\([^)]*\))? )*(?:(?:public|package|private|fileprivate|final|indirect|nonisolated) )*(?:struct|class|enum|actor|extension|protocol) ([A-Z]\w*)/
        var sizes: [String: Int] = [:]
        for file in try PackageSources.swiftFiles("Sources") {
            let module = file.split(separator: "/")[1]
            var current: (name: String, count: Int)?
            for line in try PackageSources.text(file).split(separator: "\n", omittingEmptySubsequences: false) {
                if var open = current {
                    open.count += 1
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

    @Test func `no type has more than 600 lines, except for known ones, which do not grow`() throws {
        let sizes = try Self.sizes()
        #expect(sizes.count > 500)
        for (name, size) in sizes.sorted(by: { $0.key < $1.key }) {
            let limit = Self.known[name] ?? Self.limit
            #expect(size <= limit, "\(name) has \(size) lines")
        }
    }

    @Test func `a known type that has become smaller has a lower limit`() throws {
        let sizes = try Self.sizes()
        for (name, limit) in Self.known {
            let size = sizes[name] ?? 0
            #expect(size > Self.limit && limit - size < 100, "\(name) has \(size) lines, the limit is \(limit)")
        }
    }
}
