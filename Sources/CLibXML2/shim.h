#pragma once
#if !defined(TIDELOG_DECLARE_LIBXML2) && __has_include(<libxml/parser.h>)
#include <libxml/xmlversion.h>
/* If libxml2 was built with ICU, its headers include those of ICU, whose types conflict with those of Foundation's ICU if
   a file imports both. Only a struct that is never accessed depends on it. */
#undef LIBXML_ICU_ENABLED
#include <libxml/parser.h>
#include <libxml/SAX2.h>
#include <libxml/xmlerror.h>
#elif defined(TIDELOG_DECLARE_LIBXML2) || defined(__APPLE__)
#include "declarations.h"
#else
#error "The headers of libxml2 are missing: install libxml2-dev."
#endif
