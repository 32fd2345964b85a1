import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decide } from '../../packages/policies/src/decide.ts'
import { keep } from '../../packages/policies/src/keep.ts'
import { policy, type Keeper, type PolicyOptions } from '../../src/actors/define/policy.ts'
import { heuristicScorer, modelScorer } from '../../packages/policies/src/scorers.ts'
import { when } from '../../packages/policies/src/when.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import type { Memory } from '../../src/protocol/ports/memory.ts'
import { noUsage } from '../../src/protocol/messages.ts'
import { importSession } from '../../packages/sessions/src/importSession.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { defineAgent } from '../../packages/define/src/defineAgent.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { ends, Lives, until } from '../support/lives.ts'
import { emptyMemory, noMemory } from '../../packages/tools/test/memory/memorySupport.ts'
import { calls, startAgent, tool, type Harness } from '../support/agentHarness.ts'
import { notesIn } from '../support/brakeLog.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const look = tool('look', () => 'seen '.repeat(400), { effects: 'none' })
const oldest = decide.oldest({ downTo: 100, keepSteps: 1 })

/** An agent that looks four times, then is done, with one policy. */
const looker = (context: Pick<CaseContext, 'cleanup'>, parts: Partial<PolicyOptions>): Promise<Harness> =>
  startAgent(context, {
    replies: [...['a', 'b', 'c', 'd'].map((prefix) => calls(prefix, ['look', { at: prefix }])), 'done', 'more'],
    tools: [look],
    braking: { policies: [policy({ name: 'tidy', when: when.tokensOver(1_000), decide: oldest, ...parts })] },
    checkRequests: true,
  })

async function worked(context: Pick<CaseContext, 'cleanup'>, parts: Partial<PolicyOptions>): Promise<Harness> {
  const harness = await looker(context, parts)
  await harness.agent.prompt('go').result
  return harness
}

const startsOf = ({ ofType }: Harness) => ofType('policy.start').map(({ why, turn }) => [turn, why])
const endsOf = ({ ofType }: Harness) => ofType('policy.end').map(({ outcome, reason }) => [outcome, reason])
const memosOf = ({ ofType }: Harness) => ofType('prune.applied').map(({ memo }) => memo)
const hiddenIn = ({ ofType }: Harness): number[] => ofType('prune.applied').flatMap(({ steps }) => steps)

describe('triggers of an agent', (it) => {
  it('fire above so many tokens', async (context) => {
    const harness = await worked(context, { when: when.tokensOver(1_000) })
    const [first] = startsOf(harness)
    assert.is(first![0], 2)
    assert.match(String(first![1]), /^1,\d{3} tokens, over 1,000$/)
    assert.equal(hiddenIn(harness), [2, 4, 6])
  })

  it('fire every so many turns', async (context) => {
    const harness = await worked(context, { when: when.everyTurns(2) })
    assert.equal(
      startsOf(harness).map(([turn]) => turn),
      [2, 4],
    )
  })

  it('fire before requests become too large', async (context) => {
    const harness = await worked(context, { when: when.willOverflow({ turns: 400 }) })
    assert.match(String(startsOf(harness)[0]![1]), /tokens in 400 turns, over 170,000$/)
  })

  it('fire for what was worth little, with what was scored told', async (context) => {
    const told: string[] = []
    const harness = await worked(context, {
      when: when.valueBelow(heuristicScorer, {
        below: 0.5,
        window: 1,
        turns: 2,
        onScore: ({ step, score }) => void told.push(`${step} ${score}`),
      }),
      decide: decide.scored(heuristicScorer, { below: 0.5, keepSteps: 1 }),
    })
    assert.equal(told, ['n2 0.2', 'n4 0.2', 'n6 0.2', 'n8 0.2', 'n10 0.5'])
    assert.equal(startsOf(harness), [
      [2, 'average score 0.20, below 0.5 for 2 turns'],
      [4, 'average score 0.20, below 0.5 for 2 turns'],
    ])
    assert.equal(hiddenIn(harness), [2, 4, 6])
  })

  it('pay for the model that scores, once for each step', async (context) => {
    const small = scriptedModel(Array.from({ length: 5 }, () => ({ text: '1', usage: { ...noUsage, input: 50 } })))
    const harness = await worked(context, {
      when: when.valueBelow(modelScorer(small), { below: 0.5, window: 2, turns: 3 }),
    })
    assert.is(small.requests.length, 5)
    assert.equal(startsOf(harness), [[4, 'average score 0.00, below 0.5 for 3 turns']])
  })

  it('cost an event when the scorer fails', async (context) => {
    const harness = await worked(context, { when: when.valueBelow(() => Number.NaN, { below: 0.5 }), retryTurns: 9 })
    const [[outcome, reason]] = endsOf(harness) as [[string, string]]
    assert.is(outcome, 'failed')
    assert.match(reason, /^when\.valueBelow: the scorer gave NaN for n2/)
    assert.equal(hiddenIn(harness), [])
  })

  it('fire for a loop', async (context) => {
    const harness = await startAgent(context, {
      replies: [...['a', 'b', 'c'].map((prefix) => calls(prefix, 'look')), 'done'],
      tools: [look],
      braking: { policies: [policy({ name: 'tidy', when: when.stalled(), decide: oldest })] },
    })
    await harness.agent.prompt('go').result
    assert.equal(startsOf(harness), [[3, 'the same call with the same result 3 times: look']])
  })

  it('fire by request alone', async (context) => {
    const harness = await worked(context, { when: when.onRequest() })
    assert.equal(startsOf(harness), [])
    harness.agent.brake('tidy')
    await harness.until(({ type }) => type === 'prune.applied')
    assert.equal(hiddenIn(harness), [2, 4, 6, 8])
  })

  it('fire in the background, once the agent is at rest', async (context) => {
    const harness = await looker(context, { when: when.allOf(when.whileIdle(), when.tokensOver(1_000)) })
    await harness.agent.prompt('go').result
    await harness.until(({ type }) => type === 'prune.applied')
    assert.match(JSON.stringify(startsOf(harness)), /^\[\[5,"the agent is at rest; \d,\d{3} tokens, over 1,000"\]\]$/)
    assert.is(harness.agent.state, 'idle')
  })
})

describe('what an agent keeps of hidden steps', (it) => {
  const notesAtEnd = ({ script }: Harness): readonly string[] => notesIn(script.requests.at(-1)!.messages)

  for (const [keeper, note] of [
    [keep.line(), /<brake-note kind="memo" span="n2">n2 look at=a</],
    [keep.notes(), /<brake-note kind="memo" span="n2">n2 look at=a</],
    [keep.rollUp(), /<brake-note kind="memo" span="n2">n2 look at=a</],
  ] as const satisfies readonly (readonly [Keeper, RegExp])[])
    it(`is a line with ${keeper.name}`, async (context) => {
      const harness = await worked(context, { keep: keeper })
      assert.match(notesAtEnd(harness).join('\n'), note)
    })

  it('is nothing with nothing()', async (context) => {
    const harness = await worked(context, { keep: keep.nothing() })
    assert.equal([hiddenIn(harness), notesAtEnd(harness)], [[2, 4, 6], []])
  })

  it('are the calls with masked()', async (context) => {
    const harness = await worked(context, { keep: keep.masked() })
    assert.ok(harness.ofType('prune.applied').every(({ masked }) => masked === true))
    const { messages } = harness.script.requests.at(-1)!
    const shown = JSON.stringify(messages)
    assert.is(shown.match(/"toolCall"/g)?.length, 4)
    assert.is(shown.match(/(?:seen ){400}/g)?.length, 1)
  })

  it('is what a model wrote, and its cost is counted', async (context) => {
    const small = scriptedModel(
      Array.from({ length: 3 }, () => ({ text: 'It looked.', usage: { ...noUsage, input: 70, output: 5 } })),
    )
    const harness = await worked(context, { keep: keep.summary(small) })
    assert.equal(memosOf(harness), ['It looked.', 'It looked.', 'It looked.'])
    assert.equal(
      harness.ofType('policy.end').map(({ usage }) => usage?.input),
      [70, 70, 70],
    )
  })

  it('goes to a memory, and nothing is hidden while it is away', async (context) => {
    const store = emptyMemory(context)
    let isAway = true
    const memory: Memory = {
      ...noMemory,
      put: async (record) => {
        if (isAway) throw new Error('the database is away')
        return store.put(record)
      },
    }
    const extract = () => [{ text: 'looked' }]
    const harness = await worked(context, {
      keep: keep.memory(memory, { extract }),
      retryTurns: 1,
      when: when.everyTurns(2),
    })
    assert.equal(endsOf(harness), [
      ['failed', 'the database is away'],
      ['failed', 'the database is away'],
    ])
    assert.equal(hiddenIn(harness), [])
    isAway = false
    harness.agent.brake('tidy')
    await harness.until(({ type }) => type === 'prune.applied')
    const [record, ...more] = await store.list()
    assert.equal(
      [record!.scope, record!.text, record!.tainted, record!.source, more],
      ['agent:tester', 'looked', true, { by: 'extraction', agentId: 'a1', runId: 'a1/r0' }, []],
    )
    assert.match(memosOf(harness)[0]!, /Put into memory:\n- looked\n\(recall brings/)
  })

  it('is in a memory once when the process died after the memory had it', async (context) => {
    const store = emptyMemory(context)
    let puts = 0
    const stored = Promise.withResolvers<void>()
    const memory: Memory = {
      ...noMemory,
      put: async (record) => {
        const known = await store.put(record)
        if ((puts += 1) > 1) return known
        stored.resolve()
        return new Promise<never>(() => {})
      },
    }
    const tidy = policy({
      name: 'tidy',
      when: when.onRequest(),
      decide: oldest,
      keep: keep.memory(memory, { extract: () => [{ text: 'looked' }] }),
    })
    const replies = [...['a', 'b'].map((prefix) => calls(prefix, ['look', { at: prefix }])), 'done']
    const definition = defineAgent({
      name: 'tester',
      model: scriptedModel(replies),
      tools: [look],
      braking: { policies: [tidy] },
    })
    const lives = new Lives(context)
    const first = await lives.begin(definition, 'go')
    await ends(first.agent)
    first.agent.brake('tidy')
    await stored.promise
    const logs = await first.logs()
    assert.is(logs['a1']!.filter(({ type }) => type === 'policy.end').length, 0)
    const second = await lives.resume(definition, logs)
    await until(second.agent, ({ type }) => type === 'prune.applied')
    assert.equal([(await store.list()).map(({ text }) => text), puts], [['looked'], 2])
  })

  it('stands in an archive that can be imported', async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'archive-'))
    context.cleanup(() => rm(folder, { recursive: true }))
    const harness = await worked(context, { keep: keep.archive(folder) })
    const [name, ...others] = await readdir(folder)
    assert.equal(others, [])
    assert.match(memosOf(harness)[0]!, new RegExp(`Archived in .*${name}`))
    const text = await readFile(join(folder, name!), 'utf8')
    const store = memoryStore()
    const {
      agentIds: [agentId],
    } = await importSession(store, [text])
    const records = []
    for await (const record of store.read(agentId!)) records.push(record)
    // All that stood in the log when the last steps were hidden.
    assert.equal(
      rebuildConversation(records)
        .trunk()
        .map(({ id }) => id),
      [1, 2, 3, 4, 5, 6, 7, 8, 9],
    )
  })
})
