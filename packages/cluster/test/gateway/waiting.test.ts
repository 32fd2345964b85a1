import type { RemoteWaiting } from '../../../bridge/src/client/answers.ts'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import type { Grant } from '../../../bridge/src/server/roles.ts'
import { asks, caller, until } from '../../../../test/support/lives.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { startFleet, type Worker } from './fleet.ts'

const patient = { timeoutMs: 15_000 }
const payer = defineAgent({ name: 'payer', model: caller(['pay']), tools: [asks('pay')] })
const tokens: { readonly [token: string]: Grant } = {
  'staff-0123456789abcdef': { role: 'drive' },
  'annas-0123456789abcdef': { role: 'talk', metadata: { user: 'anna' } },
  'below-0123456789abcdef': { role: 'observe', agents: ['away'] },
  'chosen-0123456789abcdef': { role: 'observe', agents: ({ id }) => id === 'here' },
}

async function ask({ runtime }: Worker, id: string, user: string): Promise<void> {
  const agent = await runtime.spawn(payer, { id, metadata: { user } })
  agent.prompt(`For ${user}`)
  await until(agent, ({ type }) => type === 'approval.requested')
  await agent.durable()
}

/** Leaves an agent that waits at one worker, and one that no worker has. */
async function left(context: CaseContext) {
  const fleet = await startFleet(context, [payer])
  const [one, other] = fleet.workers as [Worker, Worker]
  await ask(one, 'away', 'anna')
  await one.runtime.detach('away')
  await ask(other, 'here', 'ben')
  const gateway = await fleet.startGateway({ tokens })
  return { one, client: (who: string) => fleet.connect(gateway, { token: `${who}-0123456789abcdef` }) }
}

const shown = ({ waiting }: RemoteWaiting): unknown[] => waiting.map(({ agentId, isRunning }) => [agentId, isRunning])

describe('what waits, behind a gateway', (it) => {
  it(
    'is listed from the store, to each client what it reaches, with what runs on a worker',
    patient,
    async (context) => {
      const { client } = await left(context)
      const staff = await client('staff').waiting()
      assert.equal(
        [shown(staff), staff.total],
        [
          [
            ['away', false],
            ['here', true],
          ],
          2,
        ],
      )
      assert.equal(shown(await client('annas').waiting()), [['away', false]])
      assert.equal(shown(await client('below').waiting()), [['away', false]])
      assert.equal(shown(await client('chosen').waiting()), [['here', true]])
      const limited = await client('staff').waiting({ limit: 1, metadata: { user: 'ben' } })
      assert.equal([shown(limited), limited.total], [[['here', true]], 1])
    },
  )

  it('is told to who watches it, as it changes on any worker', patient, async (context) => {
    const { client, one } = await left(context)
    const staff = client('staff')
    const heard: string[] = []
    let more = Promise.withResolvers<void>()
    context.cleanup(
      staff.watchWaiting(({ waiting }) => {
        heard.push(waiting.map(({ agentId }) => agentId).join())
        more.resolve()
        more = Promise.withResolvers<void>()
      }),
    )
    const hears = async (ids: string): Promise<void> => {
      while (heard.at(-1) !== ids) await more.promise
    }
    await hears('away,here')
    const { waiting } = await staff.waiting()
    await staff.agent('here').decide(waiting[1]!.pending[0]!.key, 'deny')
    await hears('away')
    await staff.agent('away').decide(waiting[0]!.pending[0]!.key, 'approve')
    await hears('')
    await ask(one, 'new', 'cleo')
    await hears('new')
  })
})
