import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { scriptedModel } from '../../evaluation/src/testing/scriptedModel.ts'
import { parallel, race } from '../src/parallel.ts'
import { pipeline } from '../src/pipeline.ts'
import { startAgent, withCode } from '../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const worker = defineAgent({ name: 'worker', model: scriptedModel([]) })
const mapper = (text: string): string => text
const many = (count: number) => Array.from({ length: count }, () => worker)

/** Wrong options, each with the code of its error and a word of its message. */
const optionFaults: readonly (readonly [string, unknown, string])[] = [
  ['an option nobody knows', { jury: 'first' }, 'jury'],
  ['a limit of zero', { limits: { turns: 0 } }, 'limits.turns'],
  ['a signal that is none', { signal: {} }, 'AbortSignal'],
  ['keep that is no boolean', { keep: 'winner' }, 'keep'],
]
const judgeFaults: readonly (readonly [string, unknown])[] = [
  ['an unknown word', 'best'],
  ['null', null],
  ['a model by its name', { model: 'gpt' }],
  ['no model', {}],
  ['an option nobody knows', { model: scriptedModel([]), temperature: 1 }],
  ['a price below zero', { model: scriptedModel([]), pricing: { input: -1, output: 0 } }],
]

type Group = (...given: Parameters<typeof parallel>) => Promise<unknown>
const groups: readonly Group[] = [parallel, race, pipeline]

describe('a group refuses before anything is begun', (it) => {
  for (const [title, options, word] of optionFaults) {
    it(title, async (context) => {
      const { agent, store } = await startAgent(context)
      for (const group of groups)
        await assert.rejects(
          group(agent, [worker], 'go', options as never),
          withCode('INVALID_OPTION', group.name, word),
        )
      assert.equal(await store.list(), ['a1'])
    })
  }

  for (const [title, judge] of judgeFaults) {
    it(`a judge that is ${title}`, async (context) => {
      const { agent, store } = await startAgent(context)
      const options = { judge } as never
      await assert.rejects(parallel(agent, [worker], 'go', options), withCode('INVALID_OPTION', 'judge'))
      await assert.rejects(race(agent, [worker], 'go', options), withCode('INVALID_OPTION', 'judge'))
      assert.equal(await store.list(), ['a1'])
    })
  }

  it('no agents, what is no agent, and a host that is none', async (context) => {
    const { agent, runtime, store } = await startAgent(context)
    for (const group of groups) {
      await assert.rejects(group(agent, [], 'go'), withCode('INVALID_OPTION', 'at least one'))
      await assert.rejects(group(agent, undefined as never, 'go'), withCode('INVALID_OPTION', 'at least one'))
      await assert.rejects(group(runtime, many(101), 'go'), withCode('INVALID_OPTION', '101'))
      await assert.rejects(group(worker as never, [worker], 'go'), withCode('INVALID_OPTION', 'a runtime or an agent'))
      for (const entry of [
        null,
        'worker',
        {},
        { definition: worker, restart: 'never' },
        { definition: worker, detach: true },
      ])
        await assert.rejects(group(agent, [worker, entry as never], 'go'), withCode('INVALID_DEFINITION', 'agent 2'))
      await assert.rejects(
        group(runtime, [{ definition: worker, context: 'fork' }], 'go'),
        withCode('INVALID_OPTION', 'need a parent'),
      )
    }
    assert.equal(await store.list(), ['a1'])
  })

  it('a prompt that is empty', async (context) => {
    const { agent, store } = await startAgent(context)
    for (const group of groups)
      await assert.rejects(group(agent, [worker], ' '), withCode('INVALID_CONTENT', 'it is empty'))
    assert.equal(await store.list(), ['a1'])
  })

  it('more agents than the parent may have, those counted that are alive', async (context) => {
    const { agent } = await startAgent(context, { maxChildren: 3 })
    const refused = withCode('CHILD_REFUSED', 'may have 2 more')
    const child = await agent.spawn(worker)
    await assert.rejects(parallel(agent, many(3), 'go'), refused)
    await assert.rejects(race(agent, many(3), 'go'), refused)
    const judge = { model: scriptedModel([]) }
    await assert.rejects(parallel(agent, many(2), 'go', { judge, keep: true }), refused, 'the judge is one more')
    assert.equal(agent.children(), [child])
    await agent.spawn(worker)
    await agent.spawn(worker)
    await assert.rejects(pipeline(agent, [worker], 'go'), withCode('CHILD_REFUSED', 'may have 0 more'))
  })

  it('a function that does not stand between two agents', async (context) => {
    const { agent } = await startAgent(context)
    for (const entries of [[mapper], [mapper, worker], [worker, mapper], [worker, mapper, mapper, worker]])
      await assert.rejects(pipeline(agent, entries, 'go'), withCode('INVALID_OPTION', 'between two agents'))
  })

  it('a host that has stopped', async (context) => {
    const { agent, store } = await startAgent(context)
    await agent.stop()
    for (const group of groups) await assert.rejects(group(agent, [worker], 'go'), withCode('AGENT_STOPPED'))
    assert.equal(await store.list(), ['a1'])
  })
})
