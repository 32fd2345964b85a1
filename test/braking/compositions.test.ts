import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineAgent } from '../../packages/define/src/defineAgent.ts'
import { compositions, type Composition } from '../../packages/policies/src/compositions.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import type { Model } from '../../src/protocol/ports/model.ts'
import {
  scriptedModel,
  type ScriptedModel,
  type ScriptedReply,
} from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { cutStore, recordsOf, settled } from '../journeys/cutLogs.ts'
import {
  calls,
  quiet,
  saidIn,
  startAgent,
  tool,
  withCode,
  type Harness,
  type HarnessOptions,
} from '../support/agentHarness.ts'
import { notesIn, textIn } from '../support/brakeLog.ts'
import { emptyMemory, noMemory } from '../../packages/tools/test/memory/memorySupport.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

/** About 300 tokens a step: a window of 12,000 is half full after twenty. */
const read = tool('read_file', (input) => `${(input as { path: string }).path} ${'some words of it '.repeat(60)}`, {
  effects: 'none',
})
const contextWindow = 12_000
const paths = Array.from({ length: 44 }, (_, n) => `src/module${n}/file${n}.ts`)
const reads = (list = paths): ScriptedReply[] =>
  list.map((path, n) => ({
    text: `Now ${path}.`,
    toolCalls: [{ name: 'read_file', input: { path }, callId: `c${n}` }],
  }))

type Case = Pick<CaseContext, 'cleanup'>

/** An agent that reads many files, while a person says something more. */
async function reading(context: Case, composition: Composition, more: HarnessOptions = {}): Promise<Harness> {
  const harness = await startAgent(context, {
    replies: [...reads(), 'done'],
    tools: [read],
    checkRequests: true,
    ...composition,
    ...more,
  })
  const run = harness.agent.prompt('Correct the price.')
  await harness.until((event) => event.type === 'tool.end' && event.turnIndex === 4)
  harness.agent.steer('And mind the tax.')
  const { stopReason } = await run.result
  assert.is(stopReason, 'stop')
  // What people said is in every request after it.
  for (const request of harness.script.requests.slice(6)) {
    const said = saidIn(request).join('\n')
    assert.ok(said.includes('Correct the price.') && said.includes('And mind the tax.'))
  }
  return harness
}

const fired = ({ ofType }: Harness): string[] => ofType('policy.start').map(({ policy }) => policy)
const ends = ({ ofType }: Harness) => ofType('policy.end').map(({ outcome, reason }) => [outcome, reason])
const hidden = ({ ofType }: Harness): number[] => ofType('prune.applied').flatMap(({ steps }) => steps)
const toolsOf = ({ script }: Harness): string[] => script.requests[0]!.tools.map(({ name }) => name)
const peak = ({ script }: Harness): number =>
  Math.max(...script.requests.map(({ messages }) => Math.ceil(textIn(messages).length / 4)))
const always = (reply: ScriptedReply): ScriptedModel => scriptedModel(Array.from({ length: 40 }, () => reply))
const summariser = () => always('Files were read; nothing was decided.')
const planning = (plan: object) => always(JSON.stringify(plan))

describe('compositions', (it) => {
  it('baseline: a compaction by no model, and nothing of the braking layer', async (context) => {
    const harness = await reading(context, compositions.baseline({ contextWindow }))
    assert.ok(harness.ofType('compaction.end').some(({ applied }) => applied))
    assert.equal([toolsOf(harness), fired(harness)], [['read_file'], []])
    assert.is(defineAgent({ name: 'a', model: harness.script, ...compositions.baseline() }).braking, null)
  })

  it('layered: a model condenses the older half, and a memory has what is worth it', async (context) => {
    const [model, memory] = [summariser(), emptyMemory(context)]
    const harness = await reading(context, compositions.layered({ contextWindow, model, memory, focus: 'prices' }))
    assert.ok(hidden(harness).length > 5)
    assert.match(notesIn(harness.script.requests.at(-1)!.messages)[0]!, /Files were read; nothing was decided\./)
    assert.match(model.requests[0]!.system, /Above all keep: prices/)
    const facts = await memory.list({ scopes: ['agent:tester'] })
    assert.ok(facts.length > 0 && facts.every(({ source }) => source.by === 'extraction'))
    assert.ok(peak(harness) < 0.85 * contextWindow)
    assert.is(harness.ofType('compaction.end').length, 0)
  })

  it('layered: nothing is hidden when the memory fails', async (context) => {
    const memory = { ...noMemory, put: () => Promise.reject(new Error('the disk is full')) }
    const harness = await reading(context, compositions.layered({ contextWindow, model: summariser(), memory }))
    assert.equal([hidden(harness), ends(harness)[0]], [[], ['failed', 'the disk is full']])
    // The compaction is still there.
    assert.ok(harness.ofType('compaction.end').some(({ applied }) => applied))
  })

  it('layered: what piles up is condensed again by the model', async (context) => {
    const model = summariser()
    const harness = await reading(context, compositions.layered({ contextWindow, model, over: 0.99 }))
    assert.equal(hidden(harness), [])
    assert.match(textIn(harness.script.requests.at(-1)!.messages), /Files were read; nothing was decided\./)
  })

  it('reviewed: an agent that leaves no trace chooses, once it is large', async (context) => {
    const model = planning({ hide: ['n2', 'n4'], why: 'used up' })
    const harness = await reading(context, compositions.reviewed({ contextWindow, model }))
    assert.equal(hidden(harness).slice(0, 2), [2, 4])
    assert.equal(ends(harness)[0], ['planned', 'used up'])
    assert.ok(toolsOf(harness).includes('recall'))
    assert.match(harness.ofType('policy.start')[0]!.why, /turns since.*tokens, over 6,000/)
  })

  it('reviewed: by an agent of yours, with an archive', async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'escapement-archive-'))
    context.cleanup(() => rm(folder, { recursive: true }))
    const reviewer = defineAgent({
      name: 'mine',
      model: planning({ hide: ['n2'], why: 'w' }),
      instructions: 'You like tax.',
    })
    const harness = await reading(context, compositions.reviewed({ contextWindow, reviewer, archive: folder }))
    assert.is((await readdir(folder)).length, 1)
    assert.match(harness.ofType('prune.applied')[0]!.memo!, /Archived in /)
  })

  it('scored: hides what was worth least when the work goes badly, and nothing when it goes well', async (context) => {
    const bad = await reading(context, compositions.scored({ contextWindow }), {
      tools: [
        tool('read_file', () => {
          throw new Error(`not there ${'at all '.repeat(250)}`)
        }),
      ],
    })
    assert.ok(fired(bad).length > 0 && hidden(bad).length > 3)
    assert.match(bad.ofType('policy.start')[0]!.why, /average score 0\.00, below 0\.2|same/)
    const good = await reading(context, compositions.scored({ contextWindow: 100_000 }), { id: 'a2' })
    assert.equal(fired(good), [])
  })

  it('hybrid: asks the reviewer for a loop too, however small the conversation', async (context) => {
    const model = planning({ hide: ['n2'], why: 'a loop' })
    const harness = await reading(context, compositions.hybrid({ model }), {
      replies: [...reads([...paths.slice(0, 12), ...paths.slice(0, 12).map(() => 'again.ts')]), 'done'],
    })
    assert.equal([fired(harness)[0], ends(harness)[0]], ['hybrid', ['planned', 'a loop']])
    assert.match(harness.ofType('policy.start')[0]!.why, /the same call with the same result/)
    const large = await reading(context, compositions.hybrid({ contextWindow, model: planning({ hide: ['n2'] }) }), {
      id: 'a2',
    })
    assert.match(large.ofType('policy.start')[0]!.why, /tokens, over 6,000/)
  })

  it('pinned: everything leaves but the newest and what is pinned, at rest too', async (context) => {
    const harness = await startAgent(context, {
      ...compositions.pinned({ keepSteps: 2 }),
      replies: [...reads(paths.slice(0, 4)), 'done', ...reads(paths.slice(4, 6)), 'done again'],
      tools: [read],
      checkRequests: true,
    })
    harness.agent.pin('n2')
    const run = harness.agent.prompt('Correct the price.')
    await harness.until((event) => event.type === 'tool.end' && event.turnIndex === 1)
    harness.agent.pin('n2')
    await run.result
    await harness.until(({ type }) => type === 'prune.applied')
    assert.equal(hidden(harness), [4, 6])
    assert.is(harness.ofType('policy.start')[0]!.why, 'the agent is at rest')
    await harness.agent.prompt('And the tax.').result
    const last = textIn(harness.script.requests.at(-1)!.messages)
    assert.match(last, /module0\/file0\.ts some words/)
    assert.not.match(last, /module1\/file1\.ts some words/)
  })

  it('pinned: every twenty turns of a run that does not rest', async (context) => {
    const harness = await reading(context, compositions.pinned())
    assert.is(harness.ofType('policy.start')[0]!.turn, 20)
    assert.equal(hidden(harness).length > 5, true)
  })

  it('retrieval: what has least to do with the task leaves, by words or by an embedding', async (context) => {
    const list = paths.map((path, n) => (n % 3 === 0 ? `price${n}.ts` : path))
    const byWords = await reading(context, compositions.retrieval({ contextWindow }), {
      replies: [...reads(list), 'done'],
    })
    assert.ok(hidden(byWords).length > 5)
    assert.ok(toolsOf(byWords).includes('recall'))
    let embedded = 0
    const embed = async (texts: readonly string[]) => {
      embedded += texts.length
      return texts.map((text) => (/price\d/.test(text) ? [1, 0] : /Correct/.test(text) ? [1, 0.1] : [0, 1]))
    }
    const byMeaning = await reading(context, compositions.retrieval({ contextWindow, embed }), {
      id: 'a2',
      replies: [...reads(list), 'done'],
    })
    assert.ok(embedded > 5)
    assert.ok(hidden(byMeaning).length > 3)
  })

  it('typedReverts: the model takes a dead end back, and a loop is noticed', async (context) => {
    const harness = await reading(context, compositions.typedReverts({ contextWindow }), {
      replies: [
        ...reads(paths.slice(0, 8)),
        calls('back', ['revert_to_state', { category: 'failure', step: 'n3', summary: 'not there' }]),
        ...['x', 'y', 'z'].map((prefix) => calls(prefix, ['read_file', { path: 'x.ts' }])),
        'done',
      ],
      braking: { ...compositions.typedReverts().braking, revert: { decay: 'lazy', onUserMessage: 'rebase' } },
    })
    assert.ok(harness.ofType('revert.applied')[0]!.applied)
    assert.is(harness.ofType('stall.detected').length, 1)
    assert.equal(toolsOf(harness), ['read_file', 'revert_to_state'])
  })

  it('refuse what they do not know, with the name of the option', () => {
    const wrong: readonly (readonly [() => unknown, string])[] = [
      [() => compositions.baseline({ window: 3 } as never), 'compositions.baseline: '],
      [() => compositions.layered({ over: 2 }), 'compositions.layered: over'],
      [() => compositions.reviewed({ model: summariser(), reviewer: {} as never }), 'reviewer or model, not both'],
      [() => compositions.reviewed({ archive: '' }), 'keep.archive'],
      [() => compositions.scored({ below: 3 }), 'below'],
      [() => compositions.scored({ scorer: 'good' as never }), 'scorer'],
      [() => compositions.hybrid({ over: 0 }), 'compositions.hybrid: over'],
      [() => compositions.pinned({ keepSteps: -1 }), 'compositions.pinned: keepSteps'],
      [() => compositions.retrieval({ embed: 3 as never }), 'embed'],
      [() => compositions.typedReverts({ contextWindow: 0 }), 'compositions.typedReverts: contextWindow'],
      [() => compositions.layered({ memory: {} as never }), 'keep.memory'],
    ]
    for (const [make, text] of wrong) assert.throws(make, withCode('INVALID_OPTION', text))
  })
})

/** Each of them, with what it asks a model for. */
const all: Readonly<Record<keyof typeof compositions, () => Composition>> = {
  baseline: () => compositions.baseline({ contextWindow }),
  layered: () => compositions.layered({ contextWindow, model: summariser(), memory: noMemory }),
  reviewed: () => compositions.reviewed({ contextWindow, model: planning({ hide: ['n2', 'n4', 'n6'] }) }),
  scored: () => compositions.scored({ contextWindow, below: 0.9 }),
  hybrid: () => compositions.hybrid({ contextWindow, model: planning({ hide: ['n2', 'n4', 'n6'] }) }),
  pinned: () => compositions.pinned({ contextWindow }),
  retrieval: () => compositions.retrieval({ contextWindow }),
  typedReverts: () => compositions.typedReverts({ contextWindow }),
}

/** Reads one file after the other, whatever it is shown, until it has read all. */
function reader(have: number): Model {
  let next = have
  return scriptedModel(
    Array.from({ length: paths.length + 5 }, () => () => {
      const path = paths[next]
      next += 1
      return path === undefined ? 'done' : { toolCalls: [{ name: 'read_file', input: { path }, callId: `c${next}` }] }
    }),
  )
}

const agentOf = (composition: Composition, model: Model) => ({
  name: 'tester',
  model,
  tools: [read],
  checkRequests: true,
  ...composition,
})

describe('an agent with a composition', (it) => {
  for (const [name, make] of Object.entries(all))
    it(`goes on after its process died anywhere: ${name}`, { timeoutMs: 20_000 }, async (context) => {
      const whole = await startAgent(context, { ...agentOf(make(), reader(0)), id: 'a1' })
      await whole.agent.prompt('Correct the price.').result
      const records = await whole.records()
      // In the middle of what the braking layer does, where it does anything.
      const telling = records.flatMap(({ type }, index) =>
        /^(policy|prune|compaction)\./.test(type) ? [index + 1] : [],
      )
      const cuts = new Set([Math.floor(records.length / 2), ...telling.slice(0, 2), ...telling.slice(-1)])
      for (const cut of cuts) {
        const kept = records.slice(0, cut)
        const store = await cutStore('a1', kept)
        const runtime = await createRuntime({ store })
        context.cleanup(() => runtime.close())
        const have = kept.filter(({ type }) => type === 'reply.end').length
        const agent = await runtime.resume('a1', defineAgent(agentOf(make(), reader(have))))
        if (agent.state !== 'idle') await settled(agent)
        // Policies may be asked at rest.
        while (agent.state !== 'idle') await quiet()
        assert.is(agent.pause, null)
        const log = await recordsOf(store, 'a1')
        const rebuilt = rebuildConversation(log)
        assert.equal(rebuilt.trunk(), agent.conversation.trunk(), `cut after ${cut}`)
        assert.is(rebuilt.tokens, agent.conversation.tokens)
        const said = agent.conversation.trunk().filter(({ message }) => message.role === 'user').length
        assert.is(said, 1)
        const started = log.filter(({ type }) => type === 'policy.start').length
        assert.is(log.filter(({ type }) => type === 'policy.end').length, started, `each ends once, cut after ${cut}`)
      }
    })
})
