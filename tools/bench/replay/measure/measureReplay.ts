import { isStep, type RecordedSession } from '../recordedSession.ts'
import type { Cause, Replay, SentRequest } from '../replay.ts'
import { sharedBlocks } from '../../../../packages/evaluation/src/metrics/blockTable.ts'
import { marksFor } from './cacheMarks.ts'
import { addTo, cacheMeter, type CacheName, noTokens, type Tokens } from './cacheMeter.ts'
import { meetTurn } from './learning.ts'
import { namesOf } from './names.ts'
import { NameTracker } from './references.ts'
import { BlockTable, type MeasuredBlock } from './requestBlocks.ts'
import { lostTexts } from './saidByUsers.ts'
import { tokensWritten } from './tokens.ts'

/** All token counts are sums over the agent's requests. */
export interface Measures extends Tokens {
  readonly requests: number
  /** Tokens of the largest request. */
  readonly peak: number
  /** Beside these, what policies and strategies asked a model for. */
  readonly asked: Tokens & { readonly requests: number }
  /** Uses of names that the agent had met before, and of these what the request did not show, or only in an index. */
  readonly met: number
  readonly dangling: number
  readonly indexOnly: number
  /** How often the beginning of a request was not the request before, by what happened in between: `fold`, `revert + tag expiry`; `other` would be a defect. */
  readonly breaks: Readonly<Record<string, number>>
  readonly invalid: number
  /** The most messages of people that one request lacked. */
  readonly usersLost: number
  /** Replies by a script, and what it asked for in vain. */
  readonly ownReplies: number
  readonly refused: number
  /** Tokens of each request, by the turn that it was for. */
  readonly course: readonly { readonly turn: number; readonly tokens: number }[]
  readonly failure?: string
}

const order: readonly Cause[] = ['revert', 'compaction', 'fold', 'policy', 'prune', 'masking', 'tag expiry']

/** Measures what a replay sent. `table`: shared by the replays of a session, so that its texts are looked at once. */
export function measureReplay(
  session: RecordedSession,
  replay: Replay,
  table = new BlockTable(),
  cacheName: CacheName = 'ideal',
): Measures {
  const meter = cacheMeter(cacheName)
  const names = new NameTracker()
  const sum = { ...noTokens, peak: 0, met: 0, dangling: 0, indexOnly: 0, usersLost: 0 }
  let before: readonly MeasuredBlock[] = []
  const breaks: Record<string, number> = {}
  const course: { turn: number; tokens: number }[] = []
  let passed = 0
  for (const sent of replay.requests) {
    const blocks = table.blocksOf(sent.request)
    const billed = {
      ...meter.bill(blocks, marksFor(cacheName, sent.request), sent.at),
      output: tokensWritten(sent.reply),
    }
    addTo(sum, billed)
    sum.peak = Math.max(sum.peak, billed.input)
    if (sharedBlocks(before, blocks) < before.length) {
      const cause = causeOf(sent)
      breaks[cause] = (breaks[cause] ?? 0) + 1
    }
    before = blocks
    course.push({ turn: sent.turn ?? passed, tokens: billed.input })
    if (sent.turn === null) continue
    for (; passed < sent.turn; passed += 1) meetTurn(names, session.turns[passed]!)
    const { met, dangling, indexOnly } = names.refer(blocks, namesOf(session.turns[sent.turn]!.content))
    sum.met += met
    sum.dangling += dangling.length
    sum.indexOnly += indexOnly.length
    const said = session.turns.slice(0, sent.turn).flatMap((turn) => (isStep(turn) ? [] : turn.content))
    sum.usersLost = Math.max(sum.usersLost, lostTexts(said, blocks))
  }
  return {
    ...sum,
    requests: replay.requests.length,
    asked: askedIn(replay, table, cacheName),
    breaks,
    course,
    invalid: replay.invalid.length,
    refused: replay.refused.length,
    ownReplies: replay.requests.filter(({ turn }) => turn === null).length,
    ...(replay.failure === undefined ? {} : { failure: replay.failure }),
  }
}

const causeOf = ({ causes }: SentRequest): string =>
  order.filter((cause) => causes.includes(cause)).join(' + ') || 'other'

/** Their cache is one of its own, that nothing makes forget. */
function askedIn({ asked }: Replay, table: BlockTable, cacheName: CacheName): Measures['asked'] {
  const meter = cacheMeter(cacheName === 'none' ? 'none' : 'ideal')
  const sum = { ...noTokens, requests: asked.length }
  for (const { request, reply } of asked) {
    const billed = { ...meter.bill(table.blocksOf(request), [], 0), output: tokensWritten(reply) }
    addTo(sum, billed)
  }
  return sum
}
