import { assembleRequest, RequestAssembler } from '../../src/conversation/request/assembleRequest.ts'
import { maskOf, tokensOfShown } from '../../src/conversation/request/maskedResults.ts'
import { defaultCompactionPolicy, planCompaction } from '../../src/conversation/brakes/compaction/planCompaction.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { shownOfSpan } from '../../src/conversation/brakes/compaction/shownOfSpan.ts'
import { estimateTokens } from '../../src/conversation/limits/tokenCounter.ts'
import { sizesOfPrune } from '../../src/conversation/limits/trunkSizes.ts'
import type { PruneOutcome } from '../../src/protocol/braking.ts'
import { textOf } from '../../src/protocol/messages.ts'
import { conversationModel } from '../../packages/charts/src/conversationModel.ts'
import { stepRemarks } from '../../packages/charts/src/conversationRows.ts'
import { BrakeLog, notesIn, textIn, type WantedCall } from '../support/brakeLog.ts'
import { answered, refused } from '../support/recalled.ts'
import { withCode } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const long = (what: string): string => `${what} ${'x '.repeat(300)}`

/** A task, and these steps, each of its calls; they are n2, n4 … as long as each has one call. */
function worked(...steps: readonly (readonly WantedCall[])[]): BrakeLog {
  const log = new BrakeLog()
  log.user('the task')
  for (const step of steps) log.step(step, { thinking: 'I wonder' })
  return log
}

const mask = (log: BrakeLog, ...steps: readonly string[]): PruneOutcome => log.prune({ steps, mask: true })

/** Tokens of the messages shown, ids and notes left out. */
const countedOf = (log: BrakeLog): number =>
  log.conversation.path.reduce((sum, node) => sum + tokensOfShown(node, log.conversation), 0)

const results = (log: BrakeLog): string[] =>
  log
    .assemble()
    .request.messages.filter(({ role }) => role === 'toolResult')
    .map(({ content }) => textOf(content))

describe('a mask', (it) => {
  it('puts a line in place of what a result holds, and leaves all else as it is', () => {
    const log = worked([{ output: long('first') }], [{ output: long('second') }], [{ output: 'newest' }])
    const before = log.assemble().request.messages
    const tokens = log.conversation.trunkTokens
    const outcome = mask(log, 'n3')
    const after = log.assemble().request.messages
    assert.equal(after[2]!.content, [
      { type: 'text', text: '[output hidden: 606 characters; recall n3 brings it back]\n[n3]' },
    ])
    assert.equal({ ...after[2], content: [] }, { ...before[2], content: [] })
    assert.equal(after.toSpliced(2, 1), before.toSpliced(2, 1), 'the signed reply too')
    assert.equal([outcome.applied, outcome.masked, outcome.steps, outcome.memo], [true, true, [2], undefined])
    assert.is(log.conversation.trunkTokens, tokens - outcome.tokens)
    const line = estimateTokens.text('[output hidden: 606 characters; recall n3 brings it back]')
    assert.is(outcome.tokens, estimateTokens.text(long('first')) - line)
  })

  it('does not name a tool that the model does not have', () => {
    const log = worked([{ output: long('first') }], [{}])
    mask(log, 'n2')
    const shown = (frame: object) =>
      textOf(assembleRequest(log.conversation, { ...log.frame, ...frame }).request.messages[2]!.content)
    assert.is(shown({ tools: [] }), '[output hidden: 606 characters]\n[n3]')
    const { braking: _, ...unbraked } = log.frame
    assert.is(
      textOf(assembleRequest(log.conversation, unbraked).request.messages[2]!.content),
      '[output hidden: 606 characters]',
    )
  })

  it('leaves a request as it is before the first result that it changes', () => {
    const log = worked([{ output: 'short' }, { output: long('a') }], [{ output: long('b') }], [{}])
    const assembler = new RequestAssembler(log.conversation, log.frame)
    const before = assembler.assemble(log.turnIndex).request.messages
    mask(log, 'n2', 'n5')
    const after = assembler.assemble(log.turnIndex).request.messages
    assert.equal(after, log.assemble().request.messages)
    assert.equal(after.slice(0, 3), before.slice(0, 3), 'the short result stays')
    assert.is(after[0], before[0], 'and was not rendered again')
    for (const at of [3, 5]) assert.match(textOf(after[at]!.content), /^\[output hidden/)
    const again = assembler.assemble(log.turnIndex).request.messages
    assert.equal(again, after)
  })

  it('keeps the last line of an error, and what an irreversible call came to', () => {
    const log = worked(
      [
        { output: `${long('log')}\n[n9] 2 of 96 failed`, isError: true },
        { output: `paid 5 EUR\n${long('receipt')}`, isIrreversible: true },
        { output: `declined\n${long('why')}\nexit code 1`, isError: true, isIrreversible: true },
      ],
      [{}],
    )
    mask(log, 'n2')
    const [error, paid, declined] = results(log)
    assert.match(error!, /^\[output hidden: 624 characters; recall n3 brings it back\]\n\(n9\) 2 of 96 failed$/)
    assert.match(paid!, /^\[output hidden: .*\]\npaid 5 EUR receipt x x [x ]*…$/)
    assert.ok(paid!.split('\n')[1]!.length <= 160)
    assert.match(declined!, /^\[output hidden: .*\]\ndeclined why x .*…\nexit code 1\n\[n5\]$/)
    assert.equal(
      { ...log.assemble().request.messages[2], content: [] },
      { role: 'toolResult', callId: 'c0', toolName: 'tool', content: [], isError: true },
    )
  })

  it('keeps what a call came to that could be undone, whether or not it was', () => {
    const log = worked([{ output: `wrote a.ts\n${long('it')}` }], [{}])
    const { id, message } = log.conversation.node(3)!
    for (const isUndone of [true, false]) {
      const line = maskOf({ id, message, reversible: { seq: 1, isUndone } })!
      assert.match(textOf(line.content), /^\[output hidden: .*\]\nwrote a\.ts it x x/)
    }
  })

  it("leaves what the runtime answered in a tool's place", () => {
    const denied = { output: '', denied: long('never') }
    const log = worked([denied, { output: long('a'), synthetic: 'interrupted' }, { output: long('b') }], [{}])
    mask(log, 'n2')
    const [no, cut, masked] = results(log)
    assert.ok(no!.includes(long('never')) && cut!.startsWith(long('a')) && masked!.startsWith('[output hidden'))
  })

  it('hides images too, and says so', () => {
    const image = { type: 'image', data: 'AA==', mimeType: 'image/png' } as const
    const log = worked([{ output: [{ type: 'text', text: 'see' }, image, image] }, { output: [image] }], [{}])
    const { tokens } = mask(log, 'n2')
    assert.equal(results(log).slice(0, 2), [
      '[output hidden: 3 characters, 2 images; recall n3 brings it back]',
      '[output hidden: 1 image; recall n4 brings it back]\n[n4]',
    ])
    assert.ok(tokens > 4_700)
  })

  it('does not say that recall brings back what was recalled', () => {
    const log = worked([{ name: 'recall', output: long('n2 said') }], [{}])
    mask(log, 'n2')
    assert.is(results(log)[0], '[output hidden: 608 characters]\n[n3]')
  })

  it('is refused where a prune is, and where nothing is freed', () => {
    const log = worked(
      ...['a', 'b', 'c', 'd', 'e'].map((name) => [{ output: long(name) }]),
      [{ output: 'short' }],
      [{ output: long('newest') }],
    )
    log.compact({ first: 1, recent: 5 })
    log.prune({ steps: ['n6'] })
    log.pin('n8')
    mask(log, 'n10')
    const { applied, steps, tokens, reason, masked } = mask(
      log,
      'n1',
      'n2',
      'n7',
      'n9',
      'n11',
      'n13',
      'n15',
      'n99',
      'x',
    )
    assert.equal([applied, steps, tokens, masked], [false, [], 0, true])
    assert.is(
      reason,
      'mask refused: n1 is a user message; n2 is at or before a compaction summary; n7 is hidden already; n9 is pinned; ' +
        'n11 has its output hidden already; n13 has no output that is longer than what would stand for it; ' +
        'n15 is the newest step; n99 is not on the current trunk; "x" is not on the current trunk',
    )
    assert.match(notesIn(log.assemble().request.messages).at(-1)!, /kind="refusal">mask refused: n1 is/)
    assert.is(
      log.prune({ tokens: 9_999, mask: true }).reason,
      'mask refused: there is no step of which the output may be hidden (pinned: n9)',
    )
  })

  it('with a number of tokens takes the oldest steps that free so many', () => {
    const log = worked(
      [{ output: 'short' }],
      [{ output: long('a') }],
      [{ output: long('b') }],
      [{ output: long('c') }],
      [{}],
    )
    const one = log.prune({ tokens: 1, mask: true })
    assert.equal(one.steps, [4])
    assert.equal(log.prune({ tokens: one.tokens + 1, mask: true }).steps, [6, 8])
  })

  it('counts what it frees of a result that a compaction has cut already', () => {
    const log = worked([{}], [{}], [{ output: long('cut') }], [{ output: long('cut') }], [{}])
    log.compact({ first: 1, recent: 3, maxChars: 150 })
    const before = log.conversation.trunkTokens
    assert.match(results(log)[1]!, /left out/)
    const outcome = mask(log, 'n6', 'n8')
    assert.match(results(log)[1]!, /^\[output hidden: 604 characters/)
    assert.is(log.conversation.trunkTokens, before - outcome.tokens)
    assert.ok(outcome.tokens > 0 && outcome.tokens < 60, String(outcome.tokens))
    const cutting = worked([{}], [{}], [{ output: long('cut') }], [{}])
    mask(cutting, 'n6')
    cutting.compact({ first: 1, recent: 2, maxChars: 150 })
    assert.match(results(cutting)[0]!, /^\[output hidden: 604 characters/)
  })

  it('says beforehand what it comes to', () => {
    const log = worked([{ output: 'short' }, { output: long('a') }], [{ output: long('b') }], [{}])
    const before = log.conversation.trunkTokens
    const outcome = { id: 'p', applied: true, masked: true, steps: [2, 5], tokens: 1 } as const
    const sizes = sizesOfPrune(log.conversation, outcome)
    const head = log.conversation.node(3)!.pathTokens
    mask(log, 'n2', 'n5')
    assert.equal(sizes, { before, after: log.conversation.trunkTokens, unchanged: head })
  })
})

describe('a masked step', (it) => {
  it('can be recalled, by any of its ids and by what it held', () => {
    const log = worked([{ output: long('hiddenThing1') }, { output: 'short' }], [{}])
    assert.match(refused(log, { step: 'n3' }), /is shown in full/)
    mask(log, 'n3')
    assert.match(answered(log, { step: 'n4' }), /^n2 \(output hidden\):\n/)
    assert.match(answered(log, { query: 'hiddenThing1' }), /^n2 \(output hidden\).*hiddenThing1/s)
    log.revert('n1')
    assert.match(answered(log, { step: 'n4' }), /^n2 \(reverted\)/)
  })

  it('can be hidden later, and then is no longer masked', () => {
    const log = worked([{ output: long('a') }], [{ output: long('b') }], [{}])
    mask(log, 'n2', 'n4')
    const shown = log.conversation.trunkTokens
    const { tokens } = log.prune({ steps: ['n2'] })
    assert.is(log.conversation.trunkTokens, shown - tokens, 'what was shown of it is hidden')
    assert.is(results(log).length, 2)
    assert.match(answered(log, { step: 'n2' }), /^n2 \(hidden\)/)
    assert.equal([...log.conversation.annotations!.masked.steps], [4])
    const plan = log.fold({ keepSteps: 1 }, true)!
    assert.equal([plan.outcome.steps, log.conversation.trunkTokens], [[4], plan.trunkTokens])
    assert.match(notesIn(log.assemble().request.messages).join(), /n4 tool/)
  })

  it('stays masked when steps after it are reverted, and when a summary stood for it for a while', () => {
    const log = worked([{}], [{ output: long('a') }], [{ output: long('b') }], [{}], [{}])
    mask(log, 'n4', 'n6')
    const [, a, b] = results(log)
    log.compact({ first: 2, recent: 2, maxChars: 150 })
    assert.is(results(log).join().includes('output hidden'), false)
    assert.match(answered(log, { step: 'n4' }), /^n4 \(summarised\)/)
    // A step that a summary stands for is no target: the log is cut before it, and goes on another way.
    const again = worked([{}], [{ output: long('a') }], [{ output: long('b') }], [{}], [{}])
    mask(again, 'n4', 'n6')
    again.revert('n7')
    assert.equal(results(again).slice(1), [a, b])
    assert.equal(again.conversation.masks(), [4, 6])
    again.revert('n5')
    assert.equal(again.conversation.masks(), [4])
    assert.equal(results(again).slice(1), [a])
    assert.is(again.conversation.trunkTokens - again.conversation.notes.shown, countedOf(again))
  })

  it('cannot be pinned, as a hidden one', () => {
    const log = worked([{ output: long('a') }], [{}])
    mask(log, 'n2')
    assert.is(log.pin('n3').reason, 'pin refused: n3 has its output hidden already')
  })

  it('lends its names to the index of the next fold, but for those that are still shown', () => {
    const log = worked(
      [{ output: 'foldedThing1 '.repeat(30) }],
      [
        {
          output: `maskedThing1 ${'maskedThing2 '.repeat(30)}\nkeptThing1 failed`,
          isError: true,
          input: { path: 'src/shownPath1.ts' },
        },
      ],
      [{ output: 'shown_thing_1' }],
      [{ output: 'shown_thing_2' }],
    )
    mask(log, 'n4')
    log.fold({ keepSteps: 3, indexTokens: 1_000 }, true)
    const index = notesIn(log.assemble().request.messages).find((note) => note.includes('kind="index"'))!
    assert.is(index, '<brake-note kind="index">\nn2 foldedThing1\nn4 maskedThing1 maskedThing2\n</brake-note>')
  })

  it('is summarised as it is shown', () => {
    const log = worked([{}], [{ output: long('maskedThing1') }], [{ output: 'seen' }], [{}])
    mask(log, 'n4')
    const plan = planCompaction(
      log.conversation,
      { ...defaultCompactionPolicy, keepRecent: 1, minShrink: -Infinity },
      0,
    )
    if (typeof plan === 'string') throw new Error(plan)
    const said = shownOfSpan(log.conversation, plan).map(({ message }) => textOf(message.content))
    assert.equal(said.slice(-4), ['', '[output hidden: 613 characters]', '', 'seen'])
  })

  it('is marked in the graph of the conversation, live and from records, until it is hidden', () => {
    const log = worked([{ output: long('a') }], [{ output: long('b') }], [{}])
    mask(log, 'n2', 'n4')
    log.prune({ steps: ['n4'] })
    for (const records of [undefined, log.records]) {
      const view = records === undefined ? log.conversation : rebuildConversation(records)
      const { steps, prunes } = conversationModel({ conversation: view, ...(records && { records }) })
      assert.equal(steps.map(stepRemarks), ['', ' (masked)', ' (hidden)', ''])
      assert.is(prunes.length, 1)
    }
  })

  it('is of a log that follows: what is hidden, masked or pinned already is not masked', () => {
    const log = worked([{ output: long('a') }], [{ output: long('b') }], [{ output: long('c') }], [{}])
    mask(log, 'n2')
    log.prune({ steps: ['n4'] })
    log.pin('n6')
    const next = { v: 3, seq: log.records.length + 1, time: 1, runId: 'a/r0', turnIndex: 4 } as const
    for (const step of [1, 2, 4, 6, 99]) {
      const record = { ...next, type: 'prune.applied', id: 'x', applied: true, masked: true, steps: [step], tokens: 1 }
      assert.throws(() => rebuildConversation([...log.records, record as never]), withCode('LOG_CORRUPT'), `n${step}`)
    }
  })

  it('says the same whatever the counter, and costs a look of its own only once', () => {
    const log = worked([{ output: long('a') }], [{}])
    const node = log.conversation.node(3)!
    assert.equal(maskOf(node), maskOf(node))
    const counter = { text: () => 1, message: () => 1 }
    mask(log, 'n2')
    const other = rebuildConversation(log.records, { counter })
    assert.is(textIn(assembleRequest(other, log.frame).request.messages), textIn(log.assemble().request.messages))
  })
})
