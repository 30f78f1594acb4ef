import Testing

/// The number of lines of Swift files.
@Suite struct FileSizeTests {
    /// The largest number of lines of a file.
    private static let limit = 400

    /// Files of the tests above the limit, each with the number of lines that it must not exceed. The numbers are only
    /// ever lowered, and no file is added.
    private static let exceptions: [String: Int] = [
        "Tests/RelationTests/ToManyTests.swift": 419,
        "Tests/SampleServices/Shop/ShopService.swift": 516,
        "Tests/SyncEngineTests/AcceptedBatchTests.swift": 425,
        "Tests/TidelogTests/LackingRequestTests.swift": 428,
        "Tests/ViewsTests/RandomRecords.swift": 445,
        "Tests/ViewsTests/RowQueryTests.swift": 442,
    ]

    /// Returns the lines of each Swift file in a folder, by path.
    private static func sizes(_ folder: String) throws -> [String: Int] {
        var sizes: [String: Int] = [:]
        for file in try PackageSources.swiftFiles(folder) {
            sizes[file] = try PackageSources.text(file).utf8.count(where: { $0 == UInt8(ascii: "\n") })
        }
        return sizes
    }

    @Test func `no file of the sources has more than 400 lines`() throws {
        let sizes = try Self.sizes("Sources")
        #expect(sizes.count > 500)
        for (file, size) in sizes.sorted(by: { $0.key < $1.key }) {
            #expect(size <= Self.limit, "\(file) has \(size) lines")
        }
    }

    @Test func `no file of the tests has more than 400 lines, except for known ones, which do not grow`() throws {
        let sizes = try Self.sizes("Tests")
        #expect(sizes.count > 300)
        for (file, size) in sizes.sorted(by: { $0.key < $1.key }) {
            let limit = Self.exceptions[file] ?? Self.limit
            #expect(size <= limit, "\(file) has \(size) lines")
        }
    }

    @Test func `a known file that has become smaller has a lower limit`() throws {
        let sizes = try Self.sizes("Tests")
        for (file, limit) in Self.exceptions {
            let size = sizes[file] ?? 0
            #expect(size > Self.limit && limit - size < 20, "\(file) has \(size) lines, the limit is \(limit)")
        }
    }
}
