import type { Block } from '../../protocol/messages.ts'
import {
  firstPage,
  likeness,
  several,
  severalIn,
  unlike,
  unseen,
  type Likeness,
} from '../../protocol/text/lookAlikes.ts'
import { foundId, foundTag, type Markers } from './markers.ts'
import { afterSign, nameMeans, numberMeans, readOn, type Place } from './references.ts'

/** State of an incomplete look-alike that another block may complete. */
export interface Unfinished {
  readonly state: number
  readonly reference: Place | undefined
  readonly isReferenceRead: boolean
}

/** Neutralises look-alikes of the runtime's markers. For rendered text only; stored text is unchanged. Linear time. */
export const neutralise = (text: string, markers: Markers): string => new Scan(markers).text(text)

/**
 * Does the same for the blocks of a message, which an adapter may join. `before` is the end of a message that this one is merged into. Returns the
 * same array if nothing changes.
 */
export function neutraliseBlocks(
  content: readonly Block[],
  markers: Markers,
  before?: Unfinished,
): { readonly content: readonly Block[]; readonly unfinished: Unfinished | undefined } {
  if (before === undefined && !content.some((block) => block.type === 'text' && markers.opener.test(block.text)))
    return { content, unfinished: undefined }
  const scan = new Scan(markers, before)
  let isChanged = false
  const harmless = content.map((block): Block => {
    if (block.type !== 'text') return block
    const text = scan.text(block.text)
    if (text === block.text) return block
    isChanged = true
    return { ...block, text }
  })
  return { content: isChanged ? harmless : content, unfinished: scan.unfinished }
}

const less = '<'.charCodeAt(0)
const bracket = '['.charCodeAt(0)
const and = '&'.charCodeAt(0)
const space = ' '.charCodeAt(0)
const semicolon = ';'.charCodeAt(0)
/** Replacements for the opening and closing signs of a look-alike; they resemble neither. */
const opening = '('.charCodeAt(0)
const closing = ')'.charCodeAt(0)

/** Scans texts that are shown one after the other. */
class Scan {
  readonly #markers: Markers
  #state: number
  /** Progress in reading a character reference. */
  #reference: Place | undefined
  /** A reference was read except for its `;`. */
  #isReferenceRead: boolean
  /** Index in this text of the reference's start, and of the sign that opened the look-alike; −1: in an earlier text. */
  #referenceAt = -1
  #openAt = -1
  /** The changed text, once a look-alike was found in it, and a prefix for it. */
  #units: Uint16Array | undefined
  #prefix = ''

  constructor(markers: Markers, before?: Unfinished) {
    this.#markers = markers
    this.#state = before?.state ?? 0
    this.#reference = before?.reference
    this.#isReferenceRead = before?.isReferenceRead ?? false
  }

  get unfinished(): Unfinished | undefined {
    if (!this.#isReading) return undefined
    return { state: this.#state, reference: this.#reference, isReferenceRead: this.#isReferenceRead }
  }

  get #isReading(): boolean {
    return this.#state !== 0 || this.#reference !== undefined
  }

  text(text: string): string {
    this.#referenceAt = this.#openAt = -1
    this.#units = undefined
    this.#prefix = ''
    // The texts may be joined by white space.
    if (this.#isReading) this.#take(space, text, 0)
    else if (!this.#markers.opener.test(text)) return text
    const ascii = firstPage()
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at)
      const code = unit < 0xd800 ? unit : text.codePointAt(at)!
      const like = code < 0x80 ? ascii[code]! : likeness(code)
      if (like === several) for (const part of severalIn(code)) this.#take(part, text, at)
      else if (this.#state !== 0 || this.#reference !== undefined || like === less || like === bracket || like === and)
        this.#take(like, text, at)
      if (code > 0xffff) at += 1
    }
    return this.#prefix + (this.#units === undefined ? text : textOf(this.#units))
  }

  #take(like: Likeness, text: string, at: number): void {
    if (like === unseen) return
    if (this.#reference !== undefined && this.#takeInReference(this.#reference, like, text, at)) return
    if (this.#isReferenceRead && like !== space) {
      this.#isReferenceRead = false
      if (like === semicolon) return
    }
    if (like === and) {
      this.#reference = afterSign
      this.#referenceAt = at
      return
    }
    const next = this.#markers.next(this.#state, like)
    if (like === less || like === bracket) this.#openAt = at
    this.#state = next < foundTag ? next : 0
    if (next >= foundTag) this.#found(next, text, at)
  }

  #found(what: number, text: string, at: number): void {
    // The earlier text may already have been sent, so it must not change.
    if (this.#openAt >= 0) this.#replace(opening, text, this.#openAt)
    else if (what === foundTag) this.#prefix = '('
    if (what === foundId) this.#replace(closing, text, at)
  }

  #replace(by: number, text: string, at: number): void {
    const units = (this.#units ??= unitsOf(text))
    units[at] = by
    if (text.codePointAt(at)! > 0xffff) units[at + 1] = by
  }

  /** `false`: the reference ended before this character, or was not one. */
  #takeInReference(reference: Place, like: Likeness, text: string, at: number): boolean {
    if (like === space || (this.#isReferenceRead && like === semicolon)) {
      // For `&amp;`, after the sign its `;` is still to come.
      this.#isReferenceRead &&= like === space
      return true
    }
    this.#isReferenceRead = false
    const place = readOn(reference, like)
    this.#reference = place
    if (place !== undefined) {
      const meant = nameMeans(place)
      if (meant !== undefined) this.#meant(meant, text, at)
      return true
    }
    const meant = numberMeans(reference)
    if (meant === undefined) this.#take(unlike, text, at)
    else this.#meant(meant, text, at)
    return false
  }

  /** Continues with the character that a completed reference stands for. */
  #meant(code: number, text: string, at: number): void {
    this.#reference = undefined
    const begin = this.#referenceAt < 0 ? at : this.#referenceAt
    const like = likeness(code)
    for (const part of like === several ? severalIn(code) : [like]) this.#take(part, text, begin)
    this.#isReferenceRead = true
  }
}

function unitsOf(text: string): Uint16Array {
  const units = new Uint16Array(text.length)
  for (let at = 0; at < text.length; at++) units[at] = text.charCodeAt(at)
  return units
}

/** Number of arguments per call, well below the engines' limits. */
const chunk = 8_192

function textOf(units: Uint16Array): string {
  let text = ''
  for (let at = 0; at < units.length; at += chunk) {
    text += Reflect.apply(String.fromCharCode, null, units.subarray(at, at + chunk)) as string
  }
  return text
}
