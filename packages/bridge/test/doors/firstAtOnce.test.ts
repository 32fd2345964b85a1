import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { lateStore } from '../../../../test/support/lateStore.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { agUi } from '../../../ag-ui/src/agUi.ts'
import { aiSdkChat } from '../../../ai-sdk/src/aiSdkChat.ts'
import { serveAgents, type Serving } from '../server/bridgeHarness.ts'

const echo = defineAgent({ name: 'echo', model: policyModel(() => 'yes') })

/** Ways to begin the agent `mine` by saying something; each resolves with the status, or the code of the refusal. */
const doors: Readonly<Record<string, (serving: Serving, n: number) => Promise<unknown>>> = {
  'AG-UI': (serving, n) =>
    posted(serving, '/ag-ui', {
      threadId: 'mine',
      runId: `r${n}`,
      messages: [{ id: `m${n}`, role: 'user', content: 'go' }],
      tools: [],
      context: [],
    }),
  useChat: (serving, n) =>
    posted(serving, '/api/chat', {
      id: 'mine',
      messages: [{ id: `m${n}`, role: 'user', parts: [{ type: 'text', text: 'go' }] }],
    }),
  'another useChat': (serving, n) =>
    posted(serving, '/other', {
      id: 'mine',
      messages: [{ id: `o${n}`, role: 'user', parts: [{ type: 'text', text: 'go' }] }],
    }),
}

async function posted({ server }: Serving, path: string, body: object): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  await response.text()
  return response.status
}

const serving = (context: CaseContext): Promise<Serving> =>
  serveAgents(context, [echo], {
    endpoints: [agUi(), aiSdkChat(), aiSdkChat({ path: '/other' })],
    runtime: { store: lateStore() },
  })

describe('clients that are the first at an agent at once', (it) => {
  const names = Object.keys(doors)
  for (const [at, one] of names.entries())
    for (const other of names.slice(at))
      it(`all talk with the same one: ${one} and ${other}`, async (context) => {
        const served = await serving(context)
        const statuses = await Promise.all([doors[one]!(served, 1), doors[other]!(served, 2), doors[one]!(served, 3)])
        assert.equal(statuses, [200, 200, 200])
        const said = served.runtime.agent('mine')!.conversation.log()
        assert.is(said.filter(({ message }) => message.role === 'user').length, 3)
      })

  for (const name of names)
    it(`and send the same twice are answered twice, and heard once: ${name}`, async (context) => {
      const served = await serving(context)
      assert.equal(await Promise.all([1, 1, 1].map((n) => doors[name]!(served, n))), [200, 200, 200])
      const said = served.runtime.agent('mine')!.conversation.log()
      assert.is(said.filter(({ message }) => message.role === 'user').length, 1)
    })

  it('of whom one spawns it: the others find it, and two that spawn it are not both the first', async (context) => {
    const served = await serving(context)
    const client = served.connect()
    const spawn = (): Promise<unknown> => client.spawn('echo', { id: 'mine' })
    const [first, second, chat] = await Promise.allSettled([
      spawn(),
      served.connect().spawn('echo', { id: 'mine' }),
      doors['useChat']!(served, 1),
    ])
    const refused = [first, second].filter(({ status }) => status === 'rejected')
    assert.ok(refused.length >= 1)
    for (const each of refused) assert.ok(each.status === 'rejected' && withCode('AGENT_EXISTS')(each.reason as Error))
    assert.equal(chat, { status: 'fulfilled', value: 200 })
  })
})
