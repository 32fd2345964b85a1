import type { Block } from '../protocol/messages.ts'
import { firstPage, likeness, several, severalIn, unlike, unseen, type Likeness } from './lookAlikes.ts'
import { foundId, foundTag, type Markers } from './markers.ts'
import { afterSign, nameMeans, numberMeans, readOn, type Place } from './references.ts'

/** How far a look-alike has got that is not whole yet: another block may complete it. */
export interface Unfinished {
  readonly state: number
  readonly reference: Place | undefined
  readonly isReferenceRead: boolean
}

/** Makes what looks like the runtime's own hand harmless. Rendered text only: what is stored stays as it was. Linear in the text. */
export const neutralise = (text: string, markers: Markers): string => new Scan(markers).text(text)

/**
 * The same for the blocks of a message, which an adapter may join; `before` is how a message ended to which this one is joined.
 * The same array comes back when nothing in it is changed.
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
/** What takes the place of a sign that a look-alike cannot do without: like neither of them. */
const opening = '('.charCodeAt(0)
const closing = ')'.charCodeAt(0)

/** Reads texts that are shown one after the other. */
class Scan {
  readonly #markers: Markers
  #state: number
  /** Of a character reference under way. */
  #reference: Place | undefined
  /** A reference was read but for its `;`. */
  #isReferenceRead: boolean
  /** Where in this text the reference begins, and the sign that opened the look-alike; −1: in a text before. */
  #referenceAt = -1
  #openAt = -1
  /** The text as it becomes, once a look-alike is found in it, and what it then begins with. */
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
    // What joins two texts may be white space.
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
    // A request with the text before may have been sent: that stays as it was.
    if (this.#openAt >= 0) this.#replace(opening, text, this.#openAt)
    else if (what === foundTag) this.#prefix = '('
    if (what === foundId) this.#replace(closing, text, at)
  }

  #replace(by: number, text: string, at: number): void {
    const units = (this.#units ??= unitsOf(text))
    units[at] = by
    if (text.codePointAt(at)! > 0xffff) units[at + 1] = by
  }

  /** `false`: the reference is over, or was none, and this is no part of it. */
  #takeInReference(reference: Place, like: Likeness, text: string, at: number): boolean {
    if (like === space || (this.#isReferenceRead && like === semicolon)) {
      // Of `&amp;` the sign is read, and then its `;`.
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

  /** What a reference that ends here stands for is read in its place. */
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

/** Arguments that a call may safely have. */
const chunk = 8_192

function textOf(units: Uint16Array): string {
  let text = ''
  for (let at = 0; at < units.length; at += chunk) {
    text += Reflect.apply(String.fromCharCode, null, units.subarray(at, at + chunk)) as string
  }
  return text
}
