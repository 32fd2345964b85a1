import * as fc from 'fast-check'
import { RequestAssembler } from '../../src/conversation/request/assembleRequest.ts'
import { economicsOf, type Sizes } from '../../src/conversation/limits/economics.ts'
import { estimateTokens } from '../../src/conversation/limits/tokenCounter.ts'
import {
  sizesOfCompaction,
  sizesOfFold,
  sizesOfPrune,
  sizesOfRevert,
  sizesOfShow,
} from '../../src/conversation/limits/trunkSizes.ts'
import type { Block } from '../../src/protocol/messages.ts'
import type { RequestMessage } from '../../src/protocol/ports/model.ts'
import type { LogRecord, Overlay } from '../../src/protocol/records.ts'
import { brakedHistories, foldedHistories, type BrakedHappening } from '../support/brakeArbitraries.ts'
import { happen } from '../support/brakedHappenings.ts'
import { BrakeLog } from '../support/brakeLog.ts'
import { someRuns } from '../support/seeds.ts'
import { assert, describe } from '../support/suite.ts'

function sizesOf(log: BrakeLog, record: LogRecord): Sizes | undefined {
  const { conversation } = log
  if (record.type === 'revert.applied' && record.applied) return sizesOfRevert(conversation, record)
  if (record.type === 'prune.applied' && record.by === 'runtime') return sizesOfFold(conversation, log.planned!)
  if (record.type === 'prune.applied' && record.applied)
    return record.shown === true ? sizesOfShow(conversation, record) : sizesOfPrune(conversation, record)
  if (record.type === 'compaction.end' && record.applied) return sizesOfCompaction(conversation, record.overlay!)
  return undefined
}

interface Piece {
  readonly said: string
  readonly tokens: number
}

/** Blocks of a request, one by one. */
const piecesOf = (messages: readonly RequestMessage[]): Piece[] =>
  messages.flatMap(({ role, content }) =>
    content.map((block: Block) => ({
      said: JSON.stringify([role, block]),
      tokens: estimateTokens.message({ role, content: [block] } as never),
    })),
  )

const sum = (pieces: readonly Piece[]): number => pieces.reduce((total, { tokens }) => total + tokens, 0)

/** The same figures as read off the requests before and after. */
function sizesShown(before: readonly Piece[], after: readonly Piece[]): Sizes {
  const differs = after.findIndex(({ said }, at) => said !== before[at]?.said)
  const unchanged = differs < 0 ? after : after.slice(0, differs)
  return { before: sum(before), after: sum(after), unchanged: sum(unchanged) }
}

interface Seen {
  readonly record: LogRecord
  readonly estimated: Sizes
  readonly shown: Sizes
  /** Blocks of both requests. */
  readonly blocks: number
  /** Tokens of the conversation afterwards. */
  readonly trunkTokens: number
  /** An older summary shows again: its span is not known beforehand. */
  readonly bringsSummaryBack: boolean
  /** A note says what an older one says, which is shown no more. */
  readonly repeatsNote: boolean
}

/** Plays a conversation as a live agent does, and looks at each of its reshapings. */
function play(happenings: readonly BrakedHappening[], look: (seen: Seen) => void): void {
  const log: BrakeLog = new BrakeLog({
    policy: { onUserMessage: 'rebase', maxRevertsPerTarget: 99 },
    tags: { maxCheckpoints: 1_000 },
    before: (record) => {
      const estimated = sizesOf(log, record)
      said = new Set(log.conversation.tags().map(({ tag }) => tag.text.trim()))
      const { overlay } = log.conversation
      expected = estimated === undefined ? undefined : { record, estimated, before: pieces(), overlay }
    },
    after: () => {
      if (expected === undefined) return
      const { before, overlay, ...rest } = expected
      const after = pieces()
      const { trunkTokens, overlay: now } = log.conversation
      look({
        ...rest,
        shown: sizesShown(before, after),
        blocks: before.length + after.length,
        trunkTokens,
        repeatsNote: rest.record.type === 'revert.applied' && said.has(rest.record.tag?.text.trim() ?? ''),
        bringsSummaryBack: rest.record.type === 'revert.applied' && now !== undefined && now !== overlay,
      })
    },
  })
  const assembler = new RequestAssembler(log.conversation, log.frame)
  const pieces = (): Piece[] => piecesOf(assembler.assemble(log.turnIndex).request.messages)
  let expected: (Pick<Seen, 'record' | 'estimated'> & { before: Piece[]; overlay: Overlay | undefined }) | undefined
  let said = new Set<string>()
  log.user('the task')
  for (const happening of happenings) {
    const isReply = happening.type === 'reply' || happening.type === 'step'
    if (isReply && log.conversation.trunk().at(-1)!.message.role === 'assistant') continue
    happen(log, happening)
  }
}

/** Folds and reverts of all kinds, folds that roll memos up among them. */
const histories = fc.oneof(brakedHistories({ maxLength: 24 }), foldedHistories({ maxLength: 10 }))

const options = { seed: 20_261_122, endOnFailure: false }

describe('the sizes of a trunk before and after it is reshaped', (it) => {
  it('are those of its requests, but for four tokens a block: ids are not counted', { timeoutMs: 60_000 }, () => {
    const met = new Set<string>()
    fc.assert(
      fc.property(histories, (happenings) =>
        play(happenings, ({ record, estimated, shown, blocks, bringsSummaryBack, repeatsNote }) => {
          met.add(record.type)
          if (bringsSummaryBack || repeatsNote) return
          const tolerance = 10 + 4 * blocks
          const [said, seen] = [economicsOf(estimated), economicsOf(shown)]
          for (const part of ['freed', 'rewritten'] as const) {
            const what = `${part} of ${record.type}: ${said[part]}, but the requests say ${seen[part]}`
            assert.ok(Math.abs(said[part] - seen[part]) <= tolerance, `${what} (± ${tolerance})`)
          }
        }),
      ),
      { ...options, numRuns: someRuns(2_000) },
    )
    assert.equal([...met].toSorted(), ['compaction.end', 'prune.applied', 'revert.applied'])
  })

  it('end with what the conversation counts afterwards', { timeoutMs: 60_000 }, () => {
    fc.assert(
      fc.property(histories, (happenings) =>
        play(happenings, ({ record, estimated, trunkTokens, bringsSummaryBack }) => {
          // A fourth lesson pushes the oldest out of the count.
          if (bringsSummaryBack || (record.type === 'revert.applied' && record.tag!.kind !== 'outcome')) return
          assert.is(estimated.after, trunkTokens, record.type)
        }),
      ),
      { ...options, numRuns: someRuns(2_000) },
    )
  })
})
