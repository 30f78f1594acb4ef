// Users of this module expect JSON as part of the protocol. The scanner is in EDM, which reads JSON metadata with it.
@_exported public import struct EDM.JSONError
@_exported public import struct EDM.JSONObject
@_exported public import struct EDM.JSONScanner
@_exported public import enum EDM.JSONValue
@_exported public import struct EDM.JSONWriter
