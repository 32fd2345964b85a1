import type { LanguageModelV4CallOptions, LanguageModelV4Message, SharedV4ProviderOptions } from '@ai-sdk/provider'
import { TextHash } from '../../../../src/protocol/text/textHash.ts'
import type { PromptCache } from '../../../../src/protocol/ports/model.ts'
import type { CacheTtl, CacheWay } from './cacheWays.ts'

type Prompt = LanguageModelV4CallOptions['prompt']
type Tools = LanguageModelV4CallOptions['tools']

/** Way in which a request asks for caching. */
export interface CacheAsking {
  readonly way: CacheWay
  readonly ttl: CacheTtl
  /** Lifetime for content that outlasts a turn: the frame, and the notes up to where the next fold begins. */
  readonly lasting: CacheTtl
}

/** Returns how an agent's requests ask for caching. `comesLate`: requests repeatedly come after the cache's short lifetime. */
export const cacheAsking = (
  way: CacheWay,
  { ttl = 'auto' }: Exclude<PromptCache, false>,
  comesLate: boolean,
): CacheAsking => (ttl === 'auto' ? { way, ttl: '5m', lasting: comesLate ? '1h' : '5m' } : { way, ttl, lasting: ttl })

/** Maximum number of marks. Providers refuse requests with more. */
const mostMarks = 4

/**
 * Returns the request with marks that ask its provider to cache its beginning. If the application sets marks itself, the request is unchanged. Pure.
 */
export function askForCache(
  options: LanguageModelV4CallOptions,
  { way, ttl, lasting }: CacheAsking,
): LanguageModelV4CallOptions {
  if (way.by === 'key') return withKey(options)
  const { prompt, tools, providerOptions } = options
  if (marksOf(providerOptions).length > 0) return options
  const own = (tools ?? []).flatMap((tool) => ('providerOptions' in tool ? marksOf(tool.providerOptions) : []))
  // What is to be kept for long must stand before the rest.
  const [short, mark] = [ttl, lasting].map((time) => way.mark(own.every(isLong) ? time : '5m')) as [Mark, Mark]
  const places = placesIn(prompt).slice(0, Math.max(0, mostMarks - own.length))
  const marked = places.reduce((so, place) => {
    const isLasting = place.isBoundary === true && places.every((other) => other === place || isBefore(place, other))
    return so.with(place.message, markAt(so[place.message]!, place, isLasting ? mark : short))
  }, prompt)
  const hasSystem = prompt[0]?.role === 'system'
  if (places.length + own.length >= mostMarks || (!hasSystem && own.length > 0)) return { ...options, prompt: marked }
  if (!hasSystem) return { ...options, prompt: marked, ...markTools(tools, mark) }
  return { ...options, prompt: marked.with(0, { ...prompt[0]!, providerOptions: mark }) }
}

/** Returns the marks set by the application: one at the end of the request, or at a tool. */
const marksOf = (options: SharedV4ProviderOptions | undefined): unknown[] =>
  Object.values(options ?? {}).flatMap(({ cacheControl, cache_control, cachePoint, caching }) =>
    [cacheControl, cache_control, cachePoint, caching].filter(Boolean),
  )

const isLong = (mark: unknown): boolean => (mark as { ttl?: unknown }).ttl === '1h'

type Mark = SharedV4ProviderOptions

/** A part of a message that a mark may follow. */
interface Place {
  readonly message: number
  readonly part: number
  /** True if the next fold begins after this place. */
  readonly isBoundary?: true
}

const isBefore = (one: Place, other: Place): boolean =>
  one.message < other.message || (one.message === other.message && one.part < other.part)

/** True for notes after the conversation that no later request contains. */
const isPassing = (text: string): boolean => /^<runtime-note kind="(limit|repair|question)">/.test(text)
/** True for the last note of a fold. The next fold removes it and adds to the notes before it. */
const isIndex = (text: string): boolean => text.startsWith('<brake-note kind="index"')
const isMemo = (text: string): boolean => /^(<brake-note kind="memo"|<conversation-summary )/.test(text)

/**
 * Returns the positions of marks besides that of the frame, the most important first: the end, from which the next request continues; the end of the
 * previous request, because a provider looks back only 20 blocks; and the start of the next fold. Marks stand only in messages of users and tools,
 * because they may not follow thinking, and some packages drop parts of replies.
 */
function placesIn(prompt: Prompt): readonly Place[] {
  let last: Place | undefined
  let previous: Place | undefined
  let memo: Place | undefined
  let boundary: Place | undefined
  for (const [message, { role, content }] of prompt.entries()) {
    if (role === 'assistant') previous = last
    if (role !== 'user' && role !== 'tool') continue
    for (const [part, each] of content.entries()) {
      const text = each.type === 'text' ? each.text : ''
      if (isIndex(text)) boundary = last
      if (!isMarkable(each)) continue
      last = { message, part }
      if (isMemo(text)) memo = last
    }
  }
  const places = [last, previous].filter((place) => place !== undefined)
  const distinct = places.filter((place, index) => places.indexOf(place) === index)
  const begins = boundary ?? memo
  return begins === undefined || distinct.includes(begins) ? distinct : [...distinct, { ...begins, isBoundary: true }]
}

type Part = Extract<LanguageModelV4Message, { role: 'user' | 'tool' }>['content'][number]

/** Returns true for a part that is certainly sent and not empty. Providers refuse marks at empty texts. */
function isMarkable(part: Part): boolean {
  if (part.type === 'text') return part.text !== '' && !isPassing(part.text)
  if (part.type !== 'tool-result') return part.type === 'file'
  return !('value' in part.output) || part.output.value !== ''
}

function markAt(message: LanguageModelV4Message, { part }: Place, mark: SharedV4ProviderOptions): typeof message {
  const content = (message.content as Part[]).map((each, index) =>
    index === part ? { ...each, providerOptions: { ...each.providerOptions, ...mark } } : each,
  )
  return { ...message, content } as LanguageModelV4Message
}

/** Marks the last tool, because requests without instructions begin with the tools. */
function markTools(tools: Tools = [], mark: SharedV4ProviderOptions): { tools?: NonNullable<Tools> } {
  const last = tools.findLastIndex(({ type }) => type === 'function')
  if (last < 0) return {}
  return {
    tools: tools.map((tool, index) =>
      index === last && tool.type === 'function'
        ? { ...tool, providerOptions: { ...tool.providerOptions, ...mark } }
        : tool,
    ),
  }
}

/** Adds the cache key, one for each conversation and its forks. Requests with the same key go to the machine that has cached their beginning. */
function withKey(options: LanguageModelV4CallOptions): LanguageModelV4CallOptions {
  const { prompt, tools = [], providerOptions: given } = options
  const hash = new TextHash()
  for (const { name } of tools) hash.add(name)
  const first = prompt.find(({ role }) => role === 'user')
  for (const { content } of [prompt[0], first].filter((message) => message !== undefined))
    if (typeof content === 'string') hash.add(content)
    else for (const part of content) if (part.type === 'text') hash.add(part.text)
  // The package reads one of them alone.
  const name = given?.['azure'] === undefined ? 'openai' : 'azure'
  return {
    ...options,
    providerOptions: { ...given, [name]: { promptCacheKey: `escapement-${hash.value}`, ...given?.[name] } },
  }
}
