import { z } from 'zod'
import { defineAgent } from '../../../define/src/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { agentTools } from '../../src/server/agentTool.ts'
import { answerOf, errorAnswer } from '../../src/server/answers.ts'
import { closeUnread, refusalText, statusOf, wrongContentType } from '../../../bridge/src/streams/httpRefusals.ts'
import { adviceOf } from '../../../../src/protocol/errors.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const model = policyModel(() => 'x')
const plain = defineAgent({ name: 'plain', description: 'answers', model })
const toolOf = (definition: ReturnType<typeof defineAgent>) => agentTools([definition]).get(definition.name)!

describe('an agent as a tool of MCP', (it) => {
  it('takes a task, a session, or both', () => {
    const { read, spec } = toolOf(plain)
    assert.equal([spec.name, Object.keys(spec.inputSchema.properties ?? {})], ['plain', ['task', 'session']])
    assert.equal(read({ task: 'go' }), { type: 'task', text: 'go' })
    assert.equal(read({ task: 'go', session: 's' }), { type: 'task', text: 'go', session: 's' })
    assert.equal(read({ session: 's' }), { type: 'look', session: 's' })
    for (const wrong of [
      {},
      undefined,
      null,
      'go',
      { task: 7 },
      { task: 'go', session: '' },
      { session: 7 },
      { task: 'go', more: 1 },
    ])
      assert.is(read(wrong).type, 'wrong', JSON.stringify(wrong))
    assert.match((read({ session: 7 }) as { message: string }).message, 'session')
  })

  it('says what it takes and gives beside that', () => {
    const output = z.object({ n: z.number() })
    const { spec } = toolOf(
      defineAgent({ name: 'typed', description: 'x', model, input: z.object({ place: z.string() }), output }),
    )
    assert.ok(Object.keys(spec.inputSchema.properties ?? {}).includes('place'))
    const given = (spec.outputSchema as { properties: Record<string, { properties?: object }> }).properties
    assert.equal(Object.keys(given['output']?.properties ?? {}), ['n'])
    assert.is('output' in (toolOf(plain).spec.outputSchema as { properties: object }).properties, false)
  })

  it('is one of its name, and has the field "session" for itself', () => {
    assert.throws(() => agentTools([plain, plain]), withCode('INVALID_OPTION', 'two definitions are named "plain"'))
    const taken = defineAgent({ name: 'taken', description: 'x', model, input: z.object({ session: z.string() }) })
    assert.throws(() => agentTools([taken]), withCode('INVALID_DEFINITION', '"session"'))
  })
})

describe('the answer of such a tool', (it) => {
  const error = { code: 'MODEL_FAILED', message: 'Down.' }
  const limit = { type: 'limit', limit: 'turns' }
  const cases: readonly (readonly [
    result: object | undefined,
    stopReason: string,
    text: RegExp,
    isError: boolean,
    data: object,
  ])[] = [
    [undefined, 'idle', /not been asked anything/, false, {}],
    [{ stopReason: 'stop', text: 'yes' }, 'stop', /^yes$/, false, {}],
    [{ stopReason: 'stop', text: 'yes', output: 7 }, 'stop', /^yes$/, false, { output: 7 }],
    [{ stopReason: 'length', text: 'ye' }, 'length', /^ye\n\[The answer was cut off/, false, {}],
    [{ stopReason: 'refusal', text: '' }, 'refusal', /^The model refused to answer\.$/, true, {}],
    [{ stopReason: 'refusal', text: 'no' }, 'refusal', /^no$/, true, {}],
    [{ stopReason: 'aborted', text: 'x' }, 'aborted', /^The run was aborted\.$/, true, {}],
    [{ stopReason: 'error', text: '', error: { ...error, more: 1 } }, 'error', /^Down\.$/, true, { error }],
    [
      { stopReason: 'paused', text: '', reason: limit },
      'paused',
      /^The run is paused: its limit of turns was reached\./,
      true,
      { reason: limit },
    ],
    [
      { stopReason: 'paused', text: 'so far', reason: { type: 'stall' } },
      'paused',
      /^so far\nThe run is paused: \(stall\)\./,
      true,
      { reason: { type: 'stall' } },
    ],
  ]
  for (const [at, [result, stopReason, text, isError, data]] of cases.entries())
    it(`says "${stopReason}" to the model and as data (${at + 1})`, () => {
      const answer = answerOf({ type: 'ended', session: 's', result } as never)
      const [said, session] = answer.content as { text: string }[]
      assert.match(said!.text, text)
      assert.is(session!.text, '\nsession: s')
      assert.equal(answer.structuredContent, { session: 's', stopReason, text: said!.text, ...data })
      assert.is(answer.isError === true, isError)
    })

  it('says what waits for people', () => {
    const pending = [
      { kind: 'question', agentId: 'a', callId: 'c', key: 'k', name: 'n', input: {}, question: 'Which?', schema: {} },
    ]
    const answer = answerOf({ type: 'waiting', session: 's', pending } as never)
    assert.match((answer.content as { text: string }[])[0]!.text, /^The agent waits for people[^]*\n- Which\?$/)
    assert.equal([answer.isError, (answer.structuredContent as { pending: unknown }).pending], [true, pending])
    assert.equal(errorAnswer(error), { content: [{ type: 'text', text: 'Down. (MODEL_FAILED)' }], isError: true })
  })
})

describe('a refusal over HTTP', (it) => {
  it('is of what is not said to be JSON', () => {
    const wrong = (type?: string) => wrongContentType({ headers: { 'content-type': type } } as never)
    for (const type of ['application/json', 'Application/JSON ; charset=utf-8']) assert.is(wrong(type), undefined)
    for (const type of ['text/plain', 'application/jsonp', undefined])
      assert.match(wrong(type)!, 'not "application/json"')
  })

  it('closes the connection where the request was not read to its end', () => {
    for (const complete of [true, false]) {
      const headers: string[] = []
      closeUnread(
        { complete } as never,
        { setHeader: (...header: readonly string[]) => void headers.push(header.join()) } as never,
      )
      assert.equal(headers, complete ? [] : ['connection,close'])
    }
  })

  it('has the status of its code, and the advice that is for its client', () => {
    assert.equal(
      ['INVALID_OPTION', 'BRIDGE_FORBIDDEN', 'AGENT_NOT_FOUND', 'QUEUE_FULL', 'OTHER'].map(statusOf),
      [400, 403, 404, 429, 500],
    )
    const advised = `Wrong.${adviceOf('BRIDGE_FRAME')}`
    const told = (code: string, message: string): string => refusalText({ code, message }, 'a page')
    assert.equal(
      [told('BRIDGE_FRAME', advised), told('INVALID_OPTION', 'Wrong.')],
      Array(2).fill('Wrong. a page lists the requests.'),
    )
    for (const message of ['Wrong.', `${advised} And more.`]) assert.is(told('BRIDGE_FRAME', message), message)
    assert.is(told('BRIDGE_FORBIDDEN', advised), advised)
  })
})
