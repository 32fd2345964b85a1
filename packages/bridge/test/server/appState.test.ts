import { z } from 'zod'
import { defineAgent, policyModel } from '../../../../src/index.ts'
import { tool, withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { AgentStore } from '../../src/client/agentStore.ts'
import { OptimisticState } from '../../src/client/optimisticState.ts'
import { lastingStore, serveAgents } from './bridgeHarness.ts'

const Plan = z.object({ title: z.string().max(20), done: z.record(z.string(), z.number()) })
const planner = defineAgent({
  name: 'planner',
  state: { schema: Plan, initial: { title: '', done: {} } },
  tools: [
    tool('count', (_, { state }) => {
      for (let n = 0; n < 20; n += 1)
        state.of(Plan).update((plan) => {
          plan.done['agent'] = (plan.done['agent'] ?? 0) + 1
        })
    }),
  ],
  model: policyModel(({ messages }) =>
    messages.at(-1)!.role === 'user' ? { toolCalls: [{ name: 'count', input: {} }] } : 'done',
  ),
})

describe('the state of an agent of a server', (it) => {
  it('is read and changed by clients, once for each command', async (context) => {
    const { connect, runtime } = await serveAgents(context, [planner])
    const local = await runtime.spawn(planner, { id: 'a' })
    const agent = connect().agent<typeof planner>('a')
    assert.equal(await agent.appState(), { value: { title: '', done: {} }, version: 0 })
    const after = await agent.updateState((plan) => {
      plan.title = 'mine'
    })
    assert.equal([after, local.appState], [{ title: 'mine', done: {} }, after])
    assert.equal(await agent.appState(), { value: after, version: local.stateVersion })
    await assert.rejects(
      agent.updateState((plan) => ({ ...plan, title: 'x'.repeat(21) })),
      withCode('STATE_INVALID', 'title'),
    )
    await assert.rejects(agent.patchState([{ op: 'remove', path: '/gone' }]), withCode('STATE_INVALID'))
    assert.throws(() => void agent.patchState([{ op: 'move', path: '/a' } as never]), withCode('INVALID_OPTION'))
    await local.updateState((plan) => ({ ...plan, title: 'theirs' }))
    await assert.rejects(
      agent.patchState([{ op: 'replace', path: '/title', value: 'late' }], 2),
      withCode('STATE_CONFLICT', '"/title"'),
    )
    let tries = 0
    const retried = await agent.updateState((plan) => {
      tries += 1
      if (tries === 1) void local.updateState((draft) => ({ ...draft, title: 'first' }))
      plan.title += '!'
    })
    assert.equal([tries, retried, local.appState], [2, { title: 'first!', done: {} }, retried])
  })

  it('is seen by those alone who see everything, and changed by those who control', async (context) => {
    const { connect, runtime } = await serveAgents(context, [planner], {
      tokens: { 'observer-token-16': 'observe', 'talker-token-16ch': 'talk' },
    })
    const local = await runtime.spawn(planner, { id: 'a' })
    const observer = connect({ token: 'observer-token-16' }).agent<typeof planner>('a')
    const talker = connect({ token: 'talker-token-16ch' }).agent<typeof planner>('a')
    const heard: object[] = []
    talker.subscribe((event) => heard.push(event), { fromSeq: 1 })
    await local.updateState((plan) => ({ ...plan, title: 'private' }))
    await local.prompt('go').result
    local.revert('n1', { category: 'failure', summary: 'no' })
    assert.equal((await observer.appState()).value.title, 'private')
    await assert.rejects(talker.appState(), withCode('STATE_OFF'))
    for (const one of [observer, talker])
      await assert.rejects(
        one.patchState([{ op: 'replace', path: '/title', value: 'x' }]),
        withCode('BRIDGE_FORBIDDEN'),
      )
    assert.not.match(JSON.stringify([heard, await talker.snapshot()]), /private|"patch"/)
  })

  it('is told from the log of an agent that does not run', async (context) => {
    const store = lastingStore()
    const first = await serveAgents(context, [planner], { runtime: { store } })
    const local = await first.runtime.spawn(planner, { id: 'a' })
    await local.updateState((plan) => ({ ...plan, title: 'kept' }))
    await first.runtime.close()
    const { connect } = await serveAgents(context, [planner], { runtime: { store } })
    const agent = connect().agent<typeof planner>('a')
    const { value, version } = await agent.appState()
    assert.equal([value.title, version], ['kept', 2])
    await agent.updateState((plan) => ({ ...plan, title: 'woken' }))
    assert.is((await agent.appState()).value.title, 'woken')
  })

  it('is the same for two pages, the agent and its log, however their changes meet', async (context) => {
    const { connect, runtime } = await serveAgents(context, [planner])
    const local = await runtime.spawn(planner, { id: 'a' })
    const pages = ['one', 'two'].map((name) => {
      const agent = connect().agent<typeof planner>('a')
      const store = new AgentStore(agent)
      const state = new OptimisticState(store, () => agent)
      context.cleanup(state.subscribe(() => {}))
      return { name, store, state }
    })
    const count = (name: string) => (plan: z.output<typeof Plan>) => {
      plan.done[name] = (plan.done[name] ?? 0) + 1
      plan.done['both'] = (plan.done['both'] ?? 0) + 1
    }
    const run = local.prompt('go').result
    let failed = 0
    await Promise.all(
      pages.flatMap(({ name, state }) =>
        Array.from({ length: 40 }, () =>
          state.update(count(name)).catch((thrown: unknown) => {
            assert.ok(withCode('STATE_CONFLICT')(thrown), String(thrown))
            failed += 1
          }),
        ),
      ),
    )
    await run
    const { done } = local.appState!
    assert.equal(done['agent'], 20)
    assert.is(done['both'], 80 - failed, 'no change is lost, and none made twice')
    assert.is((done['one'] ?? 0) + (done['two'] ?? 0), done['both'])
    for (const { store, state } of pages) {
      await store.refresh()
      assert.equal(state.getSnapshot(), local.appState)
      assert.equal(store.view.appState, { value: local.appState, version: local.stateVersion })
    }
  })

  it('is shown with what is under way, and without what was refused', async (context) => {
    const { connect, runtime } = await serveAgents(context, [planner])
    await runtime.spawn(planner, { id: 'a' })
    const agent = connect().agent<typeof planner>('a')
    const store = new AgentStore(agent)
    const state = new OptimisticState(store, () => agent)
    context.cleanup(state.subscribe(() => {}))
    await state.update((plan: z.output<typeof Plan>) => void (plan.title = 'known'))
    const [good, bad] = [
      state.update((plan: z.output<typeof Plan>) => void (plan.done['x'] = 1)),
      state.update((plan: z.output<typeof Plan>) => void (plan.title = 'x'.repeat(21))),
    ]
    assert.equal(state.getSnapshot(), { title: 'x'.repeat(21), done: { x: 1 } })
    assert.is(state.getSnapshot(), state.getSnapshot())
    await assert.rejects(bad, withCode('STATE_INVALID'))
    assert.equal(await good, { title: 'known', done: { x: 1 } })
    assert.equal(state.getSnapshot(), { title: 'known', done: { x: 1 } })
  })

  it('follows reverts, and begins with what a fork has', async (context) => {
    const { connect, runtime } = await serveAgents(context, [planner])
    const local = await runtime.spawn(planner, { id: 'a' })
    const client = connect()
    const stores = [new AgentStore(client.agent('a'))]
    for (const store of stores) context.cleanup(store.subscribe(() => {}))
    await local.updateState((plan) => ({ ...plan, title: 'mine' }))
    await local.prompt('go').result
    assert.is(local.appState!.done['agent'], 20)
    const { agentId } = await client.agent('a').fork('n3')
    const forked = new AgentStore(client.agent(agentId))
    context.cleanup(forked.subscribe(() => {}))
    const isReverted = new Promise<void>((resolve) => {
      local.subscribe(({ type }) => type === 'revert.applied' && resolve())
    })
    local.revert('n1', { category: 'failure', summary: 'no' })
    await isReverted
    for (const store of stores) {
      await until(store, () => store.view.appState?.version === local.stateVersion)
      assert.equal(store.view.appState!.value, { title: 'mine', done: {} })
    }
    await until(forked, () => forked.view.appState !== null)
    assert.equal(forked.view.appState, { value: { title: 'mine', done: { agent: 20 } }, version: 0 })
  })
})

const until = (store: AgentStore, holds: () => boolean): Promise<void> =>
  new Promise((resolve) => {
    const look = (): void => {
      if (!holds()) return
      unlisten()
      resolve()
    }
    const unlisten = store.listen(look)
    look()
  })
