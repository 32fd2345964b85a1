import {
  createRuntime,
  defineAgent,
  memoryStore,
  type AgentOptions,
  type LogRecord,
  type ModelRequest,
} from '../../src/index.ts'
import type { RecordOf } from '../../src/protocol/records.ts'
import { chart } from '../../packages/charts/src/chart.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { cutStore, recordsOf, settled } from '../journeys/cutLogs.ts'
import { calls, startAgent, tool, withCode } from '../support/agentHarness.ts'
import { notesIn, textIn } from '../support/brakeLog.ts'
import { MachineDriver } from '../support/machineDriver.ts'
import { assert, describe } from '../support/suite.ts'
import { called, replied, text } from '../machines/agentScript.ts'

/** Folds early enough for short runs. */
const early = { work: 300, minBatch: 300, keepSteps: 2, indexTokens: 100, cap: 20_000, leastRequests: 0 } as const

const noFlags = { revert: false, prune: false, fold: false, stall: false, policies: false, compact: false }

const look = tool('look', ({ at }) => `seen${String(at)}Thing\n${'word '.repeat(240)}`, { effects: 'none' })

/** A worker that looks so many times, each time at what comes after the last; it decides by the last result alone. */
function worker(times: number, options: Partial<AgentOptions> = {}, input: object = {}) {
  const requests: ModelRequest[] = []
  const model = policyModel((request) => {
    requests.push(request)
    const { role, content } =
      request.messages.findLast((message) => message.role === 'toolResult') ?? request.messages[0]!
    const last = content[0]?.type === 'text' ? /^seen(\d+)Thing/.exec(content[0].text)?.[1] : undefined
    const at = role === 'toolResult' ? Number(last) + 1 : 1
    return at > times ? 'done' : { toolCalls: [{ name: 'look', input: { at, ...input } }] }
  })
  const definition = defineAgent({
    name: 'worker',
    model,
    tools: [look],
    checkRequests: true,
    compaction: false,
    braking: { fold: early },
    ...options,
  })
  return { definition, requests }
}

const shown = (requests: readonly ModelRequest[]): string[] =>
  requests.map(({ messages }) => JSON.stringify(messages).replaceAll(/call_\d+/g, 'call'))

async function run(times: number, options: Partial<AgentOptions> = {}, input: object = {}) {
  const { definition, requests } = worker(times, options, input)
  const store = memoryStore()
  const runtime = await createRuntime({ store })
  const agent = await runtime.spawn(definition, { id: 'w' })
  const result = await agent.prompt('the task').result
  const records = await recordsOf(store, 'w')
  await runtime.close()
  return { result, records, requests }
}

const foldsIn = (records: readonly LogRecord[]) =>
  records.flatMap((record) => (record.type === 'prune.applied' && record.by === 'runtime' ? record : []))

/** A fold without what a crash changes: the place of its record, which is part of its id. */
const shapeOf = ({ steps, tokens, memo, index, rolled = [] }: RecordOf<'prune.applied'>) => ({
  steps,
  tokens,
  memo,
  index,
  rolled: rolled.map(({ folds, ...part }) => ({ ...part, folds: folds.length })),
})

describe('an agent that folds', (it) => {
  it('keeps its requests small over a long run, and breaks the prefix once a fold', async () => {
    const plain = await run(60, { braking: { recall: true } })
    const folded = await run(60)
    const sizes = (requests: readonly ModelRequest[]) => requests.map((request) => textIn(request.messages).length)
    const [whole, small] = [Math.max(...sizes(plain.requests)), Math.max(...sizes(folded.requests))]
    assert.ok(small < whole / 2, `${small} of ${whole}`)
    const folds = foldsIn(folded.records)
    assert.ok(folds.length >= 3)
    const breaks = folded.requests.filter((request, index) => {
      const before = folded.requests[index - 1]?.messages ?? []
      return before.some((message, at) => JSON.stringify(message) !== JSON.stringify(request.messages[at]))
    })
    assert.is(breaks.length, folds.length)
    assert.is(folded.result.stopReason, 'stop')
  })

  it('records each fold once, with a line for each step, and asks nobody', async () => {
    const { records } = await run(40)
    for (const { steps, memo, applied, id } of foldsIn(records)) {
      assert.ok(applied && /^w\/fold\/\d+$/.test(id))
      assert.equal(
        memo?.split('\n').map((line) => /^n(\d+) look at=\d+$/.exec(line)?.[1]),
        steps.map(String),
      )
    }
    assert.not.ok(records.some(({ type }) => type === 'prune.requested'))
  })

  it('shows the model ids, memos and the index, and lets it recall a folded step', async (context) => {
    const { agent, script, ofType } = await startAgent(context, {
      braking: { fold: early },
      tools: [look],
      replies: [
        ...Array.from({ length: 20 }, (_, at) => calls(`c${at}-`, ['look', { at }])),
        calls('r', ['recall', { step: 'n2' }]),
        'done',
      ],
    })
    await agent.prompt('the task').result
    assert.ok(ofType('prune.applied').length > 0)
    const last = script.requests.at(-1)!.messages
    assert.equal([...new Set(notesIn(last).map((note) => /kind="(\w+)"/.exec(note)?.[1]))], ['memo', 'index'])
    const recalled = ofType('tool.end').at(-1)!.message
    assert.is(recalled.isError, false)
    assert.match(textIn([{ role: 'user', content: recalled.content }]), /n2[\s\S]*seen0Thing/)
  })

  const crashes = {
    'and folds': [24, {}],
    'rolls memos up and folds': [90, { path: 'some/long/path/'.repeat(8) }],
  } as const
  for (const [what, [times, input]] of Object.entries(crashes))
    it(`after a crash makes the same requests ${what} the same`, { timeoutMs: 30_000 }, async () => {
      const whole = await run(times, {}, input)
      const told = new Set(shown(whole.requests))
      const isRolling = times > 24
      const folds = foldsIn(whole.records)
      assert.ok(folds.length >= 1)
      assert.is(
        folds.some(({ rolled }) => rolled !== undefined),
        isRolling,
      )
      let compared = 0
      for (let cut = 4; cut < whole.records.length; cut++) {
        // The first case dies at any record, the other around its folds.
        if (isRolling && !folds.some(({ seq }) => Math.abs(seq - cut) <= 1)) continue
        const left = await cutStore('w', whole.records.slice(0, cut))
        const again = worker(times, {}, input)
        const runtime = await createRuntime({ store: left })
        const agent = await runtime.resume('w', again.definition, { continue: false })
        if (agent.pause !== null) {
          const ended = settled(agent)
          agent.resume()
          await ended
        }
        for (const request of shown(again.requests)) {
          assert.ok(told.has(request), `cut at ${cut}`)
          compared += 1
        }
        assert.equal(foldsIn(await recordsOf(left, 'w')).map(shapeOf), folds.map(shapeOf), `cut at ${cut}`)
        await runtime.close()
      }
      assert.ok(compared > whole.requests.length)
    })

  it('without the flag has the requests, records, tools, chart and machine of one that never knew of it', async (context) => {
    const session = async (braking: AgentOptions['braking']) => {
      const { agent, script, records } = await startAgent(context, {
        braking: braking!,
        tools: [look],
        replies: [
          ...Array.from({ length: 30 }, (_, at) => calls(`c${at}-`, ['look', { at }])),
          calls('r', ['revert_to_state', { category: 'failure', step: 'n40', summary: 'no good' }]),
          calls('p', ['prun', { steps: ['n4'], memo: 'looked' }]),
          'done',
        ],
      })
      await agent.prompt('the task').result
      const definition = defineAgent({ name: 'tester', model: scriptedModel([]), tools: [look], braking: braking! })
      const { tools, toolSpecs, policy } = definition
      return {
        requests: script.requests,
        records: await records(),
        tools: [[...tools.keys()], toolSpecs],
        policy,
        chart: chart(definition, { format: 'json' }),
      }
    }
    const never = await session({ revert: true, prune: true })
    const off = await session({ revert: true, prune: true, fold: false })
    assert.is(JSON.stringify(off), JSON.stringify(never))
    assert.equal(foldsIn(never.records), [])
    const on = await session({ revert: true, prune: true, fold: early })
    assert.ok(foldsIn(on.records).length > 1)
    for (const part of ['requests', 'records', 'tools', 'policy', 'chart'] as const)
      assert.is.not(JSON.stringify(on[part]), JSON.stringify(never[part]), part)
    const machine = (fold: boolean) => {
      const driver = new MachineDriver({ policy: { flags: { ...noFlags, revert: true, prune: true, fold } } })
      driver.send({ type: 'prompt', id: 'q1', content: text('go'), at: 2_000 })
      const reply = driver.child('streamReply')
      driver.finish(
        reply,
        replied(reply, { calls: ['a'], contextTokens: 5_000, ...(fold ? { foldAt: 4_000 } : {}) }, 2_001),
      )
      const call = driver.child('runTool', 'call.0')
      driver.finish(call, called(call, { at: 2_002 }))
      return [driver.context.foldAt, driver.state]
    }
    assert.equal(machine(false), [null, 'replying.requesting'])
    assert.equal(machine(true), [4_000, 'draining.folding'])
  })

  it('neither folds nor differs without the flag', async () => {
    const { definition } = worker(1, { braking: {} })
    assert.is(definition.policy.flags.fold, false)
    assert.not.ok(definition.tools.has('recall'))
    const plain = await run(30, { braking: { prune: true } })
    assert.equal(foldsIn(plain.records), [])
    for (const request of plain.requests) assert.equal(notesIn(request.messages), [])
  })

  for (const [title, options, said] of [
    ['a share of more than one', { phi: 1.5 }, 'phi'],
    ['no room for work', { work: 0 }, 'work'],
    ['steps that are no whole number', { keepSteps: 1.5 }, 'keepSteps'],
    ['an option it does not know', { batch: 3 }, 'batch'],
    ['a cap below what cannot be folded', { cap: 3_000 }, 'cap'],
  ] as const) {
    it(`refuses ${title}`, () => {
      assert.throws(
        () => worker(1, { braking: { fold: options as never } }).definition,
        withCode('INVALID_DEFINITION', said),
      )
    })
  }
})

describe('a fold that somebody asks for', (it) => {
  it('takes every step that may be folded, at rest and in mid-run', async (context) => {
    const { agent, ofType, script, until } = await startAgent(context, {
      braking: { fold: { keepSteps: 1 } },
      tools: [look, tool('ask', () => agent.fold())],
      replies: [calls('a', ['look', { at: 1 }]), calls('b', ['look', { at: 2 }]), calls('c', 'ask'), 'done', 'more'],
    })
    await agent.prompt('go').result
    const [inMidRun] = ofType('prune.applied')
    assert.equal([inMidRun?.steps, inMidRun?.by, inMidRun?.applied], [[2, 4], 'runtime', true])
    assert.match(notesIn(script.requests[3]!.messages).join(), /kind="memo" span="n2–n4"/)
    agent.fold()
    await until((event) => event.type === 'prune.applied' && event.id !== inMidRun?.id)
    const [, atRest] = ofType('prune.applied')
    assert.equal(atRest?.steps, [6])
    await agent.prompt('go on').result
    assert.match(notesIn(script.requests[4]!.messages).join(), /n6 ask/)
  })

  it('leaves to another request of the same drain what that one hides', async (context) => {
    const { agent, ofType } = await startAgent(context, {
      braking: { fold: { keepSteps: 0 } },
      tools: [
        look,
        tool('ask', () => {
          agent.prune({ steps: ['n2'], memo: 'mine' })
          agent.fold()
          agent.fold()
        }),
      ],
      replies: [calls('a', ['look', { at: 1 }]), calls('b', ['look', { at: 2 }]), calls('c', 'ask'), 'done'],
    })
    await agent.prompt('go').result
    assert.equal(
      ofType('prune.applied').map(({ applied, steps, reason }) => [applied, steps, reason]),
      [
        [true, [2], undefined],
        [true, [4, 6], undefined],
        [false, [], 'fold refused: there is no step that may be folded'],
      ],
    )
  })

  it('is refused by an agent that does not fold', async (context) => {
    const { agent } = await startAgent(context, { braking: { revert: true, prune: true } })
    assert.throws(() => agent.fold(), withCode('BRAKING_OFF'))
  })
})
