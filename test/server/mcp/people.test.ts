import { z } from 'zod'
import { defineAgent } from '../../../src/actors/defineAgent.ts'
import { defineTool } from '../../../src/actors/tools/defineTool.ts'
import { policyModel } from '../../../src/actors/models/policyModel.ts'
import { textOf } from '../../../src/protocol/messages.ts'
import { scriptedModel } from '../../../src/testing/scriptedModel.ts'
import { keyedText } from '../../../src/server/bridge/keyed.ts'
import { systemClock } from '../../../src/protocol/clock.ts'
import { calls, resultsOf, tool } from '../../support/agentHarness.ts'
import { lastingStore } from '../bridge/bridgeHarness.ts'
import { assert, describe } from '../../support/suite.ts'
import { call, openHost, ways, type Fill } from './mcpHarness.ts'

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

const schemas: { readonly [name: string]: z.ZodType } = {
  sure: z.boolean(),
  colour: z.enum(['red', 'blue']),
  name: z.string().min(3),
  trip: z.object({ to: z.string().describe('A town.'), seats: z.int().min(1), tags: z.array(z.string()).optional() }),
  list: z.array(z.string()),
}

/** An agent that asks one of these, and what its tool got. */
function asker(name: string) {
  const model = scriptedModel([calls('c', 'ask'), 'done'])
  const ask = tool('ask', (_, context) => context.ask(schemas[name]!, `Which ${name}?`))
  return { agent: defineAgent({ name: 'asker', model, tools: [ask] }), got: () => resultsOf(model.requests[1])[0] }
}

describe('people at an MCP client', (it) => {
  for (const way of ways) {
    it(`approve calls, and deny them, each in a form (${way})`, async (context) => {
      const { agent, paid } = cashier()
      const { connect } = await openHost(context, [agent])
      const asked: string[] = []
      const fill: Fill = ({ message }) => {
        asked.push(message)
        return {
          action: 'accept',
          content: message.includes('"euros":5') ? { approve: true } : { approve: false, reason: 'too much' },
        }
      }
      const { text, session, stopReason } = await call(await connect(way, { fill }), 'cashier', { task: 'twice' })
      assert.is(stopReason, 'stop')
      assert.match(text, /too much/)
      assert.equal(paid, [5])
      assert.equal(asked.toSorted(), [
        `May ${session} call refund {"euros":5}?`,
        `May ${session} call refund {"euros":6}?`,
      ])
    })

    for (const [action, says] of [
      ['decline', /did not want to answer/],
      ['cancel', /was dismissed/],
    ] as const)
      it(`deny by ${action} (${way})`, async (context) => {
        const { agent, paid } = cashier()
        const { connect } = await openHost(context, [agent])
        const { text } = await call(await connect(way, { fill: () => ({ action }) }), 'cashier', { task: 'x' })
        assert.match(text, says)
        assert.equal(paid, [])
      })

    it(`answer questions in forms of plain fields (${way})`, async (context) => {
      for (const [name, content, got] of [
        ['sure', { answer: true }, 'true'],
        ['colour', { answer: 'blue' }, 'blue'],
        ['trip', { to: 'Ulm', seats: 2, tags: '["a"]' }, '{"to":"Ulm","seats":2,"tags":["a"]}'],
        ['list', { answer: '["a","b"]' }, '["a","b"]'],
      ] as const) {
        const { agent, got: seen } = asker(name)
        const { connect } = await openHost(context, [agent])
        const fill: Fill = ({ message }) => {
          assert.is(message, `Which ${name}?`)
          return { action: 'accept', content }
        }
        await call(await connect(way, { fill }), 'asker', { task: 'x' })
        assert.is(seen(), got)
      }
    })

    it(`see all of a call, and are not asked about one that is too long for a form (${way})`, async (context) => {
      for (const [note, isAsked] of [
        ['\u202E'.repeat(10) + 'x'.repeat(6_000), true],
        ['x'.repeat(20_000), false],
      ] as const) {
        const ran: unknown[] = []
        const model = scriptedModel([calls('c', ['note', { note }]), 'done'])
        const noted = tool('note', (input) => ran.push(input), { needsApproval: true })
        const { connect } = await openHost(context, [defineAgent({ name: 'scribe', model, tools: [noted] })])
        const asked: string[] = []
        const fill: Fill = ({ message }) => {
          asked.push(message)
          return { action: 'accept', content: { approve: true } }
        }
        const { text, stopReason } = await call(await connect(way, { fill }), 'scribe', { task: 'x' })
        assert.equal([stopReason, ran.length, asked.length], isAsked ? ['stop', 1, 1] : ['waiting', 0, 0])
        if (isAsked) assert.match(asked[0]!, `⟨U+202E⟩${'x'.repeat(6_000)}`)
        else assert.match(text, /too long to be shown here as a whole .*decide it on the inspector page/)
      }
    })

    it(`are asked again with what was wrong, but not for ever (${way})`, async (context) => {
      const { agent, got } = asker('list')
      const { connect } = await openHost(context, [agent])
      const said: string[] = []
      const answers = ['nonsense', '["a"]']
      const fill: Fill = ({ message }) => {
        said.push(message)
        return { action: 'accept', content: { answer: answers.shift()! } }
      }
      await call(await connect(way, { fill }), 'asker', { task: 'x' })
      assert.is(got(), '["a"]')
      assert.is(said.length, 2)
      assert.match(said[1]!, /The last answer did not do: .*expected array/s)
      const never = asker('list')
      const host = await openHost(context, [never.agent])
      let times = 0
      const stubborn: Fill = () => ({ action: 'accept', content: { answer: `x${(times += 1)}` } })
      const told = await call(await host.connect(way, { fill: stubborn }), 'asker', { task: 'x' })
      assert.equal([told.stopReason, told.isError, times], ['waiting', true, 5])
    })

    it(`that cannot be asked leave it to others, and the session tells what came of it (${way})`, async (context) => {
      const { agent, paid } = cashier()
      const { connect, runtime } = await openHost(context, [agent])
      const client = await connect(way)
      const { isError, stopReason, session, text, data } = await call(client, 'cashier', { task: 'x' })
      assert.equal([isError, stopReason], [true, 'waiting'])
      assert.match(text, new RegExp(`- May ${session} call refund \\{"euros":5\\}\\?`))
      const [pending] = data['pending'] as { key: string; kind: string }[]
      assert.is(pending!.kind, 'approval')
      // Its task would wait behind the decision, and run when nobody waits for the answer.
      const again = await call(client, 'cashier', { session, task: 'another' })
      assert.is(again.stopReason, 'waiting')
      runtime.agent(session)!.decide(pending!.key, 'approve')
      const done = await call(client, 'cashier', { session })
      assert.equal([done.stopReason, done.text], ['stop', '1 paid'])
      assert.equal(paid, [5])
    })
  }

  it('are not asked where approvals are made elsewhere', async (context) => {
    const { agent, paid } = cashier()
    const { connect } = await openHost(context, [agent], { mcp: { approve: 'elsewhere' } })
    const fill: Fill = () => ({ action: 'accept', content: { approve: true } })
    for (const way of ways)
      assert.is((await call(await connect(way, { fill }), 'cashier', { task: 'x' })).stopReason, 'waiting')
    assert.equal(paid, [])
  })

  it('are asked for a call of a sub-agent', async (context) => {
    const { agent, paid } = cashier()
    const lead = defineAgent({
      name: 'lead',
      agents: [agent],
      model: policyModel(({ messages }) =>
        messages.at(-1)!.role === 'user' ? { toolCalls: [{ name: 'cashier', input: { task: 'x' } }] } : 'settled',
      ),
    })
    for (const way of ways) {
      const { connect } = await openHost(context, [lead])
      const fill: Fill = () => ({ action: 'accept', content: { approve: true } })
      assert.is((await call(await connect(way, { fill }), 'lead', { task: 'x' })).text, 'settled', way)
    }
    assert.equal(paid, [5, 5, 5, 5])
  })

  it('carry out a call that is for a client', async (context) => {
    const model = scriptedModel([calls('c', 'locate'), 'done'])
    const locate = defineTool({ name: 'locate', description: 'Where.', input: z.object({}) })
    const { connect } = await openHost(context, [defineAgent({ name: 'guide', model, tools: [locate] })])
    const fill: Fill = ({ message }) => {
      assert.match(message, /asks for this to be done: locate \{\}/)
      return { action: 'accept', content: { result: 'Ulm' } }
    }
    await call(await connect('HTTP, modern', { fill }), 'guide', { task: 'x' })
    assert.equal(resultsOf(model.requests[1]), ['Ulm'])
  })

  it('are not kept waiting when somebody else was faster', async (context) => {
    const { agent, paid } = cashier()
    const { connect, runtime } = await openHost(context, [agent])
    const fill: Fill = () => {
      const [one] = runtime.agents()
      one!.decide(one!.pending()[0]!.key, 'approve')
      return new Promise(() => {})
    }
    const { text } = await call(await connect('HTTP, legacy', { fill }), 'cashier', { task: 'x' })
    assert.is(text, '1 paid')
    assert.equal(paid, [5])
  })

  it('are asked by the next call of a client that left, also after a restart', async (context) => {
    const { agent, paid } = cashier()
    const store = lastingStore()
    const first = await openHost(context, [agent], { store })
    const { session } = await call(await first.connect('HTTP, modern'), 'cashier', { task: 'x' })
    await first.runtime.close()
    const second = await openHost(context, [agent], { store })
    const fill: Fill = () => ({ action: 'accept', content: { approve: true } })
    const done = await call(await second.connect('HTTP, modern', { fill }), 'cashier', { session })
    assert.equal([done.stopReason, done.text], ['stop', '1 paid'])
    assert.equal(paid, [5])
  })

  it('are asked again by a server that was restarted while they were asked: it does not know what they were shown', async (context) => {
    const { agent, paid } = cashier()
    const store = lastingStore()
    const first = await openHost(context, [agent], { store, mcp: { approve: 'client' } })
    let asked = 0
    const client = await first.connect('HTTP, modern', {
      fill: async () => {
        asked += 1
        if (asked > 1) return { action: 'accept', content: { approve: true } }
        await first.runtime.close()
        const { server } = await openHost(context, [agent], { store, serve: { port: first.server.port } })
        // The connections of before are gone for good then.
        await fetch(`http://127.0.0.1:${server.port}/healthz`).catch(() => {})
        return { action: 'accept', content: { approve: true } }
      },
    })
    const { text, stopReason } = await call(client, 'cashier', { task: 'x' })
    assert.equal([stopReason, text], ['stop', '1 paid'])
    assert.equal([paid, asked], [[5], 2])
  })

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

/** What a server of ours would say of a session. */
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
