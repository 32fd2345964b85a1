import { z } from 'zod'
import { onlyFields } from '../../../src/protocol/checks/onlyFields.ts'
import { checkedBy } from '../../../src/protocol/errors.ts'
import { fileText } from '../../../src/protocol/text/fileText.ts'
import { lazily } from '../../../src/protocol/lazily.ts'
import type { FileBlock } from '../../../src/protocol/messages.ts'
import { toBase64 } from '../../../src/protocol/text/toBase64.ts'
import type { Redactor as RedactorPort } from '../../../src/protocol/ports/redactor.ts'
import { knownKeys, literally, matching, type Finder } from './knownKeys.ts'
import { lastWords, notTooLong, openKey, overlap } from './openEnds.ts'
import { RedactedStream } from './redactedStream.ts'
import { redactionMark } from '../../../src/log/redaction/blankSecrets.ts'
import { viewsOf, withoutOpenEscape } from './undoEscapes.ts'

/** Secrets to keep out of logs, events and requests. */
export interface RedactOptions {
  /** Secrets by name, of at least 6 characters: each becomes `[redacted:NAME]`. */
  readonly secrets?: { readonly [name: string]: string }
  /** Text that matches becomes `[redacted]`. */
  readonly patterns?: readonly RegExp[]
  /** True to recognise keys of well-known issuers by their shape; default `true`. */
  readonly knownKeys?: boolean
}

/** Maximum number of secrets with one name that are kept while they are renewed. Each may have several forms. */
const mostRenewed = 256

/** Minimum length of a secret. Shorter values occur in too many texts. */
const leastSecret = 6

const redactOptionsSchema = lazily(() =>
  onlyFields({
    secrets: z.record(
      z.string().regex(/^[\w.-]{1,64}$/),
      z.string().min(leastSecret, `a secret needs at least ${leastSecret} characters`),
    ),
    patterns: z.array(
      z
        .instanceof(RegExp)
        .refine((pattern) => !new RegExp(pattern).test(''), 'a pattern must not match the empty text'),
    ),
    knownKeys: z.boolean(),
  }).partial(),
)

/** Fields that hold arbitrary data with any names. */
const foreign: ReadonlySet<string> = new Set([
  'initial',
  'input',
  'inputSchema',
  'inputExamples',
  'patch',
  'progress',
  'provider',
  'providerOptions',
  'settings',
  'spec',
  'value',
])

/** Fields that hold ids and names used by the runtime, and signatures. They stay unchanged. */
const structural: ReadonlySet<string> = new Set([
  'agentId',
  'callId',
  'definition',
  'id',
  'key',
  'runId',
  'machine',
  'mimeType',
  'model',
  'parentId',
  'path',
  'queue',
  'requestId',
  'resumedFrom',
  'role',
  'signature',
  'type',
])

interface Rule {
  readonly find: Finder
  readonly mark: string
}

/** A secret in a text. */
interface Found {
  start: number
  end: number
  /** Index of the rule that found it. The first rule determines the name. */
  rule: number
}

/** A part of a text. */
export interface TextPart {
  readonly from: number
  readonly to: number
}

/** The redactor of a runtime, and of code that has texts of its own. */
export class Redactor implements RedactorPort {
  readonly #shapes: readonly Finder[]
  #rules!: readonly Rule[]
  #named!: readonly Rule[]
  #values!: readonly (readonly [name: string, secret: string])[]
  #secrets!: readonly string[]
  /** The renewed secrets of `#values` by name, oldest first. */
  readonly #renewed = new Map<string, readonly string[]>()
  readonly #hasPatterns: boolean
  readonly #knowsKeys: boolean

  /** @throws RuntimeError `INVALID_OPTION` */
  constructor(options: RedactOptions) {
    checkedBy(redactOptionsSchema(), options, 'redact')
    const { secrets = {}, patterns = [], knownKeys: areKnown = true } = options
    this.#shapes = [...patterns.map((pattern) => matching(pattern)), ...(areKnown ? [knownKeys] : [])]
    this.#hasPatterns = patterns.length > 0
    this.#knowsKeys = areKnown
    this.#know(Object.entries(secrets))
  }

  get secrets(): readonly string[] {
    return this.#secrets
  }

  add(name: string, secrets: readonly string[]): void {
    // What is added stays, whoever renewed it before.
    for (const [of, renewed] of this.#renewed)
      this.#renewed.set(
        of,
        renewed.filter((secret) => !secrets.includes(secret)),
      )
    const isNew = (secret: string): boolean =>
      secret.length >= leastSecret && !this.#values.some(([, known]) => known === secret)
    const added = [...new Set(secrets)].filter(isNew).map((secret) => [name, secret] as const)
    if (added.length > 0) this.#know([...this.#values, ...added])
  }

  /**
   * Like `add`, for secrets that are replaced again and again, such as a token for each request. Only the newest of each name are blanked, because
   * keeping all would slow down every text.
   */
  renew(name: string, secrets: readonly string[]): void {
    const known = new Set(this.#values.map(([, secret]) => secret))
    const fresh = [...new Set(secrets)].filter((secret) => secret.length >= leastSecret && !known.has(secret))
    if (fresh.length === 0) return
    const all = [...(this.#renewed.get(name) ?? []), ...fresh]
    const gone = new Set(all.slice(0, -mostRenewed))
    this.#renewed.set(name, all.slice(-mostRenewed))
    const kept = this.#values.filter(([, secret]) => !gone.has(secret))
    this.#know([...kept, ...fresh.filter((secret) => !gone.has(secret)).map((secret) => [name, secret] as const)])
  }

  #know(values: readonly (readonly [name: string, secret: string])[]): void {
    // The longest first, because one secret may be the beginning of another.
    this.#values = values.toSorted(([, a], [, b]) => b.length - a.length)
    const named = this.#values.flatMap(([name, secret]) =>
      formsOf(secret).map((form) => ({ form, mark: `[redacted:${name}]` })),
    )
    this.#secrets = named.map(({ form }) => form)
    this.#named = named.map(({ form, mark }) => ({ find: literally(form), mark }))
    this.#rules = [...this.#named, ...this.#shapes.map((find) => ({ find, mark: redactionMark }))]
  }

  text(text: string, { from, to }: TextPart = { from: 0, to: text.length }): string {
    return without(text, this.#find(text, this.#rules), this.#rules, { from, to })
  }

  stream(): RedactedStream {
    return new RedactedStream(this)
  }

  cutOff(text: string): string {
    const end = this.#unfinished(text, leastCutOff)
    const part = this.text(text, { from: 0, to: end })
    return end === text.length ? part : `${part}${redactionMark}`
  }

  value<T>(value: T): T {
    return this.#clean(value, false) as T
  }

  /** Returns the length of an unfinished text that can be shown, because no secret that may still be completed begins before it. */
  settled(text: string): number {
    let end = this.#unfinished(text, 1)
    for (const view of viewsOf(withoutOpenEscape(text))) {
      if (this.#knowsKeys) end = Math.min(end, notTooLong(text, view.at(openKey(view.text))))
      if (this.#hasPatterns) end = Math.min(end, notTooLong(text, view.at(lastWords(view.text))))
    }
    for (const { start, end: stop } of this.#find(text, this.#rules))
      if (start < end && (stop > end || stop === text.length)) end = start
    return end
  }

  /** Returns the position at which a beginning of a named secret, of at least `least` characters, starts at the end of a text; else the end. */
  #unfinished(text: string, least: number): number {
    const closed = withoutOpenEscape(text)
    let end = least > 1 ? text.length : closed.length
    for (const view of viewsOf(closed)) {
      const known = withoutOpenEscape(view.text)
      for (const secret of this.#secrets) {
        const size = overlap(known, secret)
        if (size >= least) end = Math.min(end, view.at(known.length - size))
      }
    }
    return end
  }

  #find(text: string, rules: readonly Rule[]): readonly Found[] {
    const found: Found[] = []
    for (const view of viewsOf(text))
      for (const [rule, { find }] of rules.entries())
        for (const [start, end] of find(view.text)) found.push({ start: view.at(start), end: view.at(end), rule })
    return found.length < 2 ? found : merged(found)
  }

  #clean(value: unknown, isForeign: boolean): unknown {
    if (typeof value === 'string') return this.text(value)
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return this.#cleanItems(value, isForeign)
    if (!isForeign && isFileBlock(value)) return this.#cleanFile(value)
    return this.#cleanObject(value, isForeign)
  }

  /** Redacts a text file, which may hold secrets although its base64 does not show them. */
  #cleanFile(file: FileBlock): unknown {
    const written = fileText(file)
    const clean = written === undefined ? written : this.text(written)
    const data = clean === written ? file.data : toBase64(new TextEncoder().encode(clean))
    return this.#cleanObject(data === file.data ? file : { ...file, data }, false)
  }

  #cleanObject(value: object, isForeign: boolean): object {
    let isChanged = false
    const clean: { [key: string]: unknown } = {}
    for (const [key, inner] of Object.entries(value)) {
      const name = isForeign ? unused(this.text(key), clean) : key
      const kept = this.#cleanField(key, inner, isForeign)
      if (kept !== inner || name !== key) isChanged = true
      if (name === '__proto__') setProto(clean, kept)
      else clean[name] = kept
    }
    if (!isChanged) return value
    // A provider's signature no longer matches the text.
    if (!isForeign && clean['type'] === 'thinking') delete clean['signature']
    return clean
  }

  #cleanField(key: string, value: unknown, isForeign: boolean): unknown {
    if (isForeign) return this.#clean(value, true)
    if (structural.has(key) && typeof value !== 'object') return value
    // The bytes of an image are not text: anything that looks like a key is a coincidence.
    if (key === 'data' && typeof value === 'string') return without(value, this.#find(value, this.#named), this.#named)
    return this.#clean(value, foreign.has(key) || key === 'data')
  }

  #cleanItems(items: readonly unknown[], isForeign: boolean): readonly unknown[] {
    const texts = items.filter(isTextBlock)
    const whole = texts.length < 2 ? '' : texts.map(({ text }) => text).join('')
    const found = whole === '' ? [] : this.#find(whole, this.#rules)
    let from = 0
    const clean = items.map((item) => {
      if (found.length === 0 || !isTextBlock(item)) return this.#clean(item, isForeign)
      const to = from + item.text.length
      const text = without(whole, found, this.#rules, { from, to })
      from = to
      return this.#clean(text === item.text ? item : { ...item, text }, isForeign)
    })
    return clean.every((item, index) => item === items[index]) ? items : clean
  }
}

/** Minimum length of a secret's beginning that needs a mark. Shorter ones reveal too little. */
const leastCutOff = 4

/** Returns the forms of a secret: unchanged, trimmed, with Windows line ends, and encoded for an address. */
const formsOf = (secret: string): string[] => {
  const trimmed = secret.trim()
  const core = trimmed.length < 6 ? secret : trimmed
  return [...new Set([secret, core, core.replaceAll(/\r?\n/g, '\r\n'), core.replaceAll('\r\n', '\n'), encoded(core)])]
}

/** Encodes a text for a URL, which cannot contain an unpaired surrogate. */
const encoded = (text: string): string => encodeURIComponent(text.toWellFormed())

const isFileBlock = (value: object): value is FileBlock =>
  'type' in value &&
  value.type === 'file' &&
  'mimeType' in value &&
  typeof value.mimeType === 'string' &&
  'data' in value &&
  typeof value.data === 'string'

const isTextBlock = (item: unknown): item is { readonly type: 'text'; readonly text: string } =>
  typeof item === 'object' &&
  item !== null &&
  'type' in item &&
  item.type === 'text' &&
  'text' in item &&
  typeof item.text === 'string'

/** Merges overlapping ranges, named by the first rule. */
function merged(found: readonly Found[]): readonly Found[] {
  const all: Found[] = []
  for (const next of found.toSorted((a, b) => a.start - b.start)) {
    const last = all.at(-1)
    if (last === undefined || next.start >= last.end) all.push({ ...next })
    else {
      last.end = Math.max(last.end, next.end)
      last.rule = Math.min(last.rule, next.rule)
    }
  }
  return all
}

/** Returns the part of a text with a mark in place of each secret that overlaps it. */
function without(
  text: string,
  found: readonly Found[],
  rules: readonly Rule[],
  { from, to }: TextPart = { from: 0, to: text.length },
): string {
  const pieces: string[] = []
  let done = from
  for (const { start, end, rule } of found) {
    if (end <= from || start >= to) continue
    pieces.push(text.slice(done, Math.max(done, start)), rules[rule]!.mark)
    done = end
  }
  if (pieces.length === 0) return from === 0 && to === text.length ? text : text.slice(from, to)
  return pieces.join('') + text.slice(done, Math.max(done, to))
}

/** Defines the key `__proto__`, since assigning it would set the prototype. */
const setProto = (object: object, value: unknown): void =>
  void Object.defineProperty(object, '__proto__', { value, enumerable: true, writable: true, configurable: true })

/** Returns a key that the object does not have yet. */
function unused(key: string, object: { readonly [key: string]: unknown }): string {
  let name = key
  for (let n = 2; Object.hasOwn(object, name); n++) name = `${key}~${n}`
  return name
}
