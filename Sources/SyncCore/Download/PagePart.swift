import EDM
import Operations

/// The content of one record, or of several if it is too large.
struct PagePart {
    var images: [EntityImage] = []
    /// The index of each entity's first image. Its expanded entities have to be in the same record, because its
    /// links need both ends.
    var starts: [Int] = []
    var page = DownloadPage(query: "")
    /// The entities of the removals and links, which are applied last.
    var gone: Set<EntityID> = []
    var linked: Set<EntityID> = []

    /// Returns the ends of all records but the last, so that each is at most about as large as the limit.
    func ends(_ byteLimit: Int) -> [Int] {
        var ends: [Int] = []
        var size = 0
        for (index, start) in starts.enumerated() {
            let end = index + 1 < starts.count ? starts[index + 1] : images.count
            // An upper bound, since encoding a page only to determine its size would take half the time of logging
            // it.
            let bound = images[start..<end].reduce(0) { $0 + $1.encodedSizeBound }
            if size > 0, size + bound > byteLimit {
                ends.append(start)
                size = 0
            }
            size += bound
        }
        return ends
    }
}
