public import EDM

extension EntityDataModel {
    /// Returns a URL relative to the service root with its entity set named as the service wants it: apps may leave out the
    /// container of a set that is not in the default one, the service does not understand that (MS-ODATA 2.2.3.1).
    public func addressed(_ url: String) -> String {
        let start = url.hasPrefix("/") ? url.index(after: url.startIndex) : url.startIndex
        let name = url[start...].prefix { !"(/?#".contains($0) }
        guard version.isLegacy, let set = findEntitySet(String(name)), set.segment != set.name else { return url }
        return url[..<start] + set.segment + url[name.endIndex...]
    }
}
