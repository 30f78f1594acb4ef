import Foundation
import OperationLog
import Operations
import TestSupport
import Testing
@testable import OfflineStore

/// Entries with the name of a store's file but of another type are refused, and never followed, written to or waited
/// for.
@Suite(.timeLimit(.minutes(20))) struct StoreFilesTests {
    enum Intruder: CaseIterable, Sendable {
        case symbolicLink, danglingLink, fifo, directory
    }

    private static let names = [
        "LOCK", "store.json", "store.json.new", "views.sqlite", "views.sqlite-wal", "views.sqlite-shm", "log",
        "streams", "log/00000000000000000001.segment",
    ]

    private func replace(_ path: String, by intruder: Intruder, _ target: String) throws {
        let files = FileManager.default
        try? files.removeItem(atPath: path)
        switch intruder {
        case .symbolicLink, .danglingLink:
            try files.createSymbolicLink(atPath: path, withDestinationPath: target)
        case .fifo: #expect(mkfifo(path, 0o600) == 0)
        case .directory: try files.createDirectory(atPath: path, withIntermediateDirectories: false)
        }
    }

    @Test(arguments: names, Intruder.allCases)
    func `a link, FIFO or directory in place of a file is refused at once, and its target is unchanged`(
        name: String, intruder: Intruder
    ) async throws {
        // These two entries are directories.
        if intruder == .directory, ["log", "streams"].contains(name) { return }
        let shop = try await Shop(.v4, queries: [])
        let files = shop.store.files
        await shop.store.close()
        try StoreDescription(serviceRoot: "http://shop.test/v4/").write(files)
        let outside = TemporaryDirectory()
        let target = outside.path + (name == "log" || name == "streams" ? "/folder" : "/precious")
        if intruder == .symbolicLink, name == "log" || name == "streams" {
            try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
            TemporaryDirectory.write(Array("precious".utf8), to: target + "/precious")
        } else if intruder == .symbolicLink {
            TemporaryDirectory.write(Array("precious".utf8), to: target)
        }
        let before = TemporaryDirectory.files(outside.path)
        try replace(files.directory + "/" + name, by: intruder, target)
        let error = await #expect(throws: TidelogError.self) { try await LocalStore(files, creating: false) }
        let words: [Intruder: String] = [
            .symbolicLink: "symbolic link", .danglingLink: "symbolic link", .fifo: "FIFO", .directory: "directory",
        ]
        #expect("\(try #require(error))".contains(words[intruder] ?? "?"), "\(error.map { "\($0)" } ?? "")")
        #expect(TemporaryDirectory.files(outside.path) == before)
        for path in before { #expect(TemporaryDirectory.read(path) == Array("precious".utf8)) }
        guard name.hasPrefix("store.json") else { return }
        #expect(throws: TidelogError.self) { try StoreDescription(serviceRoot: "http://x/").write(files) }
    }

    @Test func `clearing a store does not delete the target of a link in place of a directory`() async throws {
        let shop = try await Shop(.v4, queries: [])
        let files = shop.store.files
        await shop.store.close()
        try StoreDescription(serviceRoot: "http://shop.test/v4/").write(files)
        let outside = TemporaryDirectory()
        TemporaryDirectory.write([1], to: outside.path + "/precious")
        try FileManager.default.createSymbolicLink(atPath: files.streams, withDestinationPath: outside.path)
        try await StoreRemoval(files).run(force: true, options: .init())
        #expect(TemporaryDirectory.read(outside.path + "/precious") == [1])
    }

    @Test func `the path of a store may contain a symbolic link`() async throws {
        let shop = try await Shop(.v4, queries: [])
        await shop.store.close()
        let outside = TemporaryDirectory()
        try FileManager.default.createSymbolicLink(
            atPath: outside.path + "/store", withDestinationPath: shop.directory.path)
        let store = try await LocalStore(StoreFiles(directory: outside.path + "/store"), creating: false)
        #expect(await store.hasModel)
    }

    @Test
    func `a new store is accessible only for its owner under any umask, and one with wider permissions still opens`()
        async throws
    {
        let place = TemporaryDirectory()
        let files = StoreFiles(directory: place.path + "/below/store")
        let store = try await LocalStore(files)
        try StoreDescription(serviceRoot: "http://shop.test/v4/").write(files)
        let manager = FileManager.default
        func permissions(_ path: String) throws -> Int? {
            try manager.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        for folder in [place.path + "/below", files.directory, files.log] {
            #expect(try permissions(folder) == 0o700, "\(folder)")
        }
        let made = TemporaryDirectory.files(files.directory)
        #expect(made.count >= 4)
        for path in made { #expect(try permissions(path) == 0o600, "\(path)") }
        await store.close()
        for path in TemporaryDirectory.files(files.directory) {
            try manager.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        }
        await #expect(throws: Never.self) { try await LocalStore(files, creating: false).close() }
    }
}
