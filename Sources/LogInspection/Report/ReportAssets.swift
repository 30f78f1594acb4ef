/// The script and the style sheet of the page, embedded from the files in `Page`.
enum ReportAssets {
    /// Plain JavaScript in one scope.
    ///
    /// It never creates markup from text. Content of the log is set as `textContent`, with control characters and
    /// direction marks made visible.
    static var script: String {
        let parts = [
            PackageResources.data_js, PackageResources.lists_js, PackageResources.details_js,
            PackageResources.timeline_js, PackageResources.panels_js, PackageResources.start_js,
        ]
        return "(async () => {\n'use strict';\n"
            + parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
            + "})();\n"
    }

    static var style: String { String(decoding: PackageResources.style_css, as: UTF8.self) }
}
