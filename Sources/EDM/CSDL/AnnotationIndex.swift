/// The annotations of a document by target: those within an element, and those in `Annotations` blocks that name it
/// as their target.
struct AnnotationIndex {
    private let reader: AnnotationReader
    private var byTarget: [String: [Annotation]] = [:]
    /// The blocks of each schema, in order.
    private(set) var blocks: [[AnnotationsBlock]] = []

    init(index: SchemaIndex) throws(CSDLError) {
        reader = AnnotationReader(index: index)
        let targets = AnnotationTargetReader(index: index)
        for source in index.sources {
            var blocks: [AnnotationsBlock] = []
            for element in source.element.children("Annotations") {
                let target = try index.log.salvage(element) { () throws(CSDLError) in try targets.target(of: element) }
                guard let target else { continue }
                var annotations: [Annotation] = []
                for child in element.children where child.isModel("Annotation") || child.isModel("ValueAnnotation") {
                    let annotation = try index.log.salvage(child) { () throws(CSDLError) in
                        try reader.annotation(child, qualifier: element["Qualifier"])
                    }
                    if let annotation { annotations.append(annotation) }
                }
                let block = AnnotationsBlock(
                    target: target, qualifier: element["Qualifier"], annotations: annotations)
                blocks.append(block)
                byTarget[target, default: []] += annotations
            }
            self.blocks.append(blocks)
        }
    }

    /// Returns the annotations of the element with the given target path.
    func annotations(of element: MarkupElement, _ target: String) throws(CSDLError) -> [Annotation] {
        let inner = try reader.annotations(of: element)
        guard let outer = byTarget[target] else { return inner }
        return inner.isEmpty ? outer : inner + outer
    }

    /// Returns the annotations of blocks with exactly this target.
    func annotations(about target: String) -> [Annotation] { byTarget[target] ?? [] }

    /// Returns the annotations of an element that cannot be the target of a block.
    func annotations(of element: MarkupElement) throws(CSDLError) -> [Annotation] {
        try reader.annotations(of: element)
    }
}
