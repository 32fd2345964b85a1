import { assign, setup } from 'xstate'
import { z } from 'zod'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { defineTool } from '../../../../src/actors/tools/defineTool.ts'
import type { AgentRuntime } from '../../../../src/runtime/agentRuntime.ts'
import { restateDispatch } from '../../../../src/restate.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { assert } from '../../../../test/support/suite.ts'
import { connect } from '../../../bridge/src/client/connect.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { agentLogic } from '../../../xstate/src/agentLogic.ts'
import { defineHost } from '../../../xstate/src/hosts/defineHost.ts'
import { durable } from '../../../xstate/src/hosts/durable.ts'
import { counter } from '../../../xstate/test/hosts/hostParts.ts'
import { recordsIn } from './recordsIn.ts'
import { describeWithEngine, type EngineContext } from './withEngine.ts'

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20))

const stamp = defineTool({
  name: 'stamp',
  description: 'Stamps a letter.',
  input: z.object({}),
  needsApproval: true,
  run: () => 'stamped',
})
const clerk = defineAgent({
  name: 'the-clerk',
  tools: [stamp],
  model: policyModel(({ messages }) =>
    messages.at(-1)?.role === 'toolResult' ? 'The letter is stamped.' : { toolCalls: [{ name: 'stamp', input: {} }] },
  ),
})

/** Reminds once, and has an agent stamp a letter, for which people are asked. `id` of the agent: that of the machine's making. */
const order = (id?: string) =>
  defineHost({
    name: 'order',
    version: '2',
    refuse: ({ type }) => (type === 'forbidden' ? 'nobody may' : undefined),
    machine: (runtime: AgentRuntime) =>
      setup({
        types: {
          context: {} as { readonly letter: string | null; readonly cents: number },
          events: {} as { readonly type: 'write' },
          input: {} as { readonly cents: number },
          children: {} as { clerk: 'clerk' },
        },
        actors: { clerk: agentLogic(runtime, clerk) },
      }).createMachine({
        id: 'order',
        context: ({ input }) => ({ letter: null, cents: input.cents }),
        initial: 'open',
        states: {
          open: { after: { 1_500: 'reminded' }, on: { write: 'writing' } },
          reminded: { on: { write: 'writing' } },
          writing: {
            invoke: {
              id: 'clerk',
              src: 'clerk',
              input: { prompt: 'Stamp the letter.', ...(id === undefined ? {} : { id }) },
              onDone: { target: 'sent', actions: assign({ letter: ({ event }) => event.output.text }) },
            },
          },
          sent: { type: 'final' },
        },
      }),
  })

/** A client of a worker's bridge, whose commands go to the engine. */
async function bridgeOf(context: EngineContext, worker: Awaited<ReturnType<EngineContext['worker']>>) {
  const { engine, name, store, cleanup } = context
  const dispatch = await restateDispatch({ ingress: engine.ingress, name, store: store() })
  const server = await worker.runtime.serve({ definitions: [], dispatch })
  const client = connect(server.url)
  cleanup(() => client.close())
  return { client, server }
}

describeWithEngine('a machine that an engine places', (it) => {
  it('takes events once, is read by whoever asks, and is nowhere meanwhile', async (context) => {
    const { runtime } = await context.worker([], { machines: [counter()] })
    const client = await context.client()
    const machine = await client.openHost('c', 'counter')
    await machine.send({ type: 'add', by: 1 }, { requestId: 'hook' })
    await machine.send({ type: 'add', by: 1 }, { requestId: 'hook' })
    const { seq } = await machine.read()
    const news = machine.history({ after: seq })
    await Promise.all([machine.send({ type: 'add', by: 10 }), machine.send({ type: 'add', by: 100 })])
    const { host, records } = await news
    assert.equal([host.machine, host.status, host.value], ['counter', 'active', 'counting'])
    assert.ok(records.some(({ type }) => type === 'host.event'))
    while (runtime.hosts().length > 0) await turn()
    const events = (await recordsIn(context.store(), 'c')).filter(({ type }) => type === 'host.event')
    assert.is(events.length, 3)
  })

  it('goes by HTTP alone, too', async ({ worker, post }) => {
    await worker([], { machines: [counter()] })
    const { body } = await post('c', 'event', { event: { type: 'add', by: 1 }, definition: 'counter' })
    assert.is(body['nudged'], false)
    assert.is((await post('c', 'open', { definition: 'counter' })).body['status'], 'done')
    const { body: view } = await post('c', 'snapshot')
    assert.equal([view['machine'], view['status'], view['value']], ['counter', 'active', 'counting'])
  })

  it('is driven and watched over the bridge of any worker', async (context) => {
    const first = await context.worker([clerk], { machines: [order()] })
    const second = await context.worker([clerk], { machines: [order()] })
    const bridges = [await bridgeOf(context, first), await bridgeOf(context, second)]
    await (await context.client()).openHost('o', 'order', { input: { cents: 5 } })
    for (const { client, server } of bridges) {
      const { value, status, timers } = await client.host('o').read()
      assert.equal([status, timers.length <= 1, ['open', 'reminded'].includes(String(value))], ['active', true, true])
      const chart = await fetch(`http://127.0.0.1:${server.port}/agents/o/chart.json`)
      assert.is(((await chart.json()) as { id: string }).id, 'order')
    }
    const [one, other] = bridges.map(({ client }) => client.host('o'))
    const { seq } = await other!.read()
    const seen = other!.history({ after: seq })
    await one!.send({ type: 'write' }, { requestId: 'w' })
    await other!.send({ type: 'write' }, { requestId: 'w' })
    assert.ok((await seen).records.length > 0)
    while ((await other!.read()).value !== 'writing') await turn()
    const events = (await recordsIn(context.store(), 'o')).flatMap((record) =>
      record.type === 'host.event' ? [record.event.type] : [],
    )
    assert.is(events.filter((type) => type === 'write').length, 1)
  })

  it('is woken by its delay, and its agent is decided for by people as any other', async (context) => {
    const { runtime } = await context.worker([clerk], { machines: [order()] })
    const client = await context.client()
    const machine = await client.openHost('o', order(), { input: { cents: 5 } })
    while (runtime.hosts().length > 0) await turn()
    while ((await machine.read()).value !== 'reminded') await turn()
    await machine.send({ type: 'write' })
    const waiting = async () => (await client.waiting()).waiting[0]
    while ((await waiting()) === undefined) await turn()
    const { agentId, pending } = (await waiting())!
    assert.match(agentId, /^the-clerk-o-\d+-\d+$/)
    while (runtime.hosts().length > 0) await turn()
    assert.equal(runtime.agents(), [])
    await client.agent(agentId).decide(pending[0]!.key, 'approve')
    while ((await machine.read()).status !== 'done') await turn()
    const records = await recordsIn(context.store(), 'o')
    assert.match(JSON.stringify(records), 'The letter is stamped.')
    assert.is((await recordsIn(context.store(), agentId)).filter(({ type }) => type === 'run.start').length, 1)
    await assert.rejects(machine.send({ type: 'write' }), withCode('MACHINE_CLOSED', 'come to its end'))
    await assert.rejects(client.agent(agentId).decide('nothing', 'approve'), withCode('AGENT_NOT_FOUND', 'the-clerk-o'))
  })

  it('brings what people decide to its agent while it is at work itself', async (context) => {
    const goOn = Promise.withResolvers<string>()
    const busy = defineHost({
      name: 'busy',
      machine: (runtime: AgentRuntime) =>
        setup({
          types: { children: {} as { wait: 'wait'; clerk: 'clerk' } },
          actors: { wait: durable(() => goOn.promise, { effects: 'idempotent' }), clerk: agentLogic(runtime, clerk) },
        }).createMachine({
          id: 'busy',
          initial: 'both',
          states: {
            both: {
              invoke: [
                { id: 'clerk', src: 'clerk', input: { prompt: 'Stamp the letter.' } },
                { id: 'wait', src: 'wait', onDone: 'over' },
              ],
            },
            over: { type: 'final' },
          },
        }),
    })
    await context.worker([clerk], { machines: [busy] })
    const client = await context.client()
    const machine = await client.openHost('b', busy)
    const waiting = async () => (await client.waiting()).waiting[0]
    while ((await waiting()) === undefined) await turn()
    const { agentId, pending } = (await waiting())!
    await client.agent(agentId).decide(pending[0]!.key, 'approve')
    while (!(await recordsIn(context.store(), agentId)).some(({ type }) => type === 'run.end')) await turn()
    assert.is((await machine.read()).value, 'both')
    goOn.resolve('done')
    while ((await machine.read()).status !== 'done') await turn()
  })

  it('refuses what is wrong by code: an unknown id, event, machine, an agent’s id', async (context) => {
    const worker = await context.worker([clerk], { machines: [counter({ refuse: refuseOdd }), order()] })
    const client = await context.client()
    const { client: remote } = await bridgeOf(context, worker)
    for (const asking of [client, remote]) {
      await assert.rejects(asking.host('nobody').send({ type: 'add' }), withCode('MACHINE_NOT_FOUND', '"nobody"'))
      await assert.rejects(asking.host('nobody').read(), withCode('MACHINE_NOT_FOUND', '"nobody"'))
    }
    assert.equal(await recordsIn(context.store(), 'nobody'), [])
    const machine = await client.openHost('c', 'counter')
    await assert.rejects(machine.send({ type: 'odd' }), withCode('EVENT_INVALID', 'too odd'))
    await assert.rejects(remote.host('c').send({ type: 'xstate.stop' }), withCode('EVENT_INVALID', 'XState alone'))
    await assert.rejects(client.openHost('x', 'nothing'), withCode('INVALID_DEFINITION', '"nothing"'))
    await assert.rejects(client.openHost('c', 'order'), withCode('INVALID_DEFINITION', '"counter"'))
    await assert.rejects(client.openHost('o', 'order'), withCode('MACHINE_REFUSED'))
    await client.request({ type: 'agent.abort', agentId: 'a' }, { definition: 'the-clerk' })
    await assert.rejects(client.host('a').send({ type: 'add' }), withCode('MACHINE_NOT_FOUND', 'is an agent'))
    const { status, error } = await client.request({ type: 'agent.prompt', agentId: 'c', content: 'Hello.' })
    assert.equal([status, error?.code], ['refused', 'AGENT_NOT_FOUND'])
    // An event that no state of it takes changes nothing, as in XState; the log has it.
    await machine.send({ type: 'unheard' })
    assert.is((await machine.read()).value, 'counting')
    await worker.close()
    await context.worker([clerk], { machines: [order()] })
    await assert.rejects(
      machine.send({ type: 'add', by: 1 }),
      withCode('MACHINE_NOT_FOUND', 'not known to this worker'),
    )
  })

  it('refuses agents with ids of their own, which nobody could place', async (context) => {
    await context.worker([clerk], { machines: [order('my-clerk')] })
    const client = await context.client()
    const machine = await client.openHost('o', 'order', { input: { cents: 5 } })
    const { body } = await context.post('o', 'carry', { verb: 'event', event: { type: 'write' } })
    assert.equal([body['status'], (body['error'] as { code: string }).code], ['refused', 'MACHINE_REFUSED'])
    assert.match(JSON.stringify(body), 'my-clerk')
    assert.is((await machine.read()).value, 'writing')
  })
})

const refuseOdd = ({ type }: { readonly type: string }): string | undefined => (type === 'odd' ? 'too odd' : undefined)
