package import SyncCore

/// The readLink and the editLink of an entity. Most are never read, so a link of the plain form is only written when it
/// is.
package struct SnapshotLinks: Sendable {
    /// The form of both links with ``key``, or nil if they are ``texts``.
    private let form: PlainLinkForm?
    private let key: Int64
    /// The links as texts; nil for no links.
    private let texts: LinkTexts?

    private final class LinkTexts: Sendable {
        let read: String?
        let edit: String?

        init(read: String?, edit: String?) {
            self.read = read
            self.edit = edit
        }
    }

    /// Returns links that are texts.
    package static func texts(read: String?, edit: String?) -> SnapshotLinks {
        SnapshotLinks(
            form: nil, key: 0, texts: read == nil && edit == nil ? nil : LinkTexts(read: read, edit: edit))
    }

    /// Returns links that both have the plain form, with this key.
    package static func plain(_ form: PlainLinkForm, _ key: Int64) -> SnapshotLinks {
        SnapshotLinks(form: form, key: key, texts: nil)
    }

    /// The readLink, or nil if there is none. Setting it stores both links as texts.
    package var read: String? {
        get { form.map { $0.link(key) } ?? texts?.read }
        set { self = .texts(read: newValue, edit: edit) }
    }

    /// The editLink, or nil if there is none. Setting it stores both links as texts.
    package var edit: String? {
        get { form.map { $0.link(key) } ?? texts?.edit }
        set { self = .texts(read: read, edit: newValue) }
    }

    /// Whether the entity has a readLink.
    package var hasRead: Bool { form != nil || texts?.read != nil }
}

extension SnapshotLinks: Hashable {
    package static func == (a: SnapshotLinks, b: SnapshotLinks) -> Bool { a.read == b.read && a.edit == b.edit }

    package func hash(into hasher: inout Hasher) { hasher.combine(read) }
}
