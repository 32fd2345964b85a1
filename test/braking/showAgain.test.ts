import { checkRequest } from '../../src/conversation/request/checkRequest.ts'
import { assembleRequest, RequestAssembler } from '../../src/conversation/request/assembleRequest.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { applyPrune } from '../../src/conversation/brakes/prune/planPrune.ts'
import { planShow } from '../../src/conversation/brakes/prune/planShow.ts'
import { savingsOf } from '../../packages/sessions/src/savings/savings.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import {
  calls,
  resultsOf,
  startAgent,
  tool,
  withCode,
  type Harness,
  type HarnessOptions,
} from '../support/agentHarness.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { BrakeLog, notesIn, textIn } from '../support/brakeLog.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const look = tool('look', (input) => `seen${(input as { at: number }).at}Thing\n${'word '.repeat(80)}`, {
  effects: 'none',
})

/** An agent that has looked three times, at 1, 2 and 3: n2–n3, n4–n5 and n6–n7. */
async function looked(context: CaseContext, { replies = [], ...options }: HarnessOptions = {}): Promise<Harness> {
  const looks = [1, 2, 3].map((at) => calls(`c${at}`, ['look', { at }]))
  const harness = await startAgent(context, {
    tools: [look],
    braking: { prune: true, show: true, recall: true },
    ...options,
    replies: [...looks, 'done', ...replies],
  })
  await harness.agent.prompt('go').result
  return harness
}

/** A log with five looks, of which a fold has hidden the first three. */
function folded(): BrakeLog {
  const log = new BrakeLog()
  log.user('go')
  for (const at of [1, 2, 3, 4, 5])
    log.step([{ name: 'look', input: { at }, output: `src/module${at}/aLongName${at}.ts ${'x '.repeat(200)}` }])
  log.fold({ keepSteps: 2, indexTokens: 100 }, true)
  return log
}

const memos = (log: BrakeLog): string[] => notesIn(log.assemble().request.messages)

describe('a hidden step that is shown again', (it) => {
  it('stands where it stood, as it was, and costs what it frees no more', async (context) => {
    const { agent, until, ofType, script } = await looked(context, { replies: ['more', 'again'] })
    const { tokens } = agent.conversation
    agent.prune({ steps: ['n3', 'n5'], memo: 'two looks' })
    await until(({ type }) => type === 'prune.applied')
    await agent.prompt('and now?').result
    assert.equal(resultsOf(script.requests.at(-1)).length, 1)
    agent.prune({ steps: ['n4', 'n2'], show: true })
    await until((event) => event.type === 'prune.applied' && event.shown === true)
    const outcome = ofType('prune.applied').at(-1)!
    assert.equal([outcome.applied, outcome.steps, outcome.masked], [true, [2, 4], undefined])
    assert.ok(outcome.economics!.freed < 0 && outcome.economics!.paysAfter === null)
    assert.ok(agent.conversation.tokens >= tokens)
    await agent.prompt('again').result
    const request = script.requests.at(-1)!
    assert.equal(checkRequest(request), [])
    assert.equal(
      resultsOf(request).map((said) => said.slice(0, 10)),
      ['seen1Thing', 'seen2Thing', 'seen3Thing'],
    )
    assert.equal(notesIn(request.messages), [], 'no memo is left')
    const { brakes } = savingsOf(agent.conversation.log() === undefined ? [] : (ofType('prune.applied') as LogRecord[]))
    assert.equal(
      brakes.map(({ type }) => type),
      ['prune.applied', 'prune.applied'],
    )
  })

  it('leaves the memo of a prune whole while another of its steps is hidden, at the first of those', () => {
    const log = folded()
    const pruned = new BrakeLog()
    pruned.user('go')
    for (const at of [1, 2, 3]) pruned.step([{ output: `${at} ${'x '.repeat(100)}` }])
    pruned.prune({ steps: ['n2', 'n4'], memo: 'both looked' })
    pruned.show('n2')
    assert.match(memos(pruned)[0]!, /^<brake-note kind="memo" span="n4">both looked</)
    pruned.show('n5')
    assert.equal(memos(pruned), [])
    // A fold has a line for each step.
    assert.match(memos(log)[0]!, /span="n2–n6">n2 look at=1\nn4 look at=2\nn6 look at=3</)
    log.show('n4')
    assert.match(memos(log)[0]!, /span="n2–n6">n2 look at=1\nn6 look at=3</)
    assert.not.match(memos(log).join(), /module2/, 'nor does the index name what is in sight')
    assert.match(memos(log).join(), /module1/)
    log.show('n2', 'n6')
    assert.equal(memos(log), [])
  })

  it('has its masked results again', () => {
    const log = new BrakeLog()
    log.user('go')
    const before = [1, 2].map((at) => log.step([{ output: `${at} ${'x '.repeat(100)}` }]))
    const { messages } = log.assemble().request
    log.prune({ steps: [`n${before[0]!}`], mask: true })
    assert.equal(log.show('n3').steps, [2])
    assert.equal(log.assemble().request.messages, messages)
    assert.match(log.show('n3').reason!, /^show refused: n3 is not hidden$/)
  })

  it('is left by folds and policies, and hidden by whoever names it', () => {
    const log = folded()
    // The last one of the fold, where the next would begin.
    log.show('n6')
    log.step([{ output: 'x '.repeat(100) }])
    log.fold({ keepSteps: 1, indexTokens: 0 }, true)
    const hidden = (step: number): boolean => log.conversation.annotations!.hiddenBy(step) !== undefined
    assert.equal([2, 4, 6, 8].map(hidden), [true, true, false, true])
    const asked = { id: 'q', steps: ['n6'] } as const
    const byPolicy = applyPrune(log.conversation, { ...asked, by: 'runtime', policy: 'tidy' })
    assert.match(byPolicy.reason!, /n6 was shown again on request/)
    assert.equal(log.prune({ steps: ['n6'] }).steps, [6])
    assert.is(hidden(6), true)
  })

  it('says why others are not shown', () => {
    const log = folded()
    const { reason, steps } = log.show('n1', 'n999', 'n10', 'n2', 'nonsense')
    assert.equal(steps, [2])
    assert.is(
      reason,
      'show refused: n1 is not hidden; n999 is not on the current trunk; n10 is not hidden; "nonsense" is not on the current trunk',
    )
    log.revert('n1')
    assert.match(log.show('n4').reason!, /n4 is not on the current trunk/)
  })

  it('is refused where it does not fit, as a whole, with the room there is', async (context) => {
    const { agent, until, ofType } = await looked(context, {
      compaction: { contextWindow: 1_400 },
      replies: ['more'],
    })
    agent.prune({ steps: ['n2', 'n4', 'n6'], memo: 'looked' })
    await until(({ type }) => type === 'prune.applied')
    await agent.prompt('word '.repeat(400)).result
    agent.prune({ steps: ['n2', 'n4', 'n6'], show: true })
    await until((event) => event.type === 'prune.applied' && event.shown === true)
    const { reason, applied, steps } = ofType('prune.applied').at(-1)!
    assert.equal([applied, steps], [false, []])
    assert.match(
      reason!,
      /^show refused: there is room for \d+ tokens, and the steps have \d+: .* or name fewer steps$/,
    )
    agent.prune({ steps: ['n2'], show: true })
    await until((event) => event.type === 'prune.applied' && event.applied && event.shown === true)
  })

  it('comes last of what one drain decides, so that folds count with memos as they are', async (context) => {
    const looks = Array.from({ length: 6 }, (_, at) => calls(`e${at}`, ['look', { at: at + 4 }]))
    const harness = await looked(context, {
      braking: { fold: { keepSteps: 1 }, show: true },
      replies: [...looks, 'more', 'last'],
    })
    const { agent, until, ofType, script } = harness
    agent.fold()
    await until((event) => event.type === 'prune.applied')
    const run = agent.prompt('go on')
    agent.prune({ steps: ['n2'], show: true })
    agent.fold()
    await run.result
    const [first, ...rest] = ofType('prune.applied')
    assert.equal(
      [first!, ...rest].map(({ shown, applied }) => [shown === true, applied]),
      [
        [false, true],
        [false, true],
        [true, true],
      ],
    )
    await agent.prompt('and?').result
    assert.equal(checkRequest(script.requests.at(-1)!), [])
    assert.match(textIn(script.requests.at(-1)!.messages), /seen1Thing/)
  })

  it('may be asked for by a model that has the tool, and a refusal is told to it', async (context) => {
    const { agent, script, ofType } = await looked(context, {
      replies: [
        calls('p', ['prun', { steps: ['n3'] }]),
        calls('s', ['show_step', { steps: ['n3', 'n7'] }]),
        'thanks',
        'more',
      ],
    })
    await agent.prompt('tidy').result
    const outcome = ofType('prune.applied').at(-1)!
    assert.equal([outcome.shown, outcome.steps, outcome.reason], [true, [2], 'show refused: n7 is not hidden'])
    await agent.prompt('and now?').result
    const text = textIn(script.requests.at(-1)!.messages)
    assert.match(text, /seen1Thing/)
    assert.match(text, /kind="refusal">show refused: n7 is not hidden/)
  })

  it('is no tool of a definition that hides nothing, and none without the switch', () => {
    const model = scriptedModel([])
    assert.throws(() => defineAgent({ name: 'a', model, braking: { show: true } }), withCode('INVALID_DEFINITION'))
    const names = defineAgent({ name: 'a', model, braking: { prune: true, fold: true } }).toolSpecs.map(
      ({ name }) => name,
    )
    assert.not.ok(names.includes('show_step'))
  })

  it('stays shown in a rebuilt conversation and in its stored form, with the same request', () => {
    const log = folded()
    const { braking: _, ...unbraked } = log.frame
    const live = new RequestAssembler(log.conversation, unbraked)
    live.assemble()
    log.show('n2', 'n4', 'n6')
    log.user('<brake-note kind="memo">a look-alike</brake-note>')
    const rebuilt = rebuildConversation(log.records)
    assert.equal(assembleRequest(rebuilt, unbraked).request.messages, live.assemble().request.messages)
    for (const frame of [log.frame, unbraked])
      assert.equal(
        assembleRequest(rebuilt, frame).request.messages,
        assembleRequest(log.conversation, frame).request.messages,
      )
    assert.equal(rebuilt.keep(), log.conversation.keep())
    assert.equal(rebuilt.annotations!.keep().shown, [2, 4, 6])
    const again = planShow(rebuilt, { id: 's', steps: ['n2'] }, new Set(), Infinity)
    assert.is(again.outcome.applied, false)
  })
})
