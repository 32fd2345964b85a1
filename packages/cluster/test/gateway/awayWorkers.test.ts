import type { ErrorInfo } from '../../../../src/protocol/errors.ts'
import { conversationStore } from '../../../bridge/src/client/conversationStore.ts'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { Heard, logOf } from '../../../bridge/test/server/bridgeHarness.ts'
import { hasty, startFleet } from './fleet.ts'

const patient = { timeoutMs: 30_000 }
const echo = defineAgent({
  name: 'echo',
  model: policyModel(({ messages }) => `answer ${messages.filter(({ role }) => role === 'user').length}`),
})

/** A client of an agent whose only worker is gone; what it was told since. */
async function left(context: CaseContext) {
  const fleet = await startFleet(context, [echo], 1)
  const gateway = await fleet.startGateway({ clock: hasty(60) })
  const client = fleet.connect(gateway)
  const errors: ErrorInfo[] = []
  const statuses: string[] = []
  const agent = await client.spawn('echo', { id: 'a1' })
  const heard = new Heard()
  agent.subscribe(heard.listen, { fromSeq: 1 })
  await agent.prompt('one').result
  client.onError((error) => void errors.push(error))
  client.onStatus((status) => void statuses.push(status))
  const told = (status: string): Promise<void> =>
    new Promise((resolve) => {
      if (client.status === status) return resolve()
      const forget = client.onStatus((next) => {
        if (next !== status) return
        forget()
        resolve()
      })
    })
  await fleet.workers[0]!.runtime.close()
  return { fleet, gateway, client, agent, heard, errors, statuses, told }
}

describe('a client of a gateway while all workers are away', (it) => {
  it(
    'is told, and then hears every record once, and has what it asked for meanwhile, in order',
    patient,
    async (context) => {
      const lab = await left(context)
      const { client, agent, heard } = lab
      await lab.told('reconnecting')
      const chat = conversationStore(agent)
      context.cleanup(() => chat.close())
      const later = new Heard()
      client.agent('a1').subscribe(later.listen, { fromSeq: 1 })
      const two = agent.prompt('two')
      const read: string[] = []
      const reading = (async () => {
        for await (const { type } of two) read.push(type)
      })()
      const [three, snapshot, other] = [agent.prompt('three'), agent.snapshot(), client.spawn('echo', { id: 'a2' })]
      const settled: string[] = []
      for (const run of [two, three]) void run.result.then(({ text }) => settled.push(text))
      // For as long as a gateway looks for an agent, several times.
      for (let tries = 0; tries < 3; tries += 1) {
        const bare = await lab.fleet.dial(lab.gateway)
        await bare.until(({ type }) => type === 'welcome')
        const answer = await bare.ask({ type: 'agent.snapshot', agentId: 'a1' })
        assert.is(answer.type === 'error' && answer.code, 'AGENT_UNREACHABLE')
      }
      assert.equal([settled, lab.statuses], [[], ['reconnecting']])
      await lab.fleet.startWorker()
      assert.equal([(await two.result).text, (await three.result).text], ['answer 2', 'answer 3'])
      assert.equal(settled, ['answer 2', 'answer 3'])
      assert.is((await snapshot).agentId, 'a1')
      assert.is((await (await other).prompt('hello').result).text, 'answer 1')
      await reading
      assert.is(read.at(-1), 'run.end')
      await lab.told('open')
      const log = (await logOf(lab.fleet.store(), 'a1')) as AgentEvent[]
      for (const one of [heard, later]) {
        await one.until((event) => event.type === 'run.end' && event.seq === log.at(-1)!.seq)
        assert.equal(one.logged, log)
      }
      assert.equal(lab.statuses, ['reconnecting', 'open'])
      assert.equal([...new Set(lab.errors.map(({ code }) => code))], ['AGENT_UNREACHABLE'])
      const isWhole = (): boolean => chat.getSnapshot().messages.some(({ text }) => text === 'answer 3')
      await new Promise<void>((resolve) => {
        const look = (): void => void (isWhole() && resolve())
        chat.subscribe(look)
        look()
      })
    },
  )

  it(
    'that comes when none is there waits for its first agent too, and for the list of those that run',
    patient,
    async (context) => {
      const { fleet, gateway } = await left(context)
      const client = fleet.connect(gateway)
      const watched = new Set<string>()
      client.watch(({ agents }) => agents.forEach(({ agentId }) => watched.add(agentId)))
      const born = client.spawn('echo', { id: 'b1' })
      const run = client.agent('a1').prompt('two')
      await new Promise<void>((resolve) => {
        client.onError(({ code }) => code === 'AGENT_UNREACHABLE' && resolve())
      })
      await fleet.startWorker()
      assert.is((await run.result).text, 'answer 2')
      assert.is((await born).id, 'b1')
      while (!(watched.has('a1') && watched.has('b1'))) await new Promise((resolve) => setImmediate(resolve))
    },
  )

  it('learns what it may spawn as soon as a worker is there', patient, async (context) => {
    const fleet = await startFleet(context, [echo], 0)
    const client = fleet.connect(await fleet.startGateway({ clock: hasty(60) }))
    const told = Promise.withResolvers<readonly string[]>()
    client.onDefinitions(told.resolve)
    await client.ready
    assert.equal([client.definitions, client.may('spawn')], [[], true])
    await fleet.startWorker()
    assert.equal(await told.promise, ['echo'])
    assert.equal([client.definitions, client.may('spawn'), client.status], [['echo'], true, 'open'])
  })

  it('may leave: what waits is refused, and nothing is left behind', patient, async (context) => {
    const { client, agent, told } = await left(context)
    await told('reconnecting')
    const run = agent.prompt('two')
    const snapshot = agent.snapshot().catch((thrown: unknown) => (thrown as { readonly code: string }).code)
    client.close()
    assert.is((await run.result).error?.code, 'BRIDGE_CLOSED')
    assert.is(await snapshot, 'BRIDGE_CLOSED')
    assert.is(client.status, 'closed')
  })
})
