import { isDeepStrictEqual } from 'node:util'
import type { Conversation } from '../../src/conversation/tree/conversation.ts'
import { textOf, toolCallsOf, type Message } from '../../src/protocol/messages.ts'
import { shownMessage } from '../../src/conversation/request/maskedResults.ts'
import { cutBy } from '../../src/conversation/request/overlay.ts'
import { stepOf } from '../../src/conversation/brakes/prune/pruneNotes.ts'
import type { RevertOutcome } from '../../src/protocol/braking.ts'
import type { BrakedHappening } from './brakeArbitraries.ts'
import type { BrakeLog } from './brakeLog.ts'
import { assert } from './suite.ts'

/** Any id there is, and some there are not. */
function nameStep(conversation: Conversation, pick: number, isInside: boolean): string {
  const trunk = conversation.trunk()
  if (pick % 10 === 9) return ['n999', 'x', '', 'n0', '-1', 'n1.5'][Math.floor(pick / 10) % 6]!
  if (pick % 10 === 8) return String(1 + (pick % (conversation.lastNodeId + 1)))
  const place = isInside ? trunk : trunk.filter((node, at) => trunk[at + 1]?.stepId !== node.stepId)
  const node = place[pick % Math.max(1, place.length)]
  return node === undefined ? 'n1' : `n${node.id}`
}

/** Names of the steps that a policy picks. */
export const namedIn = (
  { conversation }: BrakeLog,
  { picks }: Extract<BrakedHappening, { type: 'fold' }>,
): readonly string[] | undefined => picks?.map((pick) => nameStep(conversation, pick, true))

/** Masks steps: of what stood in the request before, nothing changes but their results, and no less is freed than is said. */
function mask(log: BrakeLog, wanted: { readonly steps?: readonly string[]; readonly tokens?: number }): void {
  const { conversation } = log
  const before = log.assemble().request.messages
  const { applied, masked, steps, tokens, reason } = log.prune({ ...wanted, mask: true })
  assert.equal([masked, applied], [true, steps.length > 0])
  assert.ok(applied || reason?.startsWith('mask refused: '), reason)
  const own = new Set<string>()
  for (const id of steps) {
    assert.not.ok(conversation.annotations?.isPinned(id), `n${id} is pinned`)
    for (const { message } of stepOf(id, conversation).nodes) if (message.role === 'toolResult') own.add(message.callId)
  }
  const after = log.assemble().request.messages
  const changed = before.flatMap((message, at) => (isDeepStrictEqual(message, after[at]) ? [] : { message, at }))
  let freed = 0
  for (const { message, at } of changed) {
    // What was refused is told after the newest step.
    if (at === before.length - 1 && reason !== undefined && message.role === 'user') continue
    assert.ok(message.role === 'toolResult' && own.has(message.callId), `message ${at} changes`)
    const { content } = after[at]!
    assert.equal({ ...after[at], content: [] }, { ...message, content: [] })
    freed +=
      conversation.counter.message(message as Message) -
      conversation.counter.message({ ...message, content } as Message)
  }
  assert.is(changed.length > 0, applied || (reason !== undefined && before.at(-1)?.role === 'user'))
  assert.ok(
    applied ? tokens > 0 && Math.abs(freed - tokens) <= 4 * changed.length : tokens === 0,
    `${tokens} for ${freed}`,
  )
}

/** Shows hidden steps again: each is shown as it was before anything hid it, and the trunk grows by what is said. */
function show(log: BrakeLog, { picks, isAll }: Extract<BrakedHappening, { type: 'show' }>): void {
  const { conversation } = log
  const gone = [...new Set(conversation.path.map(({ stepId }) => stepId))].filter(
    (id) => conversation.annotations?.hiddenBy(id) !== undefined || conversation.masks().includes(id),
  )
  const names = isAll
    ? gone.map((id) => `n${id}`)
    : picks.map((pick) =>
        gone.length === 0 || pick % 5 === 0 ? nameStep(conversation, pick, true) : `n${gone[pick % gone.length]!}`,
      )
  const before = conversation.trunkTokens
  const messages = log.assemble().request.messages
  const outcome = log.show(...names)
  const { applied, shown, steps, tokens, reason } = outcome
  assert.equal([shown, applied], [true, steps.length > 0])
  assert.ok(applied ? tokens >= 0 : reason?.startsWith('show refused: '), reason)
  for (const id of steps) {
    const nodes = stepOf(id, conversation).nodes
    assert.is(conversation.annotations!.hiddenBy(id), undefined)
    for (const node of nodes)
      assert.equal(
        shownMessage(node, conversation),
        conversation.overlay === undefined ? node.message : cutBy(conversation.overlay, node),
      )
  }
  const grown = conversation.trunkTokens - before
  if (steps.length > 0 && conversation.overlay === undefined)
    assert.is(tokens, Math.max(0, grown), 'what came back, with what was refused')
  if (!applied && reason === undefined) assert.equal(log.assemble().request.messages, messages)
}

/** An abandoned node, mostly of a step of the model; now and then any id there is, or none there is. */
function nameAbandoned(conversation: Conversation, pick: number): string {
  const gone = conversation.abandoned().filter(({ message }) => message.role !== 'user')
  if (pick % 10 >= 8 || gone.length === 0) return nameStep(conversation, pick, true)
  return `n${gone[pick % gone.length]!.id}`
}

/** Checks the rules of every drain of grafts. */
function checkGrafts(log: BrakeLog, wanted: readonly (readonly string[])[]): void {
  const { conversation } = log
  const [before, abandoned] = [conversation.trunk(), conversation.abandoned()]
  const outcomes = log.grafts(wanted)
  const copies = outcomes.flatMap((outcome) => outcome.copies)
  const trunk = conversation.trunk()
  assert.equal(trunk.slice(0, before.length), before, 'the trunk only grows')
  assert.equal(
    trunk.slice(before.length).map(({ id, copiedFrom }) => ({ nodeId: id, from: copiedFrom })),
    copies,
  )
  assert.equal(conversation.abandoned(), abandoned, 'what was abandoned stays')
  const [calls, results] = [new Set<string>(), new Set<string>()]
  for (const { message, copiedFrom, isIrreversible } of trunk.slice(before.length)) {
    const original = conversation.node(copiedFrom!)!
    assert.not.ok(conversation.onTrunk(original.id), 'the original is not on the trunk')
    assert.is(original.copiedFrom, undefined, 'it names the first original')
    assert.ok(message.role !== 'user' && isIrreversible === undefined)
    assert.is(textOf(message.content), textOf(original.message.content), 'the same words')
    if (message.role === 'toolResult') results.add(message.callId)
    if (message.role !== 'assistant') continue
    assert.not.ok(message.content.some(({ type }) => type === 'thinking'))
    for (const { callId } of toolCallsOf(message.content)) calls.add(callId)
  }
  assert.equal(calls, results, 'each call has its result')
  const shown = trunk.flatMap(({ message }) => (message.role === 'toolResult' ? [message.callId] : []))
  assert.is(new Set(shown).size, shown.length, 'call ids once on the trunk')
  const originals = trunk.flatMap(({ copiedFrom }) => (copiedFrom === undefined ? [] : [copiedFrom]))
  assert.is(new Set(originals).size, originals.length, 'a step is copied once')
  for (const { applied, reason, requested, copies: own } of outcomes) {
    assert.is(applied, own.length > 0)
    assert.ok(reason === undefined ? applied : reason.startsWith('graft refused: '), reason)
    const count = own.filter(({ nodeId }) => conversation.node(nodeId)!.stepId === nodeId).length
    assert.ok(count === requested.length || reason !== undefined, 'a step that is not copied is named')
  }
}

type Drain = () => RevertOutcome[]

/** Makes it happen in a conversation. `around` carries out a drain of reverts. */
export function happen(
  log: BrakeLog,
  what: BrakedHappening,
  around: (log: BrakeLog, drain: Drain) => void = (_, drain) => void drain(),
): void {
  switch (what.type) {
    case 'user':
      return void log.user(what.words, what.source)
    case 'reply':
      return void log.reply(what.words)
    case 'step':
      return void log.step(
        what.outputs.map((output, at) => ({
          output,
          isError: at % 2 === 1,
          ...(at === 0 ? {} : { isIrreversible: true }),
          ...(at === 0 ? { changed: ['a.ts'] } : {}),
          // A denied step is never folded, so that folds have holes.
          ...(at === 2 ? { denied: 'no' } : {}),
        })),
        { order: what.outputs.map((_, at) => at).toSorted((a, b) => what.order[a]! - what.order[b]!) },
      )
    case 'revert': {
      const wanted = what.wanted.map(({ pick, isInside, ...rest }) => ({
        step: nameStep(log.conversation, pick, isInside),
        ...rest,
      }))
      around(log, () => log.drain(...wanted))
      return
    }
    case 'prune': {
      const steps = what.picks?.map((pick) => nameStep(log.conversation, pick, true))
      log.prune({
        ...(steps === undefined ? { tokens: what.tokens } : { steps }),
        ...(what.memo === undefined ? {} : { memo: what.memo }),
      })
      return
    }
    case 'mask': {
      const steps = what.picks?.map((pick) => nameStep(log.conversation, pick, true))
      mask(log, steps === undefined ? { tokens: what.tokens } : { steps })
      return
    }
    case 'show':
      return show(log, what)
    case 'graft':
      return checkGrafts(
        log,
        what.wanted.map((picks) => picks.map((pick) => nameAbandoned(log.conversation, pick))),
      )
    case 'pin': {
      const { overlay, head } = log.conversation
      // Some are of the summary.
      const step = overlay !== undefined && what.pick % 5 === 0 ? `n${overlay.nodeId}` : undefined
      const before = head === null ? '' : JSON.stringify(log.assemble().request)
      const { applied, reason } = log.pin(step ?? nameStep(log.conversation, what.pick, what.isInside), what.pinned)
      assert.ok(applied ? reason === undefined : /^(un)?pin refused: /.test(reason ?? ''), reason)
      assert.is(head === null ? '' : JSON.stringify(log.assemble().request), before, 'a pin changes no request')
      return
    }
    case 'fold':
      return void log.fold(what, what.isAsked, namedIn(log, what))
    case 'stall': {
      const stall = log.stall({ rules: what.rules })
      if (stall === undefined) return
      assert.ok(log.conversation.onTrunk(stall.target), 'its target is on the trunk')
      assert.is(log.stall({ rules: what.rules }), undefined, 'it is reported once')
      return
    }
    case 'compact':
      log.compact(what)
  }
}
