import { createHash } from 'node:crypto'
import type { WireUsage } from './wireFamily.ts'

interface Part {
  /** Hash of the request up to and including this block. */
  readonly print: string
  readonly tokens: number
  readonly mark: { readonly ttl?: string } | undefined
}

type Json = Record<string, unknown>

/** Number of blocks before a mark at which the provider looks for a known beginning. */
const lookBack = 20
/** Least tokens of a beginning that is kept. */
const leastTokens = 1_024
/** Prices relative to that of an input token. */
const prices = { read: 0.1, written: 1.25 }

/**
 * Anthropic's cache of prompts, by its documented rules: what stands before a mark is written when that is long enough, and looked for at
 * each mark and up to 20 blocks before it; a request has at most four marks, none at an empty text or at thinking, those that last an hour
 * before the others.
 */
export class AnthropicCache {
  readonly #known = new Set<string>()
  /** The hashes of every block that was ever sent. */
  readonly #sent = new Set<string>()
  /** Cost of all requests if every beginning that was ever sent had been in the cache. */
  ideal = 0
  /** The number of marks of each request. */
  readonly marks: number[] = []
  /** Input tokens of all requests: read, written, and neither. */
  readonly total = { read: 0, written: 0, fresh: 0 }

  /** Takes a request; throws what the provider would refuse it for. */
  take(body: Json): Required<Pick<WireUsage, 'input' | 'cacheRead' | 'cacheWrite'>> {
    const parts = partsOf(body)
    const marked = parts.flatMap(({ mark }, at) => (mark === undefined ? [] : [at]))
    if (body['cache_control'] !== undefined) marked.push(parts.length - 1)
    this.marks.push(marked.length)
    if (marked.length > 4) throw new Error(`${marked.length} blocks with cache_control`)
    const sum = (from: number, to: number): number => parts.slice(from, to).reduce((all, { tokens }) => all + tokens, 0)
    let read = 0
    for (const at of marked)
      for (let place = at; place >= Math.max(0, at - lookBack); place--)
        if (this.#known.has(parts[place]!.print)) {
          read = Math.max(read, sum(0, place + 1))
          break
        }
    const kept = marked.filter((at) => sum(0, at + 1) >= leastTokens)
    for (const at of kept) this.#known.add(parts[at]!.print)
    const last = kept.at(-1)
    const written = Math.max(0, last === undefined ? 0 : sum(0, last + 1) - read)
    const input = sum(0, parts.length)
    const common = sum(0, parts.findLastIndex(({ print }) => this.#sent.has(print)) + 1)
    for (const { print } of parts) this.#sent.add(print)
    this.ideal += prices.read * common + prices.written * (input - common)
    this.total.read += read
    this.total.written += written
    this.total.fresh += input - read - written
    return { input, cacheRead: read, cacheWrite: written }
  }

  get input(): number {
    return this.total.read + this.total.written + this.total.fresh
  }

  /** Share of all input that was read from the cache, from 0 to 1. */
  get share(): number {
    return this.total.read / this.input
  }

  /** Cost in input tokens, at the provider's prices. */
  get cost(): number {
    const { read, written, fresh } = this.total
    return prices.read * read + prices.written * written + fresh
  }
}

/** Tools, instructions and messages, in the order in which they are cached. */
function partsOf({ tools = [], system = [], messages = [] }: Json): readonly Part[] {
  let before = ''
  let isShort = false
  return [
    ...(tools as Json[]).map((tool) => ['tools', tool] as const),
    ...(system as Json[]).map((block) => ['system', block] as const),
    ...(messages as { role: string; content: Json[] }[]).flatMap(({ role, content }, at) =>
      content.map((block) => [`${at} ${role}`, block] as const),
    ),
  ].map(([place, { cache_control: mark, ...block }]): Part => {
    const text = JSON.stringify(block)
    before = createHash('sha256').update(`${before}\n${place}\n${text}`).digest('hex')
    if (mark !== undefined) {
      const isLong = (mark as { ttl?: string }).ttl === '1h'
      if (isLong && isShort) throw new Error('a mark of an hour after one of five minutes')
      isShort ||= !isLong
      if (block['text'] === '') throw new Error('cache_control on an empty text')
      if (String(block['type']).includes('thinking')) throw new Error('cache_control on thinking')
    }
    return { print: before, tokens: Math.ceil(text.length / 4), mark: mark as Part['mark'] }
  })
}
