import { isDeepStrictEqual } from 'node:util'
import { RequestAssembler, assembleRequest } from '../../src/conversation/request/assembleRequest.ts'
import { checkRequest } from '../../src/conversation/request/checkRequest.ts'
import type { Conversation } from '../../src/conversation/tree/conversation.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { textOf, toolCallsOf, type Message } from '../../src/protocol/messages.ts'
import { logRecordSchema } from '../../src/protocol/records.ts'
import type { RequestMessage } from '../../src/protocol/ports/model.ts'
import { isLeft } from '../../src/conversation/brakes/hiddenSpan.ts'
import { notesOfSpan } from '../../src/conversation/brakes/prune/pruneNotes.ts'
import { BrakeLog, idsIn, notesIn, textIn } from '../support/brakeLog.ts'
import type { BrakedHappening } from '../support/brakeArbitraries.ts'
import { happen, namedIn } from '../support/brakedHappenings.ts'
import { assert } from '../support/suite.ts'

export const viewOf = (conversation: Conversation) => ({
  trunk: conversation.trunk(),
  log: conversation.log(),
  abandoned: conversation.abandoned(),
  steps: conversation.steps(),
  tags: conversation.tags(),
  tokens: conversation.tokens,
  head: conversation.head,
  lastNodeId: conversation.lastNodeId,
  overlay: conversation.overlay,
  reverts: conversation.annotations?.reverts,
  prunes: conversation.annotations?.prunes,
  grafts: conversation.annotations?.grafts,
  spans: conversation.annotations?.hidden.spans,
  hidden: conversation.log().map(({ stepId }) => [stepId, conversation.annotations?.hiddenBy(stepId)]),
  masked: [...(conversation.annotations?.masked.steps ?? [])],
  stalls: [conversation.annotations?.stalls.last, conversation.annotations?.stalls.counted],
  notices: [...(conversation.annotations?.notices ?? [])],
  pins: conversation.pins(),
  asked: conversation.annotations?.pins,
  notes: conversation.notes,
  index: conversation.annotations?.hidden.index(conversation),
})

const saidOn = (conversation: Conversation): string[] =>
  conversation.trunk().flatMap(({ message }) => (message.role === 'user' ? [textOf(message.content)] : []))

/** Checks rules that hold for every fold. */
export function checkFold(log: BrakeLog, what: Extract<BrakedHappening, { type: 'fold' }>): void {
  const { type: _, isAsked, picks: __, ...policy } = what
  const { conversation } = log
  const memosBefore = memosOf(conversation)
  const said = saidOn(conversation)
  const plan = log.fold(policy, isAsked, namedIn(log, what))
  if (plan === undefined) return
  const { steps, memo, rolled = [] } = plan.outcome
  assert.is(conversation.trunkTokens, plan.trunkTokens, 'the plan says what the trunk will have')
  assert.equal(saidOn(conversation), said)
  assert.is(memo?.split('\n').length, steps.length, 'a line for each step')
  const kept = conversation.steps().filter(({ nodes }) => nodes[0]!.message.role === 'assistant')
  for (const step of policy.keepSteps === 0 ? [] : kept.slice(-policy.keepSteps))
    assert.not.ok(steps.includes(step.id), `n${step.id} is among the newest`)
  for (const id of steps) {
    assert.not.ok(conversation.annotations?.isPinned(id), `n${id} is pinned`)
    const denied = log.conversation.steps().find((step) => step.id === id)!.nodes
    assert.not.ok(denied.some(({ message }) => message.role === 'toolResult' && message.synthetic === 'denied'))
  }
  const after = memosOf(conversation)
  const rewritten = new Set(rolled.flatMap(({ folds }) => folds))
  for (const [id, text] of memosBefore) if (!rewritten.has(id)) assert.is(after.get(id), text, `the memo of ${id}`)
}

/** Memo of each fold. */
const memosOf = (conversation: Conversation): Map<string, string> =>
  new Map(
    (conversation.annotations?.hidden.spans ?? [])
      .filter(({ fold, steps }) => fold !== undefined && steps.some((id) => isLeft(id, conversation)))
      .map((span) => [
        span.id,
        notesOfSpan(span, conversation)
          .map(({ text }) => text)
          .join('\n'),
      ]),
  )

/** Checks rules that hold for every drain of reverts. */
export function checkDrain(log: BrakeLog, drain: () => ReturnType<BrakeLog['drain']>): void {
  const { conversation } = log
  const before = {
    trunk: log.trunkIds(),
    said: saidOn(conversation),
    log: conversation.log(),
    last: conversation.lastNodeId,
  }
  const outcomes = drain()
  const after = log.trunkIds()
  assert.equal(saidOn(conversation), before.said, 'what people said is the same')
  const applied = outcomes.filter((outcome) => outcome.applied)
  assert.ok(applied.length <= 1, 'one applied a turn')
  const gone = before.trunk.filter((id) => !after.includes(id))
  assert.equal(gone, applied[0]?.tag?.abandoned ?? [], 'abandoned is the trunk before less the trunk after')
  const now = conversation.log()
  assert.equal(
    now.slice(0, before.log.length).map(({ id }) => id),
    before.log.map(({ id }) => id),
    'the log only grows',
  )
  for (const { id } of now.slice(before.log.length)) assert.ok(id > before.last, 'new nodes have new ids')
  for (const { applied: isApplied, reason } of outcomes)
    assert.ok(isApplied ? reason === undefined : /^revert (target|refused)/.test(reason ?? ''), reason)
}

/** The model is asked only after a person or a tool: nothing else needs a valid request. */
const isAsked = (conversation: Conversation): boolean => {
  const last = conversation.trunk().at(-1)
  if (last === undefined) return false
  return last.message.role !== 'assistant' || last.tags.length > 0 || last.graftedFrom !== undefined
}

/** The model has had the last word; a copy of what it said is none. */
export const isAnswered = (conversation: Conversation): boolean => {
  const { message, graftedFrom } = conversation.trunk().at(-1)!
  return message.role === 'assistant' && graftedFrom === undefined
}

export function play(
  happenings: readonly BrakedHappening[],
  onUserMessage: 'refuse' | 'rebase',
  decay: 'exact' | 'lazy' = 'exact',
): (string | undefined)[] {
  const ids = new Set<number>()
  const pinned = new Map<number, string>()
  const log = new BrakeLog({ policy: { onUserMessage }, tags: { ...noRollUp, decay } })
  const { conversation, frame } = log
  const assembler = new RequestAssembler(conversation, frame)
  log.user('the task')
  for (const happening of happenings) {
    if ((happening.type === 'reply' || happening.type === 'step') && isAnswered(conversation)) continue
    const known = new Set(conversation.log().map(({ id }) => id))
    if (happening.type === 'fold') checkFold(log, happening)
    else happen(log, happening, checkDrain)
    for (const { id } of conversation.log()) {
      if (known.has(id)) continue
      assert.not.ok(ids.has(id), `n${id} is given twice`)
      ids.add(id)
    }
    assert.ok(conversation.trunkTokens >= 0, `the trunk has ${conversation.trunkTokens} tokens`)
    if (!isAsked(conversation)) continue
    const live = assembler.assemble(log.turnIndex)
    const fresh = assembleRequest(conversation, frame, log.turnIndex)
    // With lazy decay the live request shows old notes for longer than one made now.
    if (decay === 'exact') {
      if (!isDeepStrictEqual(live.request, fresh.request)) assert.equal(live.request.messages, fresh.request.messages)
      assert.equal(live.provenance, fresh.provenance)
    }
    const shownTokens = conversation.counter.text(
      live.request.messages.map(({ content }) => JSON.stringify(content)).join(''),
    )
    assert.ok(
      conversation.trunkTokens < 2 * shownTokens + 200 && shownTokens < 3 * conversation.trunkTokens + 400,
      `${conversation.trunkTokens} tokens for about ${shownTokens} that are shown`,
    )
    assert.is(
      ownTokens(conversation),
      countedOf(conversation, live.request.messages),
      'of replies and results as shown',
    )
    assert.is(live.provenance.length, live.request.messages.length)
    assert.equal(checkRequest(live.request, { trunk: conversation.path }), [])
    checkPins(conversation, live.request.messages, pinned)
    const shown = idsIn(live.request.messages)
    assert.is(new Set(shown).size, shown.length, `ids once: ${shown.join()}`)
    const indexes = notesIn(live.request.messages).filter((note) => note.startsWith('<brake-note kind="index">'))
    assert.ok(indexes.length <= 1, 'one index')
  }
  for (const record of log.records) assert.equal(logRecordSchema().parse(JSON.parse(JSON.stringify(record))), record)
  assert.equal(viewOf(rebuildConversation(log.records)), viewOf(conversation))
  return (
    conversation.annotations?.hidden.spans.map(({ fold }) => fold?.detail).filter((detail) => detail !== undefined) ??
    []
  )
}

/** Tokens that the conversation counts for replies and results. */
function ownTokens({ trunkTokens, notes, overlay, path }: Conversation): number {
  const said = path.reduce((sum, { message, tokens }) => sum + (message.role === 'user' ? tokens : 0), 0)
  return trunkTokens - notes.shown - (overlay?.tokens ?? 0) - said
}

/** The same as counted in a request, ids left out; what stands for empty output is not counted. */
const countedOf = ({ counter, path }: Conversation, messages: readonly RequestMessage[]): number =>
  messages.reduce((sum, { content, ...message }) => {
    // A copy is counted with its notes.
    if (message.role === 'user')
      return notesIn([{ ...message, content }])
        .filter((note) => note.startsWith('<brake-note kind="graft"'))
        .reduce((all, note) => all + counter.text(note), sum)
    if (message.role === 'assistant') return sum + counter.message({ ...message, content } as Message)
    const said = content.map((block) =>
      block.type === 'text' ? { ...block, text: block.text.replace(/\n?\[n\d+\]$/, '') } : block,
    )
    const isEmpty = textOf(said) === '(no output)'
    const node = isEmpty
      ? path.find((own) => own.message.role === 'toolResult' && own.message.callId === message.callId)
      : undefined
    return sum + (node?.tokens ?? counter.message({ ...message, content: said } as Message))
  }, 0)

/** Text that the model is shown of a step or of the summary, but for its id; `''` when that is nothing. */
function shownOf(conversation: Conversation, messages: readonly RequestMessage[], id: number): string {
  const { overlay } = conversation
  if (overlay?.nodeId === id)
    return textIn(messages).includes('<conversation-summary') ? `summary: ${overlay.summary}` : ''
  const first = conversation.node(id)!
  if (first.message.role === 'user') return conversation.onTrunk(id) ? textOf(first.message.content) : ''
  const calls = toolCallsOf(first.message.content).map(({ callId }) => callId)
  const results = messages.filter((message) => message.role === 'toolResult' && calls.includes(message.callId))
  const texts = results.map(({ content }) => textIn([{ role: 'user', content }]).replace(/\n?\[n\d+\]$/, ''))
  const reply = messages.some(
    ({ role, content }) => role === 'assistant' && isDeepStrictEqual(content, first.message.content),
  )
  return reply && results.length === calls.length ? `${id}: ${texts.join('\n')}` : ''
}

/** Checks that a pinned step is shown as it was when it was pinned, until it is unpinned. */
function checkPins(conversation: Conversation, messages: readonly RequestMessage[], before: Map<number, string>): void {
  const pins = conversation.pins()
  for (const id of before.keys()) if (!pins.includes(id)) before.delete(id)
  for (const id of pins) {
    const shown = shownOf(conversation, messages, id)
    assert.is.not(shown, '', `n${id} is pinned and shown`)
    assert.is(shown, before.get(id) ?? shown, `n${id} is pinned and shown as it was`)
    before.set(id, shown)
  }
}

/** A roll-up of checkpoints waits until the request changes anyway, so a fresh request may show one that the live one does not. */
export const noRollUp = { maxCheckpoints: 1_000, maxCheckpointTokens: 1_000_000 }

export const options = { seed: 20_260_101, endOnFailure: false }
