import EDM
import Operations

/// The content of one record, or of several if it is too large.
struct PagePart {
    var images: [EntityImage] = []
    /// The images of each entity. Its expanded entities have to be in the same record, because its links need both ends.
    var starts: [EntityStart] = []
    var page = DownloadPage(query: "")
    /// The entities of the removals and links, which are applied last.
    var gone: Set<EntityID> = []
    var linked: Set<EntityID> = []

    /// An entity of the part.
    struct EntityStart {
        /// The index of its first image.
        var image: Int
        /// An upper bound of the encoded size of its images, since encoding a page only to determine its size would take
        /// half the time of logging it.
        var sizeBound: Int
    }

    /// Returns an upper bound of the encoded size of the images from `start` on, and whether one of them has links.
    func extent(from start: Int) -> (size: Int, hasLinks: Bool) {
        // A span, because a subscript of an array copies the image.
        let slice = images[start...]
        let span = slice.span
        var (size, hasLinks) = (0, false)
        for index in span.indices {
            size += span[index].encodedSizeBound
            if !span[index].links.isEmpty { hasLinks = true }
        }
        return (size, hasLinks)
    }

    /// Returns the ends of all records but the last, so that each is at most about as large as the limit.
    func ends(_ byteLimit: Int) -> [Int] {
        var ends: [Int] = []
        var size = 0
        for start in starts {
            if size > 0, size + start.sizeBound > byteLimit {
                ends.append(start.image)
                size = 0
            }
            size += start.sizeBound
        }
        return ends
    }
}
