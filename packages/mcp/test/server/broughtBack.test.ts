import { z } from 'zod'
import { defineAgent } from '../../../define/src/defineAgent.ts'
import { defineTool } from '../../../../src/actors/tools/defineTool.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { textOf } from '../../../../src/protocol/messages.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import { keyedText } from '../../../bridge/src/server/keyed.ts'
import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import { lastingStore } from '../../../bridge/test/server/bridgeHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { call, openHost } from './mcpHarness.ts'

/** An agent that pays back once, if it may; it answers with what became of that. */
function cashier() {
  const paid: number[] = []
  const refund = defineTool({
    name: 'refund',
    description: 'Pay back.',
    input: z.object({ euros: z.number() }),
    needsApproval: true,
    run: ({ euros }) => `${paid.push(euros)} paid`,
  })
  const agent = defineAgent({
    name: 'cashier',
    tools: [refund],
    model: policyModel(({ messages }) => {
      const last = messages.at(-1)!
      return last.role === 'user'
        ? {
            toolCalls: [
              { name: 'refund', input: { euros: 5 } },
              ...(textOf(last.content) === 'twice' ? [{ name: 'refund', input: { euros: 6 } }] : []),
            ],
          }
        : textOf(last.content)
    }),
  })
  return { agent, paid }
}

describe('what comes back through an MCP client', (it) => {
  it('decide nothing with a state of their own making', async (context) => {
    for (const approve of ['client', 'elsewhere'] as const) {
      const { agent, paid } = cashier()
      const { connect, runtime } = await openHost(context, [agent], { mcp: { approve } })
      const { session } = await call(await connect('HTTP, modern'), 'cashier', { task: 'x' })
      const { key } = runtime.agent(session)!.pending()[0]!
      const forged = JSON.stringify({ session, tries: 0, shown: { [key]: '' } })
      const body = Buffer.from(forged).toString('base64url')
      const inputResponses = { [key]: { action: 'accept', content: { approve: true } } }
      for (const requestState of [forged, body, `${body}.`, `${body}.${'A'.repeat(43)}`]) {
        const asked = Promise.withResolvers<void>()
        const client = await connect('HTTP, modern', {
          fill: () => {
            asked.resolve()
            return new Promise(() => {})
          },
        })
        const params = { name: 'cashier', arguments: { task: 'x' }, requestState, inputResponses }
        const answered = client.request({ method: 'tools/call', params }).catch(() => {})
        await Promise.race([answered, asked.promise])
        assert.is(runtime.agent(session)!.pending().length, 1, `${approve} ${requestState}`)
        await client.close()
      }
      assert.equal(paid, [])
    }
  })

  it('decide what they were shown, and not what has taken its place', async (context) => {
    const { agent, paid } = cashier()
    const { connect, runtime } = await openHost(context, [agent])
    let asked = 0
    const client = await connect('HTTP, modern', {
      fill: () => {
        asked += 1
        const [one] = runtime.agents()
        if (asked === 1) one!.decide(one!.pending()[0]!.key, 'deny')
        return { action: 'accept', content: { approve: true } }
      },
    })
    await call(client, 'cashier', { task: 'x' })
    assert.equal([paid, asked], [[], 1])
  })
  for (const shareKey of ['k'.repeat(32), undefined])
    it(`answer to a server that was restarted while they were asked (${shareKey === undefined ? 'again: it has another key' : 'with the same key'})`, async (context) => {
      const { agent, paid } = cashier()
      const store = lastingStore()
      const serve = shareKey === undefined ? {} : { shareKey }
      const first = await openHost(context, [agent], { store, serve })
      let asked = 0
      const client = await first.connect('HTTP, modern', {
        fill: async () => {
          asked += 1
          if (asked === 1) {
            await first.runtime.close()
            const port = first.server.port
            await openHost(context, [agent], { store, serve: { ...serve, port } })
            // The connections of before are gone for good then.
            await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => {})
          }
          return { action: 'accept', content: { approve: true } }
        },
      })
      const { text, stopReason } = await call(client, 'cashier', { task: 'x' })
      assert.equal([stopReason, text], ['stop', '1 paid'])
      assert.equal([paid, asked], [[5], shareKey === undefined ? 2 : 1])
    })

  it('bring back what the server gave them, and nothing else', async (context) => {
    const { agent, paid } = cashier()
    const { connect } = await openHost(context, [agent])
    const client = await connect('HTTP, modern', { fill: () => ({ action: 'accept', content: { approve: true } }) })
    const made = (value: unknown): string =>
      keyedText('another key', 'another purpose', { v: value, e: Date.now() + 1e6 })
    for (const requestState of ['nonsense', '{"session":1}', made({ session: 1 }), made(forState('nobody'))]) {
      const params = { name: 'cashier', arguments: { task: 'x' }, requestState, inputResponses: {} }
      const answer = await client.request({ method: 'tools/call', params }).catch((thrown: unknown) => thrown)
      assert.match(JSON.stringify(answer instanceof Error ? answer.message : answer), /requestState: |AGENT_NOT_FOUND/)
    }
    assert.equal(paid, [])
  })

  const admin = 'a-token-that-may-do-all'
  const other = 'a-token-of-another-one0'
  const approving = (key: string) => ({ [key]: { action: 'accept', content: { approve: true } } })
  const serve = { tokens: { [admin]: 'admin', [other]: 'admin' } } as const

  it('decide nothing where it is decided elsewhere, whatever a client makes up', async (context) => {
    const { agent, paid } = cashier()
    const { connect, runtime, server } = await openHost(context, [agent], { serve, mcp: { approve: 'elsewhere' } })
    const { session } = await call(await connect('HTTP, modern', { token: admin }), 'cashier', { task: 'x' })
    const { key } = runtime.agent(session)!.pending()[0]!
    for (const requestState of [
      JSON.stringify({ session, tries: 0 }),
      keyedText('a key of its own', 'mcp', { v: forState(session, key), e: Date.now() + 1e6 }),
    ])
      for (const elicitation of [undefined, { form: {} }]) {
        const params = { name: 'cashier', arguments: { session }, requestState, inputResponses: approving(key) }
        const answer = await raw(server.port, admin, params, elicitation)
        assert.not.match(answer, /1 paid/)
      }
    assert.equal([paid, runtime.agent(session)!.pending().length], [[], 1])
  })

  it('wait for no run that a client made up', async (context) => {
    const { agent } = cashier()
    const { connect, server } = await openHost(context, [agent], { serve })
    const fill = () => ({ action: 'accept', content: { approve: true } }) as const
    const { session } = await call(await connect('HTTP, modern', { token: admin, fill }), 'cashier', { task: 'x' })
    const made = { session, requestId: 'nobody-asked-for-it', tries: 0, shown: {} }
    const requestState = keyedText('a key of its own', 'mcp', { v: made, e: Date.now() + 1e6 })
    const answer = await raw(server.port, admin, { name: 'cashier', arguments: { task: 'x' }, requestState })
    assert.match(answer, session)
  })

  it('answer to what they were shown, to whom they were asked by, for that tool, and for a day', async (context) => {
    const { agent, paid } = cashier()
    const twin = defineAgent({ name: 'twin', model: scriptedModel([]) })
    let ahead = 0
    const clock = { ...systemClock, now: () => Date.now() + ahead }
    const { runtime, server } = await openHost(context, [agent, twin], { serve, clock })
    const forms = { form: {} }
    const ask = async (task: string) => {
      const answer = await raw(server.port, admin, { name: 'cashier', arguments: { task } }, forms)
      const { requestState, inputRequests } = resultIn(answer)
      return { requestState, keys: Object.keys(inputRequests), session: saidIn(requestState) }
    }
    const first = await ask('x')
    const second = await ask('x')
    const answers = { inputResponses: { ...approving(first.keys[0]!), ...approving(second.keys[0]!) } }
    const params = { name: 'cashier', arguments: { task: 'x' }, ...answers, requestState: first.requestState }
    const [body = '', hash = ''] = first.requestState.split('.')
    const forged = Buffer.from(Buffer.from(body, 'base64url').toString().replace(first.session, second.session))
    for (const [who, change] of [
      [other, {}],
      [admin, { name: 'twin' }],
      [admin, { requestState: `${forged.toString('base64url')}.${hash}` }],
    ] as const)
      await raw(server.port, who, { ...params, ...change }, forms)
    // Nor through a client that says that it shows no forms.
    await raw(server.port, admin, params)
    assert.equal(paid, [])
    ahead = 25 * 60 * 60 * 1_000
    const late = resultIn(await raw(server.port, admin, params, forms))
    assert.equal([paid, Object.keys(late.inputRequests)], [[], first.keys])
    // Asked again, they answer.
    await raw(server.port, admin, { ...params, requestState: late.requestState }, forms)
    assert.equal(paid, [5])
    assert.is(runtime.agent(second.session)!.pending().length, 1)
  })
})

const forState = (session: string, key = 'k') => ({ session, tries: 0, shown: { [key]: 'x' } })

const saidIn = (state: string): string =>
  (JSON.parse(Buffer.from(state.split('.', 1)[0]!, 'base64url').toString()) as { v: { session: string } }).v.session

interface Asked {
  readonly requestState: string
  readonly inputRequests: Readonly<Record<string, unknown>>
}

const resultIn = (answer: string): Asked => {
  const text = answer.startsWith('{')
    ? answer
    : answer
        .split('\n')
        .find((line) => line.startsWith('data: {'))!
        .slice(6)
  return (JSON.parse(text) as { result: Asked }).result
}

/** The answer to a call as a client makes it that keeps to no package. */
async function raw(
  port: number,
  token: string,
  params: { readonly name: string; readonly [field: string]: unknown },
  elicitation?: object,
): Promise<string> {
  const version = '2026-07-28'
  const named = 'io.modelcontextprotocol'
  const meta = {
    [`${named}/protocolVersion`]: version,
    [`${named}/clientInfo`]: { name: 'raw', version: '1' },
    [`${named}/clientCapabilities`]: elicitation === undefined ? {} : { elicitation },
  }
  const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': version,
      'mcp-method': 'tools/call',
      'mcp-name': params.name,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...params, _meta: meta } }),
  })
  return response.text()
}
