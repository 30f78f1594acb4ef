internal import EDM

/// The base URL of relative references in an XML document (`xml:base`, RFC 3986 section 5.2).
struct AtomBase {
    private var url: String?

    /// Returns the base within an element.
    func within(_ element: MarkupElement) -> AtomBase {
        guard let own = element.attribute("base", in: AtomNames.xml) else { return self }
        let url = resolve(own)
        // A relative base does not help: references without a base are relative to the service root anyway.
        return EntityURLWriter.isAbsolute(url) ? AtomBase(url: url) : self
    }

    /// Returns an absolute URL, or the reference itself if there is no base.
    func resolve(_ reference: String) -> String {
        guard let url, !EntityURLWriter.isAbsolute(reference), !reference.isEmpty else { return reference }
        let (origin, path) = Self.split(url)
        if reference.hasPrefix("/") { return origin + reference }
        let directory = path.prefix { $0 != "?" && $0 != "#" }
        guard let slash = directory.lastIndex(of: "/") else { return origin + "/" + reference }
        return origin + directory[...slash] + reference
    }

    /// Splits an absolute URL before its path.
    private static func split(_ url: String) -> (origin: String, path: String) {
        var slashes = 0
        for index in url.indices where url[index] == "/" {
            slashes += 1
            if slashes == 3 { return (String(url[..<index]), String(url[index...])) }
        }
        return (url, "")
    }
}
