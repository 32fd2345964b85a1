import type { AgentEvent } from '../../../../src/protocol/events.ts'
import { allRights, type Right } from '../../../wire/src/rights.ts'
import { AgentAccess } from '../../src/server/agentAccess.ts'
import type { Bridge } from '../../src/server/bridge.ts'
import { GivenAgents } from '../../src/server/clientAgent.ts'
import type { DrivenAgent } from '../../src/server/drivenAgent.ts'
import { checkExposure, allowsHost, allowsOrigin, allowsSite } from '../../src/server/origins.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const secret = { secret: 'arguments' }
const waits = (kind: 'approval' | 'question' | 'call') => ({
  kind,
  agentId: 'a',
  callId: kind,
  key: `key of ${kind}`,
  name: kind,
  input: secret,
})

/** An agent that says what was done to it, in the hands of a client with these rights. */
function given(may: readonly Right[], ended: object = { stopReason: 'stop' }) {
  const done: string[] = []
  const events: AgentEvent[] = []
  const listeners: ((event: AgentEvent) => unknown)[] = []
  const agent = {
    id: 'a',
    definition: 'worker',
    clientTools: ['call'],
    pause: { type: 'stall', evidence: 'secret words' },
    growingReply: { runId: 'r', turnIndex: 0, text: 'said', thinking: 'secret thoughts' },
    pending: () => [waits('approval'), waits('question'), waits('call')],
    approvals: () => [waits('approval')],
    wasAsked: () => done.includes('x'),
    dispatch: ({ type }: { readonly type: string }) => {
      done.push(type)
      return { requestId: 'q', result: Promise.resolve(ended) }
    },
    decide: (callId: string) => void done.push(`decide ${callId}`),
    revert: () => void done.push('revert'),
    abort: () => void done.push('abort'),
    close: async () => void done.push('close'),
    subscribe: (listener: (event: AgentEvent) => unknown) => {
      listeners.push(listener)
      return () => void listeners.splice(0)
    },
    events: () => events[Symbol.iterator](),
  }
  const access = new AgentAccess({} as Bridge, { may })
  const all = new GivenAgents()
  const client = all.of(agent as unknown as DrivenAgent, access)
  return { agent, access, client, done, events, listeners, all }
}

const frames: readonly (readonly [needs: readonly Right[], command: object])[] = [
  [['talk'], { type: 'agent.prompt', content: 'x' }],
  [['talk'], { type: 'agent.steer', content: 'x', provenance: { type: 'note', kind: 'mcp' } }],
  [['talk'], { type: 'agent.interrupt', content: 'x' }],
  [['talk'], { type: 'agent.followUp', content: 'x' }],
  [['talk'], { type: 'agent.abort' }],
  [['talk', 'control'], { type: 'agent.prompt', content: 'x', limits: {} }],
  [['talk', 'control'], { type: 'agent.prompt', content: 'x', context: [] }],
  [['talk', 'control'], { type: 'agent.prompt', content: 'x', provenance: { type: 'note', kind: 'x' } }],
  [['control'], { type: 'agent.resume' }],
  [['control'], { type: 'agent.stop' }],
  [['control'], { type: 'agent.revert', step: 'n1' }],
  [['control'], { type: 'agent.prune' }],
  [['control'], { type: 'agent.graft' }],
  [['control'], { type: 'agent.fold' }],
  [['control'], { type: 'agent.brake' }],
  [['control'], { type: 'agent.compact' }],
  [['control'], { type: 'agent.pin' }],
  [['control'], { type: 'agent.schedule' }],
  [['control'], { type: 'agent.unschedule' }],
  [['control'], { type: 'agent.fire' }],
  [['control'], { type: 'agent.unpin' }],
  [['use'], { type: 'agent.use' }],
  [['approve'], { type: 'agent.decide', callId: 'key of approval', decision: 'approve' }],
  [['approve'], { type: 'agent.decide', callId: 'key of approval', decision: 'deny' }],
  [['approve'], { type: 'agent.decide', callId: 'approval', decision: 'deny' }],
  [['approve'], { type: 'agent.decide', callId: 'key of approval', decision: 'answer', value: 1 }],
  [['approve'], { type: 'agent.decide', callId: 'of nobody', decision: 'deny' }],
  [['approve'], { type: 'agent.decide', callId: 'key of question', decision: 'approve' }],
  [['answer.own'], { type: 'agent.decide', callId: 'key of question', decision: 'answer', value: 1 }],
  [['answer.own'], { type: 'agent.decide', callId: 'key of question', decision: 'deny' }],
  [['answer.own'], { type: 'agent.decide', callId: 'question', decision: 'deny' }],
  [['answer.own'], { type: 'agent.decide', callId: 'key of call', decision: 'deny' }],
  [['answer.own'], { type: 'agent.decide', callId: 'of nobody', decision: 'answer', value: 1 }],
]

describe('an agent in the hands of a client', (it) => {
  for (const [needs, command] of frames)
    it(`takes ${JSON.stringify(command)} with ${needs.join(' and ')}, and with nothing less`, () => {
      const good = given(needs)
      good.client.dispatch({ agentId: 'a', ...command } as never)
      assert.equal(good.done, [(command as { type: string }).type])
      for (const missing of needs) {
        const bad = given(allRights.filter((right) => right !== missing))
        assert.throws(() => bad.client.dispatch({ agentId: 'a', ...command } as never), withCode('BRIDGE_FORBIDDEN'))
        assert.equal(bad.done, [])
      }
    })

  const methods: readonly (readonly [needs: Right, what: string, call: (agent: DrivenAgent) => unknown])[] = [
    ['talk', 'abort', (agent) => agent.abort()],
    ['control', 'close', (agent) => agent.close()],
    ['control', 'revert', (agent) => agent.revert('n1', {} as never)],
    ['approve', 'decide key of approval', (agent) => agent.decide('key of approval', 'approve')],
    ['answer.own', 'decide key of question', (agent) => agent.decide('key of question', { value: 1 })],
  ]
  for (const [needs, what, call] of methods)
    it(`does "${what}" with ${needs}, and with nothing less`, () => {
      const good = given([needs])
      call(good.client)
      assert.equal(good.done, [what])
      const bad = given(allRights.filter((right) => right !== needs))
      assert.throws(() => call(bad.client), withCode('BRIDGE_FORBIDDEN'))
      assert.equal(bad.done, [])
    })

  it('shows what its client may see, and of what it is to carry out the arguments', () => {
    const inputs = (may: readonly Right[]): unknown[] =>
      given(may)
        .client.pending()
        .map(({ input }) => input)
    assert.equal(inputs(['see.all']), [secret, secret, secret])
    assert.equal(inputs(['see.messages']), [{}, {}, {}])
    assert.equal(inputs(['see.messages', 'answer.own']), [{}, {}, secret])
    for (const [may, isSeen] of [
      ['see.all', true],
      ['see.messages', false],
    ] as const) {
      const { pause, growingReply, approvals } = given([may]).client
      const text = JSON.stringify([pause, growingReply, approvals()])
      for (const word of ['secret words', 'secret thoughts', 'arguments']) assert.is(text.includes(word), isSeen)
      assert.match(text, '"said"')
    }
    const { agent, client } = given(['see.messages'])
    Object.assign(agent, { pause: null })
    assert.is(client.pause, null)
    assert.is(client.definition, 'worker')
  })

  it('tells its client of what it may see, by either way to listen, until it listens no more', async () => {
    const event = (type: string, more: object): AgentEvent =>
      ({ v: 3, type, agentId: 'a', path: [], seq: 1, time: 0, runId: 'r', turnIndex: 0, ...more }) as never
    const happened = [
      event('tool.start', { callId: 'c', name: 'look', input: secret }),
      { ...event('toolCall.delta', { text: 'secret' }), v: undefined } as never,
      event('call.requested', { key: 'k', callId: 'c', name: 'call', input: secret }),
      event('call.requested', { key: 'k', callId: 'c', name: 'call', input: secret, agentId: 'a.1', path: ['a'] }),
    ]
    delete (happened[1] as { v?: number }).v
    for (const [may, count, seen] of [
      [['see.all'], 4, [true, true, true, true]],
      [['see.messages', 'answer.own'], 3, [false, true, false]],
      [['see.messages'], 3, [false, false, false]],
    ] as const) {
      const { client, events, listeners } = given(may)
      const heard: AgentEvent[] = []
      const end = client.subscribe((one) => void heard.push(one))
      for (const one of happened) listeners[0]!(one)
      assert.is(heard.length, count)
      assert.equal(
        heard.map((one) => JSON.stringify(one).includes('secret')),
        seen,
      )
      end()
      assert.is(listeners.length, 0)
      events.push(...happened)
      const iterated: AgentEvent[] = []
      for await (const one of client.events()) iterated.push(one)
      assert.equal(iterated, heard)
    }
  })

  it('tells how a run ended without words that may quote what the client does not see', async () => {
    const ended = { stopReason: 'error', error: { code: 'TOOL_FAILED', message: 'secret' } }
    for (const [may, isSeen] of [
      [['see.all', 'talk'], true],
      [['see.messages', 'talk'], false],
    ] as const) {
      const run = given(may, ended).client.dispatch({ type: 'agent.prompt', agentId: 'a', content: 'x' } as never)!
      assert.is(run.requestId, 'q')
      const result = await run.result
      assert.equal([result.error?.code, JSON.stringify(result).includes('secret')], ['TOOL_FAILED', isSeen])
    }
  })

  it('is one object for all who may do the same', () => {
    const { all, agent } = given([])
    const of = (...may: readonly Right[]) => all.of(agent as never, new AgentAccess({} as Bridge, { may }))
    assert.is(of('talk', 'use'), of('use', 'talk'))
    assert.is.not(of('talk'), of('use', 'talk'))
    assert.is.not(of('talk'), all.of({ ...agent } as never, new AgentAccess({} as Bridge, { may: ['talk'] })))
  })
})

describe('what is served beyond this machine', (it) => {
  it('is served where somebody is asked who they are', () => {
    for (const host of ['localhost', '127.0.0.1', '127.1.2.3', '::1', '[::1]']) checkExposure(host, {})
    for (const host of ['0.0.0.0', '::', '10.0.0.1', 'localhost.example', '127.0.0.1.example'])
      assert.throws(() => checkExposure(host, { tokens: {} }), withCode('INVALID_OPTION', host))
    for (const guarded of [{ tokens: { token: 'admin' } }, { authenticate: () => null }, { gatewaySecret: 'secret' }])
      checkExposure('0.0.0.0', guarded as never)
  })

  const open = { origins: undefined, isGuarded: false }
  const chosen = { origins: ['https://app.example:8443'], isGuarded: false }
  const guarded = { origins: undefined, isGuarded: true }

  it('is for hosts of this machine, or of pages that may connect, where nobody is asked', () => {
    for (const [host, rule, allowed] of [
      ['localhost:4100', open, true],
      ['[::1]:4100', open, true],
      [undefined, open, true],
      ['evil.example', open, false],
      ['///', open, false],
      ['evil.example', guarded, true],
      ['app.example:8443', chosen, true],
      ['app.example', chosen, false],
    ] as const)
      assert.is(allowsHost(host, rule), allowed, host)
  })

  it('is for its own pages, or for those that may connect', () => {
    for (const [origin, host, rule, allowed] of [
      [undefined, 'evil.example', open, true],
      ['http://localhost:4100', 'localhost:4100', open, true],
      ['http://localhost:1', 'localhost:4100', open, false],
      ['http://rebound.example', 'rebound.example', open, false],
      ['http://rebound.example', 'rebound.example', guarded, true],
      ['http://evil.example', 'rebound.example', guarded, false],
      ['null', 'localhost:4100', guarded, false],
      ['https://app.example:8443', 'other', chosen, true],
      ['http://localhost:4100', 'localhost:4100', chosen, false],
    ] as const)
      assert.is(allowsOrigin(origin, host, rule), allowed, `${origin} at ${host}`)
    for (const [site, isAllowed] of [
      [undefined, true],
      ['none', true],
      ['same-origin', true],
      ['same-site', false],
      ['cross-site', false],
    ] as const) {
      const page = { 'sec-fetch-site': site, 'sec-fetch-dest': 'empty' }
      const link = { ...page, 'sec-fetch-dest': 'document' }
      assert.is(allowsSite(page, true, open), isAllowed, site)
      assert.is(allowsSite(link, true, open), isAllowed, site)
      assert.is(allowsSite(page, true, guarded), true)
      assert.is(allowsSite(page, false, guarded), isAllowed, site)
      assert.is(allowsSite(link, false, guarded), true)
    }
  })
})
