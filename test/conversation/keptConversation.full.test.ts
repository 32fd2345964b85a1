import * as fc from 'fast-check'
import { assembleRequest } from '../../src/conversation/request/assembleRequest.ts'
import { Conversation } from '../../src/conversation/tree/conversation.ts'
import { addNodes, keepNodes, type ChunkSizes, type NodePieces } from '../../src/runtime/agents/keepNodes.ts'
import { KeptNodes } from '../../src/runtime/agents/keptNodes.ts'
import type { KeptConversation } from '../../src/conversation/tree/keptConversation.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { brakedHistories, chosenHistories, foldedHistories } from '../support/brakeArbitraries.ts'
import { BrakeLog } from '../support/brakeLog.ts'
import { happen } from '../support/brakedHappenings.ts'
import { someRuns } from '../support/seeds.ts'
import { assert, describe } from '../support/suite.ts'

const bytesOf = ({ table, shared, own }: NodePieces): Buffer => Buffer.concat([table, ...shared, ...own])

/** As another process has it. */
function again(conversation: Conversation, sizes?: ChunkSizes): Conversation {
  const state = JSON.parse(JSON.stringify(conversation.keep())) as KeptConversation
  return new Conversation(conversation.counter, {
    state,
    nodes: new KeptNodes(bytesOf(keepNodes(conversation, sizes))),
  })
}

/** The same, where all that it was opened with stays as it is. */
function added(conversation: Conversation): Conversation {
  const state = JSON.parse(JSON.stringify(conversation.keep())) as KeptConversation
  const { table, shared, own } = addNodes(conversation)
  return new Conversation(conversation.counter, {
    state,
    nodes: new KeptNodes(Buffer.concat([table, ...own]), Buffer.concat(shared)),
  })
}

/** So that short conversations have many chunks. */
const small: ChunkSizes = { full: 700, worthIt: 300 }

/** A conversation that goes from process to process is the one that was never kept, whatever each of them has read of it. */
function checkMoves(log: BrakeLog, records: readonly LogRecord[]): { deflated: number; taken: number } {
  const seen = { deflated: 0, taken: 0 }
  let moved = new Conversation()
  records.forEach((record, at) => {
    moved.apply(record)
    if (at % 3 > 0) return
    const before = new Set((moved.kept as KeptNodes | undefined)?.chunks.map(({ bytes }) => bytes.toString()))
    if (at % 2 === 0) assert.is(viewOf(moved), viewOf(rebuildConversation(records.slice(0, at + 1))))
    // Now and then all anew.
    moved = moved.kept !== undefined && at % 12 > 0 ? added(moved) : again(moved, small)
    const { chunks } = moved.kept as KeptNodes
    seen.deflated += chunks.filter(({ isDeflated }) => isDeflated).length
    seen.taken += chunks.filter(({ bytes }) => before.has(bytes.toString())).length
  })
  const whole = rebuildConversation(records)
  assert.is(requestOf(log, moved), requestOf(log, whole))
  assert.is(viewOf(moved), viewOf(whole))
  return seen
}

/** Everything that can be read of one, as JSON. */
const viewOf = (conversation: Conversation): string =>
  JSON.stringify([
    conversation.head,
    conversation.tokens,
    conversation.trunk(),
    conversation.log(),
    conversation.abandoned().map(({ id }) => id),
    conversation.steps().map(({ id }) => id),
    conversation.tags(),
    conversation.pins(),
    conversation.masks(),
    conversation.queues,
    conversation.overlay,
    conversation.repair,
    conversation.notes,
    conversation.ownFrom,
    conversation.log().map(({ id }) => [conversation.onTrunk(id), conversation.annotations?.hiddenBy(id)]),
  ])

const keptOf = (conversation: Conversation): string =>
  JSON.stringify([conversation.keep(), bytesOf(keepNodes(conversation)).length])

/** Text of the next request; `undefined`: it would not be asked for now. */
function requestOf({ frame, turnIndex }: BrakeLog, conversation: Conversation): string | undefined {
  if (conversation.path.at(-1)?.message.role === 'assistant') return undefined
  return JSON.stringify(assembleRequest(conversation, frame, turnIndex))
}

/** A conversation that is kept at every record and goes on is the one that was never kept. */
function checkCuts(log: BrakeLog, records: readonly LogRecord[]): void {
  const whole = rebuildConversation(records)
  const [view, kept, request] = [viewOf(whole), keptOf(rebuildConversation(records)), requestOf(log, whole)]
  records.forEach((_, at) => {
    const prefix = rebuildConversation(records.slice(0, at + 1))
    const restored = again(prefix)
    const where = `kept after record ${at + 1} of ${records.length}`
    assert.is(restored.head, prefix.head, where)
    assert.is(restored.trunkTokens, prefix.trunkTokens, where)
    assert.is(keptOf(restored), keptOf(prefix), `${where}, and kept again unread`)
    // What was read before, and what was not, must be the same in the end.
    if (at % 2 === 0) assert.is(viewOf(restored), viewOf(prefix), where)
    for (const record of records.slice(at + 1)) restored.apply(record)
    assert.is(requestOf(log, restored), request, where)
    assert.is(keptOf(restored), kept, where)
    assert.is(viewOf(restored), view, where)
    assert.is(viewOf(added(restored)), view, `${where}, with what came since beside it`)
    assert.is(viewOf(again(added(restored))), view, `${where}, and again at the end`)
  })
}

function played(happenings: Parameters<typeof happen>[1][], isRebase: boolean): BrakeLog {
  const log = new BrakeLog({ policy: { onUserMessage: isRebase ? 'rebase' : 'refuse' } })
  log.user('the task')
  for (const happening of happenings) {
    const { message, copiedFrom } = log.conversation.trunk().at(-1)!
    const isAnswered = message.role === 'assistant' && copiedFrom === undefined
    if ((happening.type === 'reply' || happening.type === 'step') && isAnswered) continue
    if (happening.type === 'fold') log.fold({ keepSteps: 0 }, true)
    else happen(log, happening, (_, drain) => void drain())
  }
  return log
}

const options = { seed: 20_260_101, endOnFailure: false }

describe('a conversation that was kept', (it) => {
  const kinds = {
    'braked in any way': brakedHistories({ maxLength: 16 }),
    'folded again and again': foldedHistories({ maxLength: 10 }),
    'folded by policies': chosenHistories({ maxLength: 8 }),
  }
  for (const [kind, histories] of Object.entries(kinds))
    it(`at any record goes on as if it had not been: ${kind}`, { timeoutMs: 60_000 }, () => {
      fc.assert(
        fc.property(histories, fc.boolean(), (happenings, isRebase) => {
          const log = played(happenings, isRebase)
          checkCuts(log, log.records)
        }),
        { ...options, numRuns: someRuns(120) },
      )
    })

  it('goes from process to process in chunks of which those that stay as they are need not be made again', () => {
    const all = { deflated: 0, taken: 0 }
    for (const histories of [brakedHistories({ maxLength: 16 }), foldedHistories({ maxLength: 10 })])
      fc.assert(
        fc.property(histories, fc.boolean(), (happenings, isRebase) => {
          const log = played(happenings, isRebase)
          const { deflated, taken } = checkMoves(log, log.records)
          all.deflated += deflated
          all.taken += taken
        }),
        { ...options, numRuns: someRuns(120) },
      )
    assert.ok(all.deflated > 10 && all.taken > 10, JSON.stringify(all))
  })

  it('shows its next request without what its summary stands for', () => {
    const log = played([], false)
    for (let step = 0; step < 40; step += 1) log.step([{ output: `${step} `.repeat(30) }])
    log.compact({ first: 1, recent: 3, summary: 'all the steps' })
    const { from, to } = log.conversation.overlay!
    assert.ok(to - from > 60)
    const state = JSON.parse(JSON.stringify(log.conversation.keep())) as KeptConversation
    const nodes = new KeptNodes(bytesOf(keepNodes(log.conversation, small)))
    const taken: number[] = []
    const restored = new Conversation(log.conversation.counter, {
      state,
      nodes: {
        last: nodes.last,
        take: (id, tags) => (taken.push(id), nodes.take(id, tags)),
        readOverlay: (id) => nodes.readOverlay(id),
      },
    })
    const [{ request }, whole] = [assembleRequest(restored, log.frame), assembleRequest(log.conversation, log.frame)]
    assert.equal(request, whole.request)
    assert.equal(
      taken.filter((id) => id >= from && id <= to),
      [],
    )
    assert.is(viewOf(restored), viewOf(log.conversation))
  })

  it('reads what a summary says when it is in force, so that many of them weigh as little as their places', () => {
    const log = played([], false)
    for (let time = 1; time <= 6; time += 1) {
      for (let step = 0; step < 6; step += 1) log.step([{ output: `${step} `.repeat(30) }])
      log.compact({ recent: 2, summary: `${time}: ${'what happened '.repeat(200)}` })
    }
    const { conversation } = log
    const state = JSON.parse(JSON.stringify(conversation.keep())) as KeptConversation
    assert.is(state.overlays.length, 6)
    assert.ok(JSON.stringify(state).length < 3_000)
    const nodes = new KeptNodes(bytesOf(keepNodes(conversation, small)))
    const plain = nodes.chunks.filter(({ isDeflated }) => !isDeflated).map(({ bytes }) => Buffer.from(bytes).toString())
    assert.match(plain.join(), '6: what happened')
    assert.not.match(plain.join(), '5: what happened')
    const read: number[] = []
    const restored = new Conversation(conversation.counter, {
      state,
      nodes: {
        last: nodes.last,
        take: (id, tags) => nodes.take(id, tags),
        readOverlay: (id) => (read.push(id), nodes.readOverlay(id)),
      },
    })
    assert.equal(read, [])
    assert.equal(restored.overlay, conversation.overlay)
    assert.is(restored.overlay, restored.overlay)
    assert.equal(read, [conversation.overlay!.nodeId])
    for (const { nodeId } of state.overlays) {
      assert.is(restored.node(nodeId), undefined)
      assert.equal(restored.overlays.get(nodeId), conversation.overlays.get(nodeId))
    }
    const { length } = log.records
    assert.is(log.revert(1).applied, true)
    for (const record of log.records.slice(length)) restored.apply(record)
    assert.equal([restored.overlay, conversation.overlay], [undefined, undefined])
    assert.is(viewOf(restored), viewOf(conversation))
    assert.is(viewOf(again(restored, small)), viewOf(conversation))
  })

  it('reads a node when it is asked for, and says when bytes are missing', () => {
    const log = played([], false)
    log.step([{ output: 'x'.repeat(100) }])
    log.reply('done')
    const { conversation } = log
    const nodes = bytesOf(keepNodes(conversation))
    const state = conversation.keep()
    const text = nodes.indexOf('xxx')
    nodes[text] = 'y'.codePointAt(0)!
    const restored = new Conversation(conversation.counter, { state, nodes: new KeptNodes(nodes) })
    nodes[text + 1] = 'z'.codePointAt(0)!
    assert.match(JSON.stringify(restored.log()), /yzx/)
    for (const cut of [nodes.subarray(0, 3), nodes.subarray(0, 20), nodes.subarray(0, -1)])
      assert.throws(() => new KeptNodes(cut), RangeError)
  })
})
