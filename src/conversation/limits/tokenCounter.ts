import { isTextual } from '../../protocol/text/fileText.ts'
import type { AssistantMessage, Block, FileBlock, Message } from '../../protocol/messages.ts'
import { cacheLifetimes } from '../../protocol/cacheLifetimes.ts'
import type { RecordOf } from '../../protocol/records.ts'

/** The token-counting port. Contract: pure, cheap (called once per message), never throws; the unit is tokens. */
export interface TokenCounter {
  message(message: Message): number
  text(text: string): number
}

const perMessage = 4
/** Tokens of a large image: providers bill an image by its size. */
const perImage = 1_600
/** Bytes per token of a file that is not text. A page of a PDF counts much like an image, and a second of sound counts little. */
const bytesPerToken = { audio: 500, other: 50 }

/** Estimates the tokens of a text at 3.5 characters per token. The providers' reports correct this later (see `Conversation.tokens`). */
const estimateText = (text: string): number => Math.ceil(text.length / 3.5)

function estimateBlock(block: Block): number {
  switch (block.type) {
    case 'text':
    case 'thinking':
      return estimateText(block.text)
    case 'image':
      return perImage
    case 'file':
      return estimateFile(block)
    case 'provider':
      return block.kind === 'source' ? 0 : jsonTokens(block.data)
    case 'toolCall':
      return estimateText(block.name) + jsonTokens(block.input) + 8
  }
}

/** Estimates the tokens of a file from its size alone. Nothing is decoded. */
function estimateFile({ data, mimeType }: FileBlock): number {
  const bytes = Math.ceil((data.length * 3) / 4)
  if (isTextual(mimeType)) return Math.ceil(bytes / 3.5)
  return Math.max(
    perImage,
    Math.ceil(bytes / (mimeType.startsWith('audio/') ? bytesPerToken.audio : bytesPerToken.other)),
  )
}

const jsonTokens = (value: unknown): number =>
  estimateText(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

/** The default counter: an estimate from lengths alone. */
export const estimateTokens: TokenCounter = {
  text: estimateText,
  message(message) {
    let tokens = perMessage
    for (const block of message.content) tokens += estimateBlock(block)
    return tokens
  },
}

/** Returns the ratio of reported to estimated tokens of the request that a reply answers; `undefined` if none were reported. */
export function correctionOf({ usage }: AssistantMessage, estimated: number): number | undefined {
  const reported = usage.input + usage.cacheRead + usage.cacheWrite
  if (usage.estimated === true || reported <= 0 || estimated <= 0) return undefined
  // Bounded, so that a mock reporting one token does not switch compaction off.
  return Math.min(4, Math.max(0.25, reported / estimated))
}

/** Measurements of the requests so far, from the providers' reports and the times in the log. */
export interface Measured {
  /** Ratio of reported to estimated tokens of the last measured request; 1 before the first. */
  readonly correction: number
  /**
   * Share of the previous request that the provider's cache held when the next one began with it, from 0 to 1; the newest measurement counts most. 1
   * until two requests in a row were large enough for a cache.
   */
  readonly cachedShare: number
  /** Number of requests in a row that got nothing from the cache, although each began with the one before and followed it soon. */
  readonly unread: number
  /** The newest request whose size was reported. */
  readonly last?: { readonly tokens: number; readonly model: string; readonly time: number }
  /** Number of replies, abandoned ones included. */
  readonly replies: number
  readonly repliedAt?: number
  /** Milliseconds from the newest reply to the last result, run or turn since then; missing if there is none. */
  readonly pause?: number
  /** Numbers of the newest two replies that came after a pause longer than the shortest lifetime of a cache but not than the longest. */
  readonly late?: readonly number[]
  /** Turns that the newest runs of each sub-agent took, by its name. */
  readonly lengths?: { readonly [name: string]: readonly number[] }
  /** Fewest turns that recent runs of the agent's definition took, as its caller knew them when it made the agent. */
  readonly expected?: number
}

export const unmeasured: Measured = Object.freeze({ correction: 1, cachedShare: 1, unread: 0, replies: 0 })

/** Minimum size of a beginning that all providers cache. */
const leastCached = 4_096
/** Number of unread requests in a row after which there is no cache. It may miss once, as after a deployment of the provider. */
export const mostUnread = 3
/** Number of recent requests, two of which must come late for a longer lifetime to pay. */
const lateWithin = 20
/** The weight of an older measurement when another is made. */
const keptWeight = 0.9

/** Returns true if a function stands in for a model, without a provider and a real cache. */
const isFunction = (model: string): boolean => model.startsWith('embedded:')

/** Returns true if the provider has no cache for these requests: it is absent, was refused, is not reported or is never read. */
export const isUncached = ({ unread }: Measured): boolean => unread >= mostUnread

/** Returns the measurements once a run or turn has begun, or a call has its result. Pure. */
export const wentOn = (before: Measured, { time }: { readonly time: number }): Measured =>
  before.repliedAt === undefined ? before : { ...before, pause: Math.max(0, time - before.repliedAt) }

/** Number of runs of a sub-agent that are kept to predict the length of its next one, and number of them that are needed. */
const runsKept = 8
const runsNeeded = 2

/** Returns the measurements with the length of another run of a sub-agent. Pure. */
export function withRun(before: Measured, { name, spent }: Pick<RecordOf<'tool.end'>, 'name' | 'spent'>): Measured {
  if (spent === undefined) return before
  const lengths = [...lengthsOf(before, name), spent.turns].slice(-runsKept)
  return { ...before, lengths: { ...before.lengths, [name]: lengths } }
}

/** Returns the fewest turns that a run of this sub-agent is expected to take; `undefined` if too few are known. Pure. */
export function expectedTurns(measured: Measured, name: string): number | undefined {
  const lengths = lengthsOf(measured, name)
  return lengths.length < runsNeeded ? undefined : Math.min(...lengths)
}

const lengthsOf = ({ lengths = {} }: Measured, name: string): readonly number[] =>
  Object.hasOwn(lengths, name) ? lengths[name]! : []

const isLate = (pause = 0): boolean => pause >= cacheLifetimes['5m'] && pause < cacheLifetimes['1h']

/** Returns true if requests, including the one that is about to be made, come late often enough for a longer lifetime of their cache to pay. Pure. */
export function comesLate({ replies, late = [], pause }: Measured): boolean {
  const recent = late.filter((reply) => reply > replies + 1 - lateWithin)
  return recent.length + (isLate(pause) ? 1 : 0) >= 2
}

type Reply = Pick<RecordOf<'reply.end'>, 'message' | 'estimatedTokens' | 'time'>
type Next = { -readonly [K in keyof Measured]: Measured[K] }

/** Returns the measurements including another reply. Pure. */
export function measure(before: Measured, reply: Reply): Measured {
  const { pause, ...next }: Next = before
  measureCache(next, reply)
  next.replies += 1
  next.repliedAt = reply.time
  if (isLate(pause)) next.late = [...(next.late ?? []), next.replies].slice(-2)
  return next
}

/**
 * Adds the facts about the provider's cache from the usage of a reply. A request that is smaller than the previous one,
 * or that another model answers, does not share its cached beginning and is ignored.
 */
function measureCache(next: Next, { message, estimatedTokens, time }: Reply): void {
  const { usage, model } = message
  const { last } = next
  const tokens = usage.input + usage.cacheRead + usage.cacheWrite
  if (usage.estimated === true || tokens <= 0) return
  next.correction = correctionOf(message, estimatedTokens) ?? next.correction
  if (last === undefined && isFunction(model) && usage.cacheRead + usage.cacheWrite === 0) return
  next.last = { tokens, model, time }
  const goesOn = last !== undefined && last.model === model && last.tokens >= leastCached && tokens >= last.tokens
  if (!goesOn) {
    if (usage.cacheRead > 0) next.unread = 0
    return
  }
  const share = Math.min(1, usage.cacheRead / last.tokens)
  const isSoon = time - last.time < cacheLifetimes['5m']
  next.cachedShare = keptWeight * next.cachedShare + (1 - keptWeight) * share
  next.unread = share > 0 ? 0 : next.unread + (isSoon ? 1 : 0)
}
