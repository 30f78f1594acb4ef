import Foundation

/// The targets that `Package.swift` declares, read from its text: `layer(…)`, `tool(…)`, `.target(…)`,
/// `.systemLibrary(…)`.
struct PackageManifest {
    struct Target {
        let name: String
        /// The path, relative to the root of the package.
        let path: String
        let dependencies: Set<String>
    }

    let targets: [Target]

    init(_ text: String) {
        var products: [String: String] = [:]
        for match in text.matches(of: /let (\w+): Target\.Dependency = \.(?:product|target)\(\s*name: "(\w+)"/) {
            products[String(match.1)] = String(match.2)
        }
        guard let list = text.range(of: "targets: [\n") else {
            targets = []
            return
        }
        var targets: [Target] = []
        let declarations = text[list.upperBound...]
        for match in declarations.matches(
            of: /(layer|tool|\.target|\.systemLibrary)\(\s*(?:name: )?"([\w-]+)"(?:, (?:folder|path): "([\w\/-]+)")?/)
        {
            let rest = declarations[match.range.upperBound...]
            let name = String(match.2)
            let isTool = match.1 == "tool"
            let hasDependencies = isTool || match.1 == "layer"
            targets.append(
                Target(
                    name: name,
                    path: isTool
                        ? "Tools/\(match.3.map(String.init) ?? name)" : match.3.map(String.init) ?? "Sources/\(name)",
                    dependencies: hasDependencies ? Self.dependencies(rest, products) : []))
        }
        self.targets = targets
    }

    /// Returns the elements of the next list in brackets: `"EDM"`, `.product(name: "NIOCore", …)`, or a constant.
    private static func dependencies(_ text: Substring, _ products: [String: String]) -> Set<String> {
        guard let open = text.firstIndex(of: "["), let close = text[open...].firstIndex(of: "]") else { return [] }
        var list = String(text[text.index(after: open)..<close])
        var found: Set<String> = []
        for match in list.matches(of: /\.product\(name: "(\w+)", package: "[\w-]+"\)/) { found.insert(String(match.1)) }
        list.replace(/\.product\([^)]*\)/, with: "")
        for item in list.split(whereSeparator: { ",\n ".contains($0) }) {
            if item.hasPrefix("\"") {
                found.insert(item.filter { $0 != "\"" })
            } else {
                found.insert(products[String(item)] ?? String(item))
            }
        }
        return found
    }
}
