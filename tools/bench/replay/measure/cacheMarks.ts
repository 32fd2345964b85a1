import { cacheWay } from '../../../../packages/ai-sdk/src/adapters/cacheWays.ts'
import { cacheAsking } from '../../../../packages/ai-sdk/src/adapters/askForCache.ts'
import { toCallOptions } from '../../../../packages/ai-sdk/src/adapters/toCallOptions.ts'
import type { ModelRequest } from '../../../../src/index.ts'
import type { CacheMark, CacheName } from './cacheMeter.ts'

type Options = ReturnType<typeof toCallOptions>
type Marked = { readonly providerOptions?: unknown }

const way = cacheWay('anthropic', 'claude')!
const known = new WeakMap<ModelRequest, readonly CacheMark[]>()

const late = new WeakSet<ModelRequest>()

/** Notes that the agent asks for a longer cache, as its requests come late again and again. */
export const noteLate = (request: ModelRequest): unknown => late.add(request)

/** The marks of a request that a cache looks at. */
export const marksFor = (cache: CacheName, request: ModelRequest): readonly CacheMark[] =>
  cache === '5m' || cache === '1h' ? cacheMarks(request) : []

/** The marks that the product's adapter puts into a request to Anthropic, in their order. */
export function cacheMarks(request: ModelRequest): readonly CacheMark[] {
  let marks = known.get(request)
  if (marks === undefined) known.set(request, (marks = read(request)))
  return marks
}

function read(request: ModelRequest): CacheMark[] {
  const { cache = {} } = request.settings
  if (cache === false) return []
  const asking = cacheAsking(way, cache, late.has(request))
  const { prompt, tools } = toCallOptions(request, { provider: 'anthropic', toolImages: 'result', cache: asking })
  const inFrame = [...(tools ?? []), ...prompt.filter(({ role }) => role === 'system')].flatMap(ttlOf)
  const last = inFrame.at(-1)
  return [...(last === undefined ? [] : [{ end: 1, ttl: last }]), ...inMessages(request, prompt)]
}

/** A prompt has a part for each block of a user message and for each result, whatever number of blocks that has. */
function inMessages({ messages }: ModelRequest, prompt: Options['prompt']): CacheMark[] {
  const marks: CacheMark[] = []
  let end = 1
  let at = 0
  const pass = (): void => void (end += messages[at++]!.content.length)
  for (const { role, content } of prompt) {
    if (role === 'system' || typeof content === 'string') continue
    // Replies of which nothing is sent.
    if (role !== 'assistant') while (messages[at]?.role === 'assistant') pass()
    if (role === 'assistant') pass()
    else if (role === 'tool')
      for (const part of content) {
        pass()
        marks.push(...ttlOf(part).map((ttl) => ({ end, ttl })))
      }
    else {
      const first = end
      // Images of results come in a message that the request does not have.
      if (messages[at]?.role === 'user') pass()
      content.forEach((part, index) =>
        marks.push(...ttlOf(part).map((ttl) => ({ end: Math.min(first + index + 1, end), ttl }))),
      )
    }
  }
  return marks
}

function ttlOf(part: object): CacheMark['ttl'][] {
  const { anthropic } = ((part as Marked).providerOptions ?? {}) as { anthropic?: { cacheControl?: { ttl?: '1h' } } }
  const control = anthropic?.cacheControl
  return control === undefined ? [] : [control.ttl ?? '5m']
}
