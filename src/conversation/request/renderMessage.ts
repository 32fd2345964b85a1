import { isFields } from '../../protocol/checks/isObject.ts'
import type { Block, Message, ToolResultMessage, ProviderBlock } from '../../protocol/messages.ts'
import { isMedia } from '../../protocol/text/messageText.ts'
import type { RequestMessage } from '../../protocol/ports/model.ts'
import { asCalled } from '../../protocol/viaCallTool.ts'
import { sentMedia } from './sentMedia.ts'
import { TextHash } from '../../protocol/text/textHash.ts'
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

/** Returns a message in the form for providers; `undefined` if nothing in it would be accepted, so it is omitted. */
export function renderMessage(message: Message): RequestMessage | undefined {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: said(message.content) }
    case 'toolResult':
      if (isSentAsItIs(message)) return message
      return {
        role: 'toolResult',
        callId: soundCallId(message.callId),
        toolName: soundName(message.via ?? message.toolName),
        content: message.content.some(isSaid) ? said(message.content) : [{ type: 'text', text: '(no output)' }],
        isError: message.isError,
      }
    case 'assistant': {
      // The thinking of an interrupted reply has no signature yet, and providers reject it without one.
      const isCutOff = message.stopReason === 'aborted'
      const kept = isCutOff ? message.content.filter(({ type }) => type === 'text') : message.content
      if (kept.filter(isSaid).every((block) => block.type === 'thinking' || (block.type !== 'text' && isMedia(block))))
        return undefined
      const content = withoutLastThinking(said(kept))
      return { role: 'assistant', content: content.some(isOddCall) ? content.map(soundCall) : content }
    }
  }
}

const sentKeys = ['role', 'callId', 'toolName', 'content', 'isError']

/** Returns true if a result is sent unchanged: it has only the fields that are sent, in their order, with valid contents. */
function isSentAsItIs(message: ToolResultMessage): boolean {
  return (
    Object.keys(message).every((key, index) => key === sentKeys[index]) &&
    soundName(message.toolName) === message.toolName &&
    soundCallId(message.callId) === message.callId &&
    message.content.length > 0 &&
    said(message.content) === message.content
  )
}

/** Returns true for a block that is not blank. Providers refuse blank blocks. */
export function isSaid(block: Block): boolean {
  switch (block.type) {
    case 'text':
      return block.text.trim() !== ''
    case 'thinking':
      return block.text !== '' || block.signature !== undefined
    case 'provider':
      return block.kind !== 'source'
    default:
      return true
  }
}

/** Returns the content without blank blocks and media that providers refuse; the same array if there are none. */
function said(content: readonly Block[]): readonly Block[] {
  if (
    content.every((block) => isSaid(block) && (block.type === 'text' || !isMedia(block) || sentMedia(block) === block))
  )
    return content
  return content.filter(isSaid).map((block) => (isMedia(block) ? sentMedia(block) : block))
}

/** Removes trailing thinking, as in a reply that was cut off, because providers refuse it. Returns the same array if there is none. */
export function withoutLastThinking(content: readonly Block[]): readonly Block[] {
  const end = content.findLastIndex(({ type }) => type !== 'thinking') + 1
  return end === content.length ? content : content.slice(0, end)
}

/** Converts a tool name to one that every provider accepts. A model may have made up any name. */
export const soundName = (name: string): string =>
  /^[A-Za-z0-9_-]{1,64}$/.test(name) ? name : name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'unknown'

/** Converts a call id to one that every provider accepts. OpenAI accepts at most 64 characters. */
export const soundCallId = (id: string): string =>
  /^[A-Za-z0-9_-]{1,64}$/.test(id)
    ? id
    : `${id.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 40)}_${new TextHash().add(id).value.replace('.', '_')}`

const isOddCall = (block: Block): boolean =>
  block.type === 'toolCall' &&
  (block.via !== undefined ||
    !isFields(block.input) ||
    soundName(block.name) !== block.name ||
    soundCallId(block.callId) !== block.callId)

/** Returns a call as the model made it, without names that providers reject and arguments that are not a JSON object. */
function soundCall(block: Block): Block {
  if (block.type !== 'toolCall') return block
  const { name, input } = asCalled(block)
  return {
    type: 'toolCall',
    callId: soundCallId(block.callId),
    name: soundName(name),
    input: isFields(input) ? input : { malformed: input ?? null },
  }
}

/** Replacement for the content of a reply of which nothing else can be sent. */
const cutOff: Block = { type: 'text', text: '(this reply was cut off)' }

/**
 * Returns the provider's own calls that have no result, in a reply or in `next`, which continues it. Providers refuse a request
 * with such a call. A call that waits for one of the agent's calls, such as code that calls its tools, gets its result later.
 */
export function openProviderCalls(content: readonly Block[], next: readonly Block[] = []): ReadonlySet<Block> {
  const calls = content.filter((block) => block.type === 'provider' && block.kind === 'call')
  if (calls.length === 0) return noCalls
  const answered = new Set([...content, ...next].flatMap((block) => (isResult(block) ? [callOf(block)] : [])))
  const callers = content.flatMap((block) => (block.type === 'thinking' ? [block.signature ?? ''] : []))
  return new Set(
    calls.filter((block) => {
      const id = callOf(block as ProviderBlock)
      return id !== undefined && !answered.has(id) && !callers.some((data) => data.includes(`"${id}"`))
    }),
  )
}

const noCalls: ReadonlySet<Block> = new Set()

const isResult = (block: Block): block is ProviderBlock => block.type === 'provider' && block.kind === 'result'

/** Returns the id of a call in the form of the AI SDK, the only form that is read. */
function callOf({ data }: ProviderBlock): string | undefined {
  const id: unknown = typeof data === 'object' && data !== null ? Reflect.get(data, 'toolCallId') : undefined
  return typeof id === 'string' ? id : undefined
}

/** Returns a reply without the provider's calls that remain without a result because `next` follows; the same reply if it has none. */
export function closedReply(reply: RequestMessage, next: RequestMessage): RequestMessage {
  if (reply.role !== 'assistant') return reply
  const open = openProviderCalls(reply.content, next.role === 'assistant' ? next.content : [])
  if (open.size === 0) return reply
  const content = withoutLastThinking(reply.content.filter((block) => !open.has(block)))
  return { role: 'assistant', content: content.length === 0 ? [cutOff] : content }
}

/**
 * Returns the data without unpaired surrogates in its texts; the same object if there are none. A text that was cut in the middle of an emoji is
 * valid JSON here, but a provider refuses every request with it. Pure.
 */
export const wellFormed = <T>(value: T): T => (isSound(value) ? value : repaired(value))

const looked = new WeakMap<object, object>()

/** As `wellFormed`, for a value that never changes and is sent in many turns, such as an agent's tools. The result is cached. */
export function wellFormedOnce<T extends object>(value: T): T {
  const known = looked.get(value)
  if (known !== undefined) return known as T
  const sound = wellFormed(value)
  looked.set(value, sound)
  return sound
}

/** Returns true if no text in a value has an unpaired surrogate. Allocates nothing, since nearly all texts are valid. */
function isSound(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (Array.isArray(value)) return value.every(isSound)
  if (!isPlain(value)) return true
  for (const name in value) if (!name.isWellFormed() || !isSound(value[name])) return false
  return true
}

function repaired<T>(value: T): T {
  if (typeof value === 'string') return value.toWellFormed() as T
  if (Array.isArray(value)) return value.map(wellFormed) as T
  if (!isPlain(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name.toWellFormed(), wellFormed<unknown>(inner)]),
  ) as T
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** State of an incomplete look-alike that another block may complete. */
export interface Unfinished {
  readonly state: number
  readonly reference: Place | undefined
  readonly isReferenceRead: boolean
}

/** Neutralises look-alikes of the runtime's markers. For rendered text only; stored text is unchanged. Linear time. */
export const neutralise = (text: string, markers: Markers): string => new Scan(markers).text(text)

/**
 * As `neutralise`, for the blocks of a message, which an adapter may join. `before` is the end of a message that this
 * one is merged into. Returns the same array if nothing changes.
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
  /** True if a reference was read except for its `;`. */
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

  /** Reads one more character of a reference. Returns `false` if the reference ended before this character, or was not one. */
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
