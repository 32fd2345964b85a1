import { EventType } from '@ag-ui/core'
import { defineAgent } from '../../../src/index.ts'
import { scriptedModel } from '../../../src/testing.ts'
import { agUi } from '../../../src/agUi.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { inputOf, readEvents, serveFrontEnds } from './agUiHarness.ts'

const definition = () => defineAgent({ name: 'a', model: scriptedModel(['one', 'two']) })

const bad: readonly (readonly [string, unknown, number, string])[] = [
  ['no JSON', '{', 400, 'BRIDGE_FRAME'],
  ['no RunAgentInput', { threadId: 't' }, 400, 'BRIDGE_FRAME'],
  ['a runId that says nothing', inputOf({ runId: '' }), 400, 'BRIDGE_FRAME'],
  ['nesting without end', `${'['.repeat(100)}${']'.repeat(100)}`, 400, 'BRIDGE_FRAME'],
  ['a threadId that is no agent id', inputOf({ threadId: '../etc' }), 400, 'INVALID_ID'],
  ['no user message', inputOf({ messages: [] }), 400, 'INVALID_CONTENT'],
  ['a blank message', inputOf({ messages: [{ id: 'm', role: 'user', content: ' ' }] }), 400, 'INVALID_CONTENT'],
  [
    'a document',
    inputOf({
      messages: [{ id: 'm', role: 'user', content: [{ type: 'document', source: { type: 'url', value: 'x' } }] }],
    }),
    400,
    'INVALID_CONTENT',
  ],
  ['an unknown definition', inputOf({ forwardedProps: { definition: 'b' } }), 400, 'INVALID_OPTION'],
  ['an unknown command', inputOf({ forwardedProps: { command: 'dance' } }), 400, 'INVALID_OPTION'],
  ['an abort of nothing', inputOf({ forwardedProps: { command: 'abort' } }), 404, 'AGENT_NOT_FOUND'],
  [
    'an answer to no question',
    inputOf({ resume: [{ interruptId: 'x', status: 'cancelled' }] }),
    409,
    'CALL_NOT_PENDING',
  ],
  ['more than the server takes', inputOf({ state: 'x'.repeat(5_000) }), 413, 'BRIDGE_LIMIT'],
]

describe('AG-UI input', (it) => {
  for (const [what, input, status, code] of bad) {
    it(`refuses ${what}`, async (context) => {
      const { post } = await serveFrontEnds(context, [definition()], { limits: { frameBytes: 4_096, drainMs: 50 } })
      const response = await post(input)
      const said = (await response.json()) as { code: string; message: string }
      assert.equal([response.status, said.code], [status, code])
      assert.ok(said.message.length > 10)
      assert.not.match(said.message, /docs\/protocol\.md|named option/, 'the advice is for this endpoint')
    })
  }

  it('is refused for an agent of another definition than the one the endpoint is for', async (context) => {
    const other = defineAgent({ name: 'b', model: scriptedModel(['one']) })
    const { post, runtime } = await serveFrontEnds(context, [definition(), other], { definition: 'a' })
    const agent = await runtime.spawn(other, { id: 'thread' })
    const asked = [
      inputOf(),
      inputOf({ forwardedProps: { command: 'abort' } }),
      inputOf({ forwardedProps: { definition: 'b' } }),
      inputOf({ threadId: 'new', forwardedProps: { definition: 'b' } }),
    ]
    const answers = await Promise.all(asked.map((input) => post(input)))
    const messages = await Promise.all(answers.map(async (one) => ((await one.json()) as { message: string }).message))
    assert.equal(
      answers.map(({ status }) => status),
      [400, 400, 400, 400],
    )
    for (const message of messages.slice(0, 2))
      assert.match(message, /^threadId: "thread" is an agent of "b", and this is for those of "a"\./)
    for (const message of messages.slice(2))
      assert.match(message, /^forwardedProps\.definition: this is for threads of "a", not "b"\./)
    assert.equal([agent.conversation.log(), runtime.agent('new')], [[], undefined])
    assert.is((await post(inputOf({ threadId: 'own', forwardedProps: { definition: 'a' } }))).status, 200)
  })

  it('is answered by a definition that is served, or the server does not start', async (context) => {
    await assert.rejects(
      serveFrontEnds(context, [definition()], { definition: 'nope' }),
      /agUi: "nope" is not among the definitions of serve \(there are: a\)/,
    )
  })

  it('refuses other methods and other content types', async (context) => {
    const { url, post } = await serveFrontEnds(context, [definition()])
    const got = await fetch(url)
    assert.equal([got.status, got.headers.get('allow')], [405, 'POST, OPTIONS'])
    const plain = await post(inputOf(), { headers: { 'content-type': 'text/plain' } })
    assert.is(plain.status, 415)
  })

  it('keeps to roles and reach of tokens', async (context) => {
    const [observe, drive, admin, other] = ['observe', 'drive', 'admin', 'other'].map((name) => name.padEnd(16, 'x'))
    const tokens = {
      [observe!]: 'observe',
      [drive!]: 'drive',
      [admin!]: 'admin',
      [other!]: { role: 'admin', agents: ['elsewhere'] },
    } as const
    const { post } = await serveFrontEnds(context, [definition()], { tokens })
    const as = async (token: string | undefined, runId: string): Promise<number> => {
      const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
      const messages = [{ id: runId, role: 'user' as const, content: 'hi' }]
      const response = await post(inputOf({ runId, messages }), {
        headers: { 'content-type': 'application/json', ...authorization },
      })
      await response.text()
      return response.status
    }
    assert.is(await as(undefined, 'a'), 401)
    assert.is(await as(drive, 'b'), 403)
    assert.is(await as(admin, 'c'), 200)
    assert.is(await as(drive, 'd'), 200)
    assert.is(await as(observe, 'e'), 403)
    assert.is(await as(other, 'f'), 403)
  })

  it('lets pages of an allowed origin ask, and no others', async (context) => {
    const { url, post } = await serveFrontEnds(context, [definition()], { origins: ['http://page.example'] })
    const origin = { origin: 'http://page.example' }
    const preflight = await fetch(url, {
      method: 'OPTIONS',
      headers: { ...origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' },
    })
    assert.is(preflight.status, 204)
    assert.match(preflight.headers.get('access-control-allow-headers')!, /content-type/)
    const answer = await post(inputOf(), { headers: { ...origin, 'content-type': 'application/json' } })
    assert.is(answer.headers.get('access-control-allow-origin'), origin.origin)
    assert.is((await readEvents(answer)).at(-1)!.type, EventType.RUN_FINISHED)
    const foreign = await post(inputOf(), {
      headers: { origin: 'http://foreign.example', 'content-type': 'application/json' },
    })
    assert.is(foreign.status, 403)
  })

  it('refuses options it does not know', () => {
    assert.throws(() => agUi({ definition: '' }), /definition/)
    assert.throws(() => agUi({ thread: 'x' } as object), /thread/)
  })
})
