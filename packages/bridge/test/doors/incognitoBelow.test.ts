import { defineAgent } from '../../../define/src/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { bridgeProtocol } from '../../../wire/src/bridgeProtocol.ts'
import { tool } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { acp } from '../../../acp/src/acp.ts'
import { agUi } from '../../../ag-ui/src/agUi.ts'
import { aiSdkChat } from '../../../ai-sdk/src/aiSdkChat.ts'
import { stately } from '../../../stately/src/stately.ts'
import { serveAgents, type Serving } from '../server/bridgeHarness.ts'
import { fetched, over } from './talks.ts'

const token = 'some-token-0123456789'
const pay = tool('pay', () => 'paid', { needsApproval: true })
const kid = defineAgent({
  name: 'kid',
  tools: [pay],
  model: policyModel(({ messages }) =>
    messages.length === 1
      ? { text: 'SECRET-reply', toolCalls: [{ name: 'pay', input: { to: 'SECRET-friend' } }] }
      : 'SECRET-end',
  ),
})

/** Ways to have the agent `mine` work and to see all of that; each resolves with everything that was told. */
const doors: Readonly<Record<string, (serving: Serving) => Promise<string>>> = {
  bridge: ({ server }) =>
    over(`ws://127.0.0.1:${server.port}/bridge`, token, [bridgeProtocol], async ({ send, until }) => {
      send({ type: 'hello' })
      send({ type: 'agent.subscribe', id: 's', agentId: 'mine', descendants: true })
      await until(({ id }) => id === 's')
      send({ type: 'agent.prompt', id: 'p', agentId: 'mine', content: 'go' })
      await until((frame) => {
        const { event } = frame as { readonly event?: { readonly type: string; readonly agentId: string } }
        return event?.type === 'run.end' && event.agentId === 'mine'
      })
    }),
  'AG-UI': (serving) =>
    fetched(asking(serving), '/ag-ui', {
      method: 'POST',
      body: {
        threadId: 'mine',
        runId: 'r1',
        messages: [{ id: 'm1', role: 'user', content: 'go' }],
        tools: [],
        context: [],
      },
    }),
  useChat: (serving) =>
    fetched(asking(serving), '/api/chat', {
      method: 'POST',
      body: { id: 'mine', messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'go' }] }] },
    }),
  ACP: ({ server }) =>
    over(`ws://127.0.0.1:${server.port}/acp`, token, [], async ({ send, until }) => {
      for (const [id, [method, params]] of [
        ['initialize', { protocolVersion: 1, clientCapabilities: {} }],
        ['session/load', { sessionId: 'mine', cwd: '/', mcpServers: [] }],
        ['session/prompt', { sessionId: 'mine', prompt: [{ type: 'text', text: 'go' }] }],
      ].entries()) {
        send({ jsonrpc: '2.0', id, method, params })
        await until((one) => one.id === id && one.method === undefined)
      }
    }),
}

const asking = ({ server }: Serving) => ({ place: { port: server.port }, token, agent: 'mine', keys: {} }) as never

describe('what an incognito agent says below another one', (it) => {
  for (const [name, visit] of Object.entries(doors))
    it(`is told to nobody over ${name}, while what its parent says is`, async (context) => {
      let ended = 0
      const help = tool('help', async () => {
        const child = await serving.runtime.agent('mine')!.spawn(kid, { incognito: true })
        child.subscribe((event) => {
          if (event.type === 'approval.requested') child.abort()
        })
        await child.prompt('SECRET-question').result
        ended += 1
        return 'helped'
      })
      const mine = defineAgent({
        name: 'mine',
        tools: [help],
        model: policyModel(({ messages }) =>
          messages.length === 1 ? { toolCalls: [{ name: 'help', input: {} }] } : 'SHOWN-reply',
        ),
      })
      const serving: Serving = await serveAgents(context, [mine, kid], {
        tokens: { [token]: 'admin' },
        endpoints: [agUi(), aiSdkChat(), acp(), stately()],
      })
      await serving.runtime.spawn(mine, { id: 'mine' })
      const told = await visit(serving)
      assert.is(ended, 1)
      assert.match(told, 'SHOWN-reply')
      assert.not.match(told, 'SECRET')
    })
})
