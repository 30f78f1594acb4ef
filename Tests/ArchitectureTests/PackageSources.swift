import Foundation

/// The checkout from which this test was compiled.
enum PackageSources {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// Returns the folders of `Sources`, each of which is a target.
    static func folders() throws -> Set<String> {
        let entries = try FileManager.default.contentsOfDirectory(
            at: root.appending(path: "Sources"), includingPropertiesForKeys: [.isDirectoryKey])
        return Set(
            try entries.filter { try $0.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true }
                .map(\.lastPathComponent))
    }

    /// Returns the Swift files of a folder, relative to the root.
    static func swiftFiles(_ folder: String) throws -> [String] {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
        return paths.filter { $0.hasSuffix(".swift") }.map { "\(folder)/\($0)" }
    }

    /// Returns the modules that the Swift files of a target import.
    static func imports(of target: PackageManifest.Target) throws -> Set<String> {
        let folder = root.appending(path: target.path)
        let declaration =
            /^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?import\s+(?:(?:typealias|struct|class|enum|protocol|let|var|func)\s+)?(\w+)/
            .anchorsMatchLineEndings()
        var modules: Set<String> = []
        for case let file as URL in FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
            ?? .init()
        where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in text.matches(of: declaration) { modules.insert(String(match.1)) }
        }
        return modules
    }
}
