import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { serveAgents } from './bridgeHarness.ts'

const talker = defineAgent({
  name: 'talker',
  model: policyModel(({ messages }) => `answer ${messages.length}`),
  captureTurnRequests: true,
})

const given = { admin: 'admin', viewer: 'talk', other: { role: 'admin', agents: ['b'] } } as const

const tokenOf = (name: string): string => `the-token-of-${name}-1`

async function served(context: CaseContext, prompts: number) {
  const { runtime, server } = await serveAgents(context, [talker], {
    tokens: Object.fromEntries(Object.entries(given).map(([name, grant]) => [tokenOf(name), grant])),
  })
  const agent = await runtime.spawn(talker, { id: 'a' })
  for (let turn = 0; turn < prompts; turn++) await agent.prompt(`question ${turn}`).result
  const ask = (who: keyof typeof given, id = 'a') =>
    fetch(`http://127.0.0.1:${server.port}/agents/${id}/newest.json`, {
      headers: { authorization: `Bearer ${tokenOf(who)}` },
    })
  const records = async (who: keyof typeof given) => (await (await ask(who)).json()) as AgentEvent[]
  return { agent, ask, records }
}

describe('the newest records of an agent', (it) => {
  it('are all of a short log, without what requests say', async (context) => {
    const { agent, records } = await served(context, 2)
    const whole = await records('admin')
    assert.equal(
      whole.map(({ seq }) => seq),
      Array.from({ length: agent.lastSeq }, (_, index) => index + 1),
    )
    assert.is(whole.filter(({ type }) => type === 'turn.captured').length, 0)
    assert.equal(
      whole.flatMap((event) => (event.type === 'record.withheld' ? [event.captured?.messages] : [])),
      [1, 2],
    )
    assert.match(JSON.stringify(whole.at(-3)), /answer 3/)
  })

  it('are the last of a long one, of an agent at rest too', async (context) => {
    const { agent, records } = await served(context, 110)
    const { lastSeq } = agent
    assert.ok(lastSeq > 600)
    const whole = await records('admin')
    assert.equal([whole[0]!.seq, whole.at(-1)!.seq], [lastSeq - 599, lastSeq])
    await agent.close()
    assert.equal(await records('admin'), whole)
  })

  it('are shown as the client may see them, and not at all where it may not', async (context) => {
    const { ask, records } = await served(context, 1)
    const [all, seen] = [await records('admin'), await records('viewer')]
    assert.equal(
      seen.map(({ seq, type }) => [seq, type]),
      all.map(({ seq, type }) => [seq, type]),
    )
    assert.not.equal(seen, all)
    assert.ok(
      JSON.stringify(seen).length < JSON.stringify(all).length,
      'something is left out for one who may see less',
    )
    assert.is((await ask('other')).status, 204)
    assert.is((await ask('admin', 'nobody')).status, 204)
    assert.is((await ask('admin', '%E0%A4%A')).status, 204)
  })

  it('come compressed', async (context) => {
    const { ask } = await served(context, 20)
    const response = await ask('admin')
    assert.is(response.headers.get('cache-control'), 'no-store')
    assert.match(response.headers.get('content-encoding') ?? '', /^(br|gzip)$/)
  })
})
