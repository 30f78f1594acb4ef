extension Value {
    /// Returns the part of the value that conforms to the type: the whole value, a complex value without unknown
    /// properties, or `nil`.
    ///
    /// For values that a service returned under other metadata. Nothing is converted, because only the service
    /// defines the value under another type. Facets, nullability and enumeration members are not checked, because the
    /// service returned the value. A collection conforms as a whole or not at all. Cost: the size of the value.
    public func fitted(to type: TypeReference, in model: EntityDataModel) -> Value? {
        fitted(to: type, in: model, depth: 0)
    }

    fileprivate func fitted(to type: TypeReference, in model: EntityDataModel, depth: Int) -> Value? {
        guard depth < Self.depthLimit else { return nil }
        switch (self, type.kind) {
        case (.collection(let items), _) where type.isCollection:
            var fitting: [Value] = []
            for item in items {
                guard let item = item.fitted(to: type.item, in: model, depth: depth + 1) else { return nil }
                fitting.append(item)
            }
            return .collection(fitting)
        case (.complex(let value), .complex(let declared)) where !type.isCollection:
            return value.fitted(to: declared, in: model, depth: depth).map(Value.complex)
        case (.enumeration, .enumeration) where !type.isCollection: return self
        default: return mismatch(with: type, in: model) == nil ? self : nil
        }
    }
}

extension ComplexValue {
    fileprivate func fitted(to declared: String, in model: EntityDataModel, depth: Int) -> ComplexValue? {
        var fitting = self
        // If the value's own type was removed, the rest has the declared type.
        if let type, !model.isType(type, derivedFrom: declared) { fitting.type = nil }
        guard let type = model.findComplexType(fitting.type ?? declared) else { return nil }
        fitting.properties = properties.fitted(to: type, in: model, depth: depth + 1)
        return fitting
    }
}

extension PropertyValues {
    /// Returns the values that properties of the type can have; see ``Value/fitted(to:in:)``. Undeclared properties
    /// of an open type are kept.
    public func fitted(to type: StructuredType, in model: EntityDataModel) -> PropertyValues {
        fitted(to: type, in: model, depth: 0)
    }

    fileprivate func fitted(to type: StructuredType, in model: EntityDataModel, depth: Int) -> PropertyValues {
        var fitting = self
        for (name, value) in self {
            if let property = type.findProperty(name) {
                fitting[name] = property.isNavigation ? nil : value.fitted(to: property.type, in: model, depth: depth)
            } else if !type.isOpen(to: name) {
                fitting[name] = nil
            }
        }
        return fitting
    }
}
