import Foundation
import Operations
import SyncCore

@testable import Views

/// The file of encrypted views, removed with the test.
final class SealedViewsFile {
    static let count = 300
    static let marker = "Marker-7c1f"

    let path: String
    let key: ViewsKey?
    private let owned: ViewsFile?

    static func key(_ number: UInt8) -> ViewsKey {
        ViewsKey(identifier: [UInt8](repeating: number, count: 16), secret: [UInt8](repeating: number, count: 32))
    }

    init(key: ViewsKey? = SealedViewsFile.key(1), path: String? = nil) {
        self.key = key
        owned = path == nil ? ViewsFile() : nil
        self.path = path ?? owned?.path ?? ""
    }

    func open() throws -> SQLiteState { try SQLiteState(path: path, key: key, store: "test") }

    /// Returns views that contain overflow pages and inner pages of indexes.
    func filled() throws -> SQLiteState {
        let state = try open()
        try state.transaction {
            for number in 0..<Self.count {
                let text = "Orders?$filter=Note eq '\(Self.marker)" + String(repeating: "\(number) ", count: number * 4)
                try state.bookkeeping.putQuery(QueryState(query: DefiningQuery(name: "Q\(number)", query: text + "'")))
            }
        }
        return state
    }

    func bytes(_ suffix: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path + suffix))) }

    func write(_ bytes: some Sequence<UInt8>, _ suffix: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path + suffix))
    }

    func hasMarker(_ suffix: String) throws -> Bool { try bytes(suffix).firstRange(of: Array(Self.marker.utf8)) != nil }

    /// The suffixes of the existing files after the path.
    var names: [String] {
        let url = URL(fileURLWithPath: path)
        let all = (try? FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path)) ?? []
        return all.filter { $0.hasPrefix(url.lastPathComponent) }.map {
            String($0.dropFirst(url.lastPathComponent.count))
        }
        .sorted()
    }

    /// Copies the files as another process would find them after the writing process has ended.
    func copy() throws -> SealedViewsFile {
        let copy = SealedViewsFile(key: key)
        for suffix in names where suffix != "-shm" { try copy.write(try bytes(suffix), suffix) }
        return copy
    }
}

extension SQLiteState {
    /// Performs a large transaction and rolls it back.
    func rehearse() throws {
        struct End: Error {}
        do {
            try transaction { () throws -> Void in
                for number in 0..<200 {
                    let text =
                        "Orders?$filter=Note eq '\(SealedViewsFile.marker)" + String(repeating: "x", count: 9_000)
                    try bookkeeping.putQuery(QueryState(query: DefiningQuery(name: "R\(number)", query: text + "'")))
                }
                throw End()
            }
        } catch is End {}
    }
}
