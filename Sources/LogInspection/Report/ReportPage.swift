import ODataQuery

/// The page: a single HTML file that needs no other file and no network.
enum ReportPage {
    private static let tabs = [
        ("overview", "Overview"), ("timeline", "Timeline"), ("operations", "Operations"), ("entities", "Entities"),
        ("batches", "Batches"), ("conflicts", "Conflicts"), ("errors", "Errors"), ("size", "Size"),
    ]

    /// Returns the HTML.
    ///
    /// - Parameter data: The compressed data for the script.
    static func html(title: String, subtitle: String, data: [UInt8]) -> String {
        let (title, subtitle) = (escaped(title), escaped(subtitle))
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
            <title>\(title)</title>
            <style>
            \(ReportAssets.style)
            </style>
            </head>
            <body>
            <header>
            <div class="titles"><h1>\(title)</h1><div class="where">\(subtitle)</div></div>
            <input id="search" type="search" placeholder="Search everything ( / )" aria-label="Search everything">
            </header>
            <nav role="tablist" aria-label="Parts of the report">
            \(tabs.map(tab).joined(separator: "\n"))
            </nav>
            <p id="busy" class="empty" role="status">Unpacking …</p>
            <noscript><p class="empty">The page requires JavaScript. It sends no requests.</p></noscript>
            <div class="stage" id="stage" hidden>
            <main>
            \(tabs.map(panel).joined(separator: "\n"))
            </main>
            <aside id="detail" hidden aria-label="Details" aria-live="polite"></aside>
            </div>
            <script id="data" type="text/plain">\(Base64.encode(data, .standard))</script>
            <script>
            \(ReportAssets.script)
            </script>
            </body>
            </html>

            """
    }

    private static func tab(_ name: String, _ title: String) -> String {
        #"<button role="tab" id="tab-\#(name)" aria-controls="panel-\#(name)" aria-selected="false" tabindex="-1">\#(title)</button>"#
    }

    private static func panel(_ name: String, _ title: String) -> String {
        let content =
            switch name {
            case "timeline":
                """
                <div class="bar"><button id="zoom-in">Zoom in</button><button id="zoom-out">Zoom out</button>\
                <button id="zoom-all">All</button><button id="by-time" aria-pressed="true">By time</button>\
                <button id="by-number" aria-pressed="false">By number</button></div>
                <div><canvas id="canvas" tabindex="0" role="img" aria-label="Records over time, a lane for each set; \
                arrow keys move, plus and minus zoom, Home shows all"></canvas></div>
                <p class="hint">Wheel or pinch to zoom, drag to move, click on a mark to open it. A mark has the color of the \
                worst state of its records; a taller mark stands for more records.</p>
                """
            case "operations":
                """
                <div class="bar"><select id="kind" aria-label="Kind of record"></select><select id="fate" aria-label="State">\
                </select><select id="set" aria-label="Entity set"></select><span class="found" id="found-operations" \
                role="status"></span></div>
                <div id="list-operations"></div>
                """
            case "entities", "batches":
                """
                <div class="bar"><span class="found" id="found-\(name)" role="status"></span></div>
                <div id="list-\(name)"></div>
                """
            default: ""
            }
        let fills = ["operations", "entities", "batches"].contains(name) ? #" class="fills""# : ""
        return
            #"<section id="panel-\#(name)" role="tabpanel" aria-labelledby="tab-\#(name)"\#(fills) hidden>\#(content)</section>"#
    }

    /// Escapes text for markup. Direction marks become visible.
    static func escaped(_ text: String) -> String {
        RecordSummary.oneLine(text, limit: 300).replacing("&", with: "&amp;").replacing("<", with: "&lt;")
            .replacing(">", with: "&gt;").replacing("\"", with: "&quot;").replacing("'", with: "&#39;")
    }
}
