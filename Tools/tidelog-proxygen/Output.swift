internal import Foundation
internal import ProxyGenerator

/// The directory that the sources go to.
struct Output {
    let directory: URL

    /// Writes every file, or none where one of the same name was not generated. What has not changed is left alone, so that
    /// a build does not compile it again.
    func write(_ files: [GeneratedFile]) throws {
        var changed: [(url: URL, text: String)] = []
        for file in files {
            let url = directory.appending(path: file.name)
            if FileManager.default.fileExists(atPath: url.path) {
                let present = try? String(contentsOf: url, encoding: .utf8)
                guard let present, present.hasPrefix(GeneratedFile.mark) else {
                    throw Failure("\(url.path) was not generated and is not replaced. Choose another --destination.")
                }
                if present == file.text { continue }
            }
            changed.append((url, file.text))
        }
        do {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            for (url, text) in changed { try Data(text.utf8).write(to: url, options: .atomic) }
        } catch {
            throw Failure("\(directory.path) cannot be written: \(error.localizedDescription)")
        }
    }
}
