import { z } from 'zod'
import { describeIssues, RuntimeError } from '../../protocol/errors.ts'
import { knownKeys, redactionMark } from './secretShapes.ts'

/** What is kept out of logs, events and requests. */
export interface RedactOptions {
  /** Secrets by name, of at least 6 characters: each becomes `[redacted:NAME]`. */
  readonly secrets?: { readonly [name: string]: string }
  /** What matches becomes `[redacted]`. */
  readonly patterns?: readonly RegExp[]
  /** Whether keys of well-known issuers are found by their shape; default `true`. */
  readonly knownKeys?: boolean
}

const redactOptionsSchema = z
  .strictObject({
    secrets: z.record(z.string().regex(/^[\w.-]{1,64}$/), z.string().min(6, 'a secret needs at least 6 characters')),
    patterns: z.array(
      z
        .instanceof(RegExp)
        .refine((pattern) => !new RegExp(pattern).test(''), 'a pattern must not match the empty text'),
    ),
    knownKeys: z.boolean(),
  })
  .partial()

/** Fields that hold what others made up, whatever its names. */
const foreign: ReadonlySet<string> = new Set(['input', 'inputSchema', 'progress', 'settings'])

/** Fields that hold ids and names the runtime goes by, seals, and binary data: they stay as they are. */
const structural: ReadonlySet<string> = new Set([
  'agentId',
  'callId',
  'data',
  'definition',
  'id',
  'key',
  'loopId',
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
  'toolName',
  'type',
])

interface Rule {
  readonly pattern: RegExp
  readonly mark: string
}

/** Takes secrets out of what an agent says, hears and does, before it is recorded. */
export class Redactor {
  readonly #rules: readonly Rule[]
  /** White space that one secret may span. */
  readonly words: number

  /** @throws RuntimeError `INVALID_OPTION` */
  constructor(options: RedactOptions) {
    const checked = redactOptionsSchema.safeParse(options)
    if (!checked.success) throw new RuntimeError('INVALID_OPTION', `redact: ${describeIssues(checked.error)}.`)
    const { secrets = {}, patterns = [], knownKeys: areKnown = true } = options
    const named = Object.entries(secrets)
      // The longest first: one secret may be the beginning of another.
      .toSorted(([, a], [, b]) => b.length - a.length)
      .flatMap(([name, secret]) =>
        formsOf(secret).map((form) => ({ pattern: literal(form), mark: `[redacted:${name}]` })),
      )
    const shapes = [...patterns.map(asGlobal), ...(areKnown ? knownKeys : [])]
    this.#rules = [...named, ...shapes.map((pattern) => ({ pattern, mark: redactionMark }))]
    this.words = 1 + Math.max(1, ...Object.values(secrets).map((secret) => secret.split(/\s+/).length - 1))
  }

  /** `text` without secrets; the same string when it has none. */
  text(text: string): string {
    let clean = text
    for (const { pattern, mark } of this.#rules) clean = clean.replace(pattern, () => mark)
    return clean
  }

  /** A copy of plain JSON without secrets in its texts; the same object when there are none. */
  value<T>(value: T): T {
    return this.#clean(value, false) as T
  }

  #clean(value: unknown, isForeign: boolean): unknown {
    if (typeof value === 'string') return this.text(value)
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) {
      const items = value.map((item) => this.#clean(item, isForeign))
      return items.every((item, index) => item === value[index]) ? value : items
    }
    let isChanged = false
    const clean: { [key: string]: unknown } = {}
    for (const [key, inner] of Object.entries(value)) {
      const isKept = !isForeign && structural.has(key) && typeof inner !== 'object'
      const kept = isKept ? inner : this.#clean(inner, isForeign || foreign.has(key))
      if (kept !== inner) isChanged = true
      clean[key] = kept
    }
    if (!isChanged) return value
    // A provider's seal no longer fits the text.
    if (!isForeign && clean['type'] === 'thinking') delete clean['signature']
    return clean
  }
}

/** Whether something of this was redacted once. */
export const isRedacted = (value: unknown): boolean => JSON.stringify(value ?? null).includes('[redacted')

/** A secret as it is, and as it stands in an address. */
const formsOf = (secret: string): string[] => [...new Set([secret, encodeURIComponent(secret)])]

const literal = (text: string): RegExp => new RegExp(text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'), 'g')

const asGlobal = (pattern: RegExp): RegExp =>
  pattern.global ? pattern : new RegExp(pattern.source, `${pattern.flags}g`)
