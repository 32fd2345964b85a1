import { withoutReordering } from '../../../src/protocol/text/withoutReordering.ts'

// oxlint-disable-next-line no-control-regex -- XML allows none of these, whatever their spelling
const unfit = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\uFFFE\uFFFF]/g
const markup: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/**
 * Escapes a text for XML, in elements and attributes. Characters that XML cannot hold or that reorder a line are left out; lone halves of
 * characters become U+FFFD.
 */
export const escapeXml = (text: string): string =>
  withoutReordering(text.toWellFormed())
    .replace(unfit, '')
    .replace(/[&<>"']/g, (mark) => markup[mark]!)

/** Escapes a text for a Mermaid label, on one line. Characters that could be syntax or HTML become character codes. */
export const escapeMermaid = (text: string): string =>
  withoutReordering(text.toWellFormed())
    .replace(unfit, '')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[^\p{L}\p{N} .,()/+_=?!'–…·@[\]-]/gu, (mark) => `#${mark.codePointAt(0)!};`)
