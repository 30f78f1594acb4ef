package import SyncCore

/// The readLink and the editLink of an entity, and the addresses of its streams. Most links are never read, so a link of
/// the plain form is only written when it is.
package struct SnapshotLinks: Sendable {
    /// The form of both links with ``key``, or their texts; nil for no links.
    private let source: LinkSource?
    private let key: Int64

    /// A link form or texts. One reference for all of them, because snapshots are copied often.
    final class LinkSource: Sendable {
        /// The form of both links, or nil if they are texts.
        fileprivate let form: PlainLinkForm?
        fileprivate let read: String?
        fileprivate let edit: String?
        fileprivate let streams: [StreamLinks]

        fileprivate init(read: String?, edit: String?, streams: [StreamLinks]) {
            form = nil
            self.read = read
            self.edit = edit
            self.streams = streams
        }

        init(_ form: PlainLinkForm) {
            self.form = form
            (read, edit, streams) = (nil, nil, [])
        }
    }

    /// Creates links of a form, with this key.
    init(_ source: LinkSource, _ key: Int64) { (self.source, self.key) = (source, key) }

    private init(read: String?, edit: String?, streams: [StreamLinks]) {
        let isNone = read == nil && edit == nil && streams.isEmpty
        source = isNone ? nil : LinkSource(read: read, edit: edit, streams: streams)
        key = 0
    }

    /// Returns links that are texts.
    package static func texts(read: String?, edit: String?) -> SnapshotLinks {
        SnapshotLinks(read: read, edit: edit, streams: [])
    }

    /// Returns links that both have the plain form, with this key.
    package static func plain(_ form: PlainLinkForm, _ key: Int64) -> SnapshotLinks {
        SnapshotLinks(LinkSource(form), key)
    }

    /// The readLink, or nil if there is none. Setting it stores both links as texts.
    package var read: String? {
        get { source.flatMap { $0.form?.link(key) ?? $0.read } }
        set { self = SnapshotLinks(read: newValue, edit: edit, streams: streams) }
    }

    /// The editLink, or nil if there is none. Setting it stores both links as texts.
    package var edit: String? {
        get { source.flatMap { $0.form?.link(key) ?? $0.edit } }
        set { self = SnapshotLinks(read: read, edit: newValue, streams: streams) }
    }

    /// The addresses of the entity's streams, for an entity that was read from a service. Setting them stores both links
    /// as texts.
    package var streams: [StreamLinks] {
        get { source?.streams ?? [] }
        set { self = SnapshotLinks(read: read, edit: edit, streams: newValue) }
    }

    /// Whether the entity has a readLink.
    package var hasRead: Bool { source.map { $0.form != nil || $0.read != nil } ?? false }
}

extension SnapshotLinks: Hashable {
    package static func == (a: SnapshotLinks, b: SnapshotLinks) -> Bool {
        a.read == b.read && a.edit == b.edit && a.streams == b.streams
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(read) }
}
