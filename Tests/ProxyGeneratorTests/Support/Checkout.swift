import Foundation
import ProxyGenerator

/// Files of the checkout that these tests were compiled from.
enum Checkout {
    static let root = URL(filePath: #filePath).appending(path: "../../../..").standardized

    static func swiftFiles(_ folder: String) throws -> [(name: String, text: String)] {
        let files = try FileManager.default.contentsOfDirectory(
            at: root.appending(path: folder), includingPropertiesForKeys: nil)
        return try files.filter { $0.pathExtension == "swift" }
            .map { ($0.lastPathComponent, try String(contentsOf: $0, encoding: .utf8)) }
            .sorted { $0.0 < $1.0 }
    }
}

/// The metadata documents of the conformance corpora, beside the checkout or where `TIDELOG_CONFORMANCE` says.
enum CSDLCorpus {
    static let folder: URL =
        ProcessInfo.processInfo.environment["TIDELOG_CONFORMANCE"].map { URL(filePath: $0) }
        ?? Checkout.root.appending(path: "../shared/conformance").standardized

    /// One document with what is known about it.
    struct Row: Sendable, CustomStringConvertible {
        let file: String
        let isInvalid: Bool
        let entityTypes: Int

        var description: String { file }
    }

    static let rows: [Row] = {
        guard let index = try? String(contentsOf: folder.appending(path: "csdl/index.jsonl"), encoding: .utf8) else {
            print("skipped: the conformance corpora are not beside the checkout (\(folder.path))")
            return []
        }
        return index.split(separator: "\n").compactMap(row)
    }()

    private static func row(_ line: Substring) -> Row? {
        guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
            let file = object["file"] as? String
        else { return nil }
        return Row(
            file: file, isInvalid: object["expect"] != nil || object["wellFormed"] as? Bool == false,
            entityTypes: (object["facts"] as? [String: Any])?["entityTypes"] as? Int ?? 0)
    }

    static var isPresent: Bool { !rows.isEmpty }

    static func bytes(_ file: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: folder.appending(path: file)))
    }
}

/// The compiler that the tests were built with, as far as the search path tells.
enum Compiler {
    static let path: String? = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let found = folders.map { "\($0)/swiftc" }.first { FileManager.default.isExecutableFile(atPath: $0) }
        if found == nil { print("skipped: there is no swiftc on the search path") }
        return found
    }()

    /// What the compiler says against the syntax of the sources; empty where it is content.
    static func complaints(_ files: [GeneratedFile]) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "proxies-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for file in files { try Data(file.text.utf8).write(to: folder.appending(path: file.name)) }
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: path ?? "/usr/bin/false")
        process.arguments = ["-frontend", "-parse"] + files.map { folder.appending(path: $0.name).path }
        process.standardError = pipe
        process.standardOutput = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let text = String(decoding: output, as: UTF8.self)
        return process.terminationStatus == 0 ? text : text + "exit \(process.terminationStatus)"
    }
}
