import { withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { hostMachine } from '../../../xstate/src/hosts/hostMachine.ts'
import { counter, recordsOf } from '../../../xstate/test/hosts/hostParts.ts'
import { startFleet } from './fleet.ts'

describe('machines behind a gateway', (it) => {
  it(
    'take events and are read where they are open, else at a worker that knows them',
    { timeoutMs: 15_000 },
    async (context) => {
      const fleet = await startFleet(context, [])
      const [one, other] = fleet.workers
      const hosted = await hostMachine(one!.runtime, counter(), { id: 'c' })
      await hostMachine(other!.runtime, counter(), { id: 'd' })
      const client = fleet.connect(await fleet.startGateway())
      const machine = client.host('c')
      await machine.send({ type: 'add', by: 1 }, { requestId: 'r1' })
      await machine.send({ type: 'add', by: 1 }, { requestId: 'r1' })
      assert.is(hosted.snapshot.context.count, 1)
      const { seq, status } = await machine.read()
      assert.is(status, 'active')
      const news = machine.history({ after: seq })
      await machine.send({ type: 'add', by: 10 })
      assert.ok((await news).host.seq > seq)
      await hosted.close()
      await machine.send({ type: 'add', by: 100 })
      const events = (await recordsOf(fleet.store(), 'c')).filter(({ type }) => type === 'host.event')
      assert.is(events.length, 3)
      await assert.rejects(client.host('e').send({ type: 'add' }), withCode('MACHINE_NOT_FOUND', '"e"'))
    },
  )

  it(
    'are out of reach for clients whose agents a function chooses, unless it chooses them',
    { timeoutMs: 15_000 },
    async (context) => {
      const fleet = await startFleet(context, [])
      for (const id of ['c', 'd']) await hostMachine(fleet.workers[0]!.runtime, counter(), { id })
      const gateway = await fleet.startGateway({
        authenticate: () => ({ role: 'admin', agents: ({ id }) => id === 'c' }),
      })
      const client = fleet.connect(gateway)
      assert.is((await client.host('c').read()).id, 'c')
      await assert.rejects(client.host('d').read(), withCode('BRIDGE_FORBIDDEN'))
    },
  )
})
