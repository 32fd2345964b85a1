import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import type { AgentEvent } from '../../src/protocol/events.ts'
import type { Model } from '../../src/protocol/ports/model.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import type { RevertCategory } from '../../src/protocol/braking.ts'
import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { calls, resultsOf, startAgent, tool, type Harness, type HarnessOptions } from '../support/agentHarness.ts'
import { textIn } from '../support/brakeLog.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const found = 'found '.repeat(300)
const look = tool('look', () => found, { effects: 'none' })
const step = tool('step', () => 'ok', { effects: 'none' })

const ask = (prefix: string, category: RevertCategory = 'completion', to = 'n1', words = 90): ScriptedReply =>
  calls(prefix, [
    'revert_to_state',
    { category, step: to, summary: `The lexer is done. ${'word '.repeat(words)}`.trim() },
  ])
/** So many replies that call a tool whose result is short. */
const steps = (count: number, prefix = 's'): ScriptedReply[] =>
  Array.from({ length: count }, (_, at) => calls(`${prefix}${at}-`, 'step'))

const start = (context: CaseContext, replies: readonly ScriptedReply[], options: HarnessOptions = {}) =>
  startAgent(context, {
    braking: { revert: { defer: 'uneconomic' } },
    tools: [look, step],
    checkRequests: true,
    replies,
    ...options,
  })

const outcomes = ({ ofType }: Harness) => ofType('revert.applied').map(({ applied, reason }) => [applied, reason])
const shown = ({ script }: Harness, at: number): string => textIn(script.requests.at(at)!.messages)

/** The agent again, from a log, in another process. */
async function resume({ cleanup }: CaseContext, log: readonly LogRecord[], model: Model) {
  const store = memoryStore()
  const lease = await store.open('a1')
  await store.append('a1', log)
  await lease.release()
  const runtime = await createRuntime({ store, clock: simulatedClock() })
  cleanup(() => runtime.close())
  const braking = { revert: { defer: 'uneconomic' } } as const
  const definition = defineAgent({ name: 'tester', model, tools: [look, step], braking, checkRequests: true })
  const resumed = await runtime.resume('a1', definition, { continue: false })
  const events: AgentEvent[] = []
  resumed.subscribe((event) => void events.push(event))
  const records = async (): Promise<LogRecord[]> => {
    const all: LogRecord[] = []
    for await (const record of store.read('a1')) all.push(record)
    return all
  }
  return { resumed, events, records }
}

describe('a completion that does not pay yet', (it) => {
  it('is held back: what it would condense is still shown, and the model is told to go on', async (context) => {
    const harness = await start(context, [calls('a', 'look'), ask('b'), ...steps(1), 'done'])
    await harness.agent.prompt('go').result
    assert.match(shown(harness, 2), /found found/)
    assert.match(resultsOf(harness.script.requests[2]).at(-1)!, /it is held back until it pays. Then go on/)
    assert.not.match(shown(harness, 2), /brake-note/)
    const requested = harness.ofType('revert.requested')[0]!.seq
    assert.ok(harness.ofType('revert.applied')[0]!.seq > requested + 5, 'it was not answered in its own turn')
  })

  it('is refused at the end of its run when it never paid, and nothing is lost', async (context) => {
    const harness = await start(context, [
      calls('a', 'look'),
      ask('b', 'completion', 'n1', 250),
      ...steps(1),
      'done',
      'more',
    ])
    await harness.agent.prompt('go').result
    const [[applied, reason]] = outcomes(harness) as [[boolean, string]]
    assert.is(applied, false)
    assert.match(reason, /^revert refused: it would not have paid \(it frees \d+ tokens and pays after \d+ requests/)
    await harness.agent.prompt('and now?').result
    assert.match(shown(harness, -1), /found found[^]*it would not have paid/)
    assert.is(harness.agent.conversation.abandoned().length, 0)
  })

  it('is carried out once it pays, and what was done since stays', async (context) => {
    const harness = await start(context, [calls('a', 'look'), ask('b'), ...steps(12), 'done'])
    await harness.agent.prompt('go').result
    const [prune] = harness.ofType('prune.applied')
    assert.equal(prune!.steps, [2, 4], 'the span, and nothing after the step that asked')
    assert.match(prune!.memo!, /^outcome: The lexer is done\.[^]*evidence: look \(1 attempt\)$/)
    assert.match(outcomes(harness)[0]![1] as string, /held back[^]*n2–n4 is hidden instead/)
    const pays = prune!.economics!
    const requests = harness.ofType('turn.start').filter(({ seq }) => seq < prune!.seq).length
    assert.ok(requests > 3, `after ${requests} requests`)
    // What asking has cost is spent either way.
    assert.ok((11.5 * pays.rewritten) / pays.freed < requests)
    const last = harness.script.requests.at(-1)!
    assert.not.match(textIn(last.messages), /found found/)
    assert.match(textIn(last.messages), /kind="memo" span="n2–n4">outcome: The lexer is done/)
    assert.is(resultsOf(last).length, 12)
    assert.is(harness.agent.conversation.abandoned().length, 0)
  })

  it('is looked at once a turn', async (context) => {
    const harness = await start(context, [calls('a', 'look'), ask('b', 'completion', 'n1', 250), ...steps(2), 'done'])
    await harness.agent.prompt('go').result
    const drains = harness.ofType('state.changed').filter(({ state }) => state === 'draining.reverts').length
    // After the reply that asked, each of the two that follow, and the last.
    assert.is(drains, 4)
  })

  it('is carried out before a compaction, which it may spare', async (context) => {
    const big = tool('big', () => 'big '.repeat(500), { effects: 'none' })
    const replies = [calls('a', 'big'), ask('b', 'completion', 'n1', 400), ...steps(2), calls('c', 'big'), 'done']
    const compaction = { contextWindow: 2_600, keepRecent: 1, maxSummaryTokens: 100 }
    const harness = await start(context, replies, { tools: [big, step], compaction, check: false })
    await harness.agent.prompt('go').result
    const [prune] = harness.ofType('prune.applied')
    assert.equal(prune?.steps, [2, 4])
    assert.ok(prune!.economics!.paysAfter! > 20, 'it would not have paid')
    assert.equal(
      harness.ofType('compaction.start').filter(({ seq }) => seq < prune!.seq),
      [],
    )
  })

  it('asks no model for its text before it is carried out', async (context) => {
    const silent = calls('b', ['revert_to_state', { category: 'step-summary', step: 'n1' }])
    const harness = await start(context, [calls('a', 'look'), silent, ...steps(3), 'done'])
    await harness.agent.prompt('go').result
    assert.is(harness.script.requests.length, 6)
    assert.match(outcomes(harness)[0]![1] as string, /would not have paid/)
  })

  it('waits while another revert is applied, and is refused when that took its span away', async (context) => {
    const harness = await start(context, [
      calls('a', 'look'),
      ask('b'),
      ...steps(1),
      ask('c', 'failure', 'n3', 1),
      ...steps(1, 't'),
      'done',
    ])
    await harness.agent.prompt('go').result
    const [first, second] = harness.ofType('revert.applied')
    assert.equal([first!.applied, first!.category], [true, 'failure'])
    assert.equal([second!.applied, second!.category], [false, 'completion'])
    assert.match(second!.reason!, /what it was to condense is no longer on the trunk/)
  })
})

describe('never held back', (it) => {
  it('are a completion that pays at once, failures, tangents, and what a person asks for', async (context) => {
    const pays = await start(context, [calls('a', 'look'), calls('b', 'look'), ask('c', 'completion', 'n1', 2), 'done'])
    await pays.agent.prompt('go').result
    assert.equal(outcomes(pays), [[true, undefined]])
    for (const category of ['failure', 'tangent'] as const) {
      const harness = await start(context, [...steps(1), ask('b', category), 'done'])
      await harness.agent.prompt('go').result
      assert.equal(outcomes(harness), [[true, undefined]], category)
    }
    const byHand = await start(context, [...steps(1), 'done'])
    await byHand.agent.prompt('go').result
    byHand.agent.revert('n1', { category: 'completion', summary: 'word '.repeat(300) })
    await byHand.until(({ type }) => type === 'revert.applied')
    assert.equal(outcomes(byHand), [[true, undefined]])
  })

  it('is anything by default: the tool and its answer are as ever', async (context) => {
    const harness = await start(context, [...steps(1), ask('b'), 'done'], { braking: { revert: true } })
    await harness.agent.prompt('go').result
    assert.equal(outcomes(harness), [[true, undefined]])
    const [spec] = harness.script.requests[0]!.tools.filter(({ name }) => name === 'revert_to_state')
    assert.not.match(spec!.description, /held back/)
  })
})

describe('a held-back completion', (it) => {
  it('survives a pause and the end of the process, and is carried out after the resume', async (context) => {
    const harness = await start(context, [calls('a', 'look'), ask('b'), ...steps(14), 'done'], { check: false })
    const { agent, runtime, records } = harness
    const result = await agent.prompt('go', { limits: { turns: 3 } }).result
    assert.is(result.stopReason, 'paused')
    assert.is(harness.ofType('revert.applied').length, 0)
    const log = await records()
    await runtime.close()
    const { resumed, events } = await resume(context, log, scriptedModel([...steps(12, 'z'), 'done']))
    await resumed.resume({ limits: { turns: 20 } }).result
    const hidden = events.flatMap((event) => (event.type === 'prune.applied' ? [event.steps] : []))
    assert.equal(hidden, [[2, 4]])
    assert.is(events.filter(({ type }) => type === 'revert.applied').length, 1)
  })

  it('is answered once, wherever in the log the process died', { timeoutMs: 20_000 }, async (context) => {
    const harness = await start(context, [calls('a', 'look'), ask('b'), ...steps(5), 'done'])
    await harness.agent.prompt('go').result
    const whole = await harness.records()
    assert.ok(whole.some(({ type }) => type === 'prune.applied'))
    for (let length = 2; length < whole.length; length++) {
      const { resumed, records } = await resume(
        context,
        whole.slice(0, length),
        policyModel(() => 'done'),
      )
      if (resumed.state === 'paused') await resumed.resume().result
      const types = (await records()).map(({ type }) => type)
      const count = (wanted: string): number => types.filter((type) => type === wanted).length
      assert.is(count('revert.applied'), count('revert.requested'), `cut after record ${length}`)
      assert.ok(count('prune.applied') <= 1, `cut after record ${length}`)
      assert.is(resumed.state, 'idle', `cut after record ${length}`)
    }
  })

  it('is refused when its run is aborted', async (context) => {
    const harness = await start(context, [calls('a', 'look'), ask('b'), calls('c', 'wait'), 'done'], {
      tools: [
        look,
        step,
        tool('wait', (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve('x')))),
      ],
    })
    const run = harness.agent.prompt('go')
    await harness.until((event) => event.type === 'tool.start' && event.name === 'wait')
    harness.agent.abort()
    await run.result
    assert.equal(outcomes(harness), [[false, 'revert refused: the run was aborted']])
  })

  it('is settled at rest when its run failed', async (context) => {
    const harness = await start(
      context,
      [calls('a', 'look'), ask('b', 'completion', 'n1', 250), { error: { kind: 'badRequest', message: 'down' } }],
      {
        retry: { attempts: 1 },
        check: false,
      },
    )
    await harness.agent.prompt('go').result
    await harness.until(({ type }) => type === 'revert.applied')
    assert.match(outcomes(harness)[0]![1] as string, /would not have paid/)
  })
})
