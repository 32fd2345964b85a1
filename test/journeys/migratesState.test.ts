import { z } from 'zod'
import { createRuntime, defineAgent, memoryStore } from '../../src/index.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { startAgent, withCode } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'
import { recordsOf, runtimeOver } from './cutLogs.ts'

describe('secrets in the state', (it) => {
  const redact = { secrets: { TOKEN: 'hunter2-hunter2' } }
  it('are in no log and no event, whatever their fields are called', async (context) => {
    const loose = { schema: z.record(z.string(), z.unknown()), initial: {} }
    const { agent, events, store } = await startAgent(context, { state: loose, redact, replies: [] })
    await agent.updateState(() => ({ path: 'hunter2-hunter2', id: ['x hunter2-hunter2'], 'hunter2-hunter2': 1 }))
    assert.equal(agent.appState, { path: '[redacted:TOKEN]', id: ['x [redacted:TOKEN]'], '[redacted:TOKEN]': 1 })
    assert.not.match(JSON.stringify([events, await recordsOf(store, 'a1')]), /hunter2/)
    await assert
      .rejects(
        agent.updateState((draft) => ({
          ...(draft as object),
          'a hunter2-hunter2': { b: 1 },
          title: 'hunter2-hunter2',
        })),
        () => false,
      )
      .catch(() => {})
  })
  it('keep a state from being taken that fits only with them', async (context) => {
    const short = { schema: z.object({ key: z.string().max(15) }), initial: { key: '' } }
    const { agent } = await startAgent(context, { state: short, redact, replies: [] })
    await assert.rejects(
      agent.updateState(() => ({ key: 'hunter2-hunter2' })),
      withCode('STATE_INVALID', 'Without its secrets, the new state does not fit: key'),
    )
    assert.equal([agent.appState, agent.stateVersion], [{ key: '' }, 0])
  })
})

describe('the state in a log of an older definition', (it) => {
  const old = { schema: z.object({ name: z.string() }), initial: { name: 'plan' } }
  const logged = async (context: Parameters<typeof runtimeOver>[0]) => {
    const store = memoryStore()
    const runtime = await createRuntime({ store })
    context.cleanup(() => runtime.close())
    const agent = await runtime.spawn(defineAgent({ name: 'tester', model: scriptedModel([]), state: old }), {
      id: 'a1',
    })
    await agent.updateState((draft) => {
      draft.name = 'mine'
    })
    await agent.close()
    return runtimeOver(context, { a1: await recordsOf(store, 'a1') })
  }
  it('is migrated once, when the agent is opened', async (context) => {
    const { runtime, store } = await logged(context)
    const now = {
      schema: z.object({ title: z.string() }),
      initial: { title: '' },
      migrate: (was: unknown) => ({ title: (was as { name: string }).name }),
    }
    const definition = defineAgent({ name: 'tester', model: scriptedModel([]), state: now })
    const agent = await runtime.resume('a1', definition)
    assert.equal(agent.appState, { title: 'mine' })
    await agent.close()
    const again = await runtime.resume('a1', definition)
    assert.equal(again.appState, { title: 'mine' })
    const by = (await recordsOf(store, 'a1')).map((record) => record.type === 'state.patched' && record.by)
    assert.equal(by.filter(Boolean), ['person', 'migration'])
  })
  it('gets what the schema fills in', async (context) => {
    const { runtime } = await logged(context)
    const schema = z.object({ name: z.string(), tags: z.array(z.string()).default(() => []) })
    const definition = defineAgent({
      name: 'tester',
      model: scriptedModel([]),
      state: { schema, initial: { name: '', tags: [] } },
    })
    assert.equal((await runtime.resume('a1', definition)).appState, { name: 'mine', tags: [] })
  })
  it('keeps the agent from being opened if it does not fit', async (context) => {
    const { runtime, store } = await logged(context)
    const before = await recordsOf(store, 'a1')
    const open = (migrate?: () => { title: string }) =>
      runtime.resume(
        'a1',
        defineAgent({
          name: 'tester',
          model: scriptedModel([]),
          state: { schema: z.object({ title: z.string() }), initial: { title: '' }, ...(migrate && { migrate }) },
        }),
      )
    await assert.rejects(open(), withCode('STATE_INVALID', 'The state in the log does not fit the schema: title'))
    await assert.rejects(
      open(() => {
        throw new Error('no way')
      }),
      withCode('STATE_INVALID', 'state.migrate failed: no way'),
    )
    await assert.rejects(
      open(() => ({}) as { title: string }),
      withCode('STATE_INVALID', 'What state.migrate returned'),
    )
    assert.equal(await recordsOf(store, 'a1'), before, 'nothing is overwritten')
  })
  it('is refused as an option when its first state does not fit', () => {
    assert.throws(
      () =>
        defineAgent({
          name: 'x',
          model: scriptedModel([]),
          state: { schema: z.object({ title: z.string() }), initial: {} as never },
        }),
      withCode('INVALID_DEFINITION', 'Agent "x": state.initial: title'),
    )
    assert.throws(
      () => defineAgent({ name: 'x', model: scriptedModel([]), state: { schema: {} as never, initial: 1 as never } }),
      withCode('INVALID_DEFINITION', 'give a zod schema of the state'),
    )
  })
})
