#pragma once
#include <libxml/xmlversion.h>
/* Where libxml2 was built with ICU, its headers pull in ICU's, whose types clash with those of the ICU that comes with
   Foundation as soon as one file imports both. Only a struct behind a pointer that is never followed depends on it. */
#undef LIBXML_ICU_ENABLED
#include <libxml/parser.h>
#include <libxml/SAX2.h>
#include <libxml/xmlerror.h>
