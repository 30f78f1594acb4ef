package import EDM

extension EntityDataModel {
    /// Returns a URL relative to the service root with the entity set name that the service requires.
    ///
    /// Apps may omit the container of a set outside of the default container; services require it (MS-ODATA 2.2.3.1).
    package func addressed(_ url: String) -> String {
        let start = url.hasPrefix("/") ? url.index(after: url.startIndex) : url.startIndex
        let name = url[start...].prefix { !"(/?#".contains($0) }
        guard version.isLegacy, let set = findEntitySet(String(name)), set.segment != set.name else { return url }
        return url[..<start] + set.segment + url[name.endIndex...]
    }
}
