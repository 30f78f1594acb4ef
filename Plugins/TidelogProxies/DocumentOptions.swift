import Foundation

/// The options in `tidelog-proxygen.json` for a document: an object with the generator's arguments by the name of the
/// document, and those for all documents under `*`.
///
///     { "*": ["-internal"], "Shop.csdl": ["-s", "ShopService", "-annotate", "names.xml"] }
struct DocumentOptions {
    private(set) var arguments: [String] = []
    /// The file of the options, and the files that the arguments name.
    private(set) var files: [URL] = []

    init(folder: URL, document: String) throws {
        let file = folder.appending(path: "tidelog-proxygen.json")
        guard FileManager.default.fileExists(atPath: file.path) else { return }
        let options: [String: [String]]
        do {
            options = try JSONDecoder().decode([String: [String]].self, from: Data(contentsOf: file))
        } catch {
            throw OptionsError(
                description: "\(file.path) must be an object with a list of arguments for each document, or for \"*\".")
        }
        files = [file]
        for argument in (options["*"] ?? []) + (options[document] ?? []) {
            if let option = arguments.last, Self.paths.contains(option) {
                arguments.append(path(argument, of: option, from: folder))
            } else if let option = Self.paths.first(where: { argument.hasPrefix($0 + "=") }) {
                let path = path(String(argument.dropFirst(option.count + 1)), of: option, from: folder)
                arguments.append("\(option)=\(path)")
            } else {
                arguments.append(argument)
            }
        }
    }

    /// Resolves a path relative to the document, because the working directory of a build is arbitrary.
    private mutating func path(_ path: String, of option: String, from folder: URL) -> String {
        let url = (path.hasPrefix("/") ? URL(filePath: path) : folder.appending(path: path)).standardizedFileURL
        if option.hasSuffix("annotate") {
            files.append(url)
        } else {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
            let documents = names.sorted().filter { Self.documents.contains(where: $0.lowercased().hasSuffix) }
            files += documents.map { url.appending(path: $0) }
        }
        return url.path
    }

    private static let documents = [".xml", ".edmx", ".csdl"]

    private static let paths: Set<String> = ["-annotate", "--annotate", "-reference", "--reference"]
}

struct OptionsError: Error, CustomStringConvertible {
    let description: String
}
