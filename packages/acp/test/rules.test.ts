import type { AgentAccess } from '../../bridge/src/server/agentAccess.ts'
import { withCode } from '../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { promptAnswer, promptContent } from '../src/prompt.ts'
import { askClient } from '../src/questions.ts'
import { checkFolders, definitionFor, folderNoted, folderOf, mcpRemark } from '../src/sessionRequest.ts'

describe('what an editor says', (it) => {
  const resource = (uri: string, more: object = {}) => ({ type: 'resource', resource: { uri, blob: 'AAAA', ...more } })
  const file = (mimeType: string, name?: string) => ({
    type: 'file',
    data: 'AAAA',
    mimeType,
    ...(name === undefined ? {} : { name }),
  })
  for (const [what, block, expected] of [
    ['a text', { type: 'text', text: 'hi' }, { type: 'text', text: 'hi' }],
    [
      'a picture',
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    ],
    ['a sound', { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' }, file('audio/wav')],
    [
      'a link',
      { type: 'resource_link', name: 'a [b]\n c', uri: 'file:///a' },
      { type: 'text', text: '[a b c](file:///a)' },
    ],
    [
      'a link with a title',
      { type: 'resource_link', name: 'a', title: 'T', uri: 'u', description: 'd' },
      { type: 'text', text: '[T](u): d' },
    ],
    [
      'a link without words',
      { type: 'resource_link', name: 'a', uri: 'u', description: null },
      { type: 'text', text: '[a](u)' },
    ],
    [
      'an embedded text',
      { type: 'resource', resource: { uri: 'u', text: 'x' } },
      { type: 'text', text: '<resource uri="u">\nx\n</resource>' },
    ],
    [
      'an embedded picture',
      resource('u', { mimeType: 'image/png' }),
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    ],
    ['bytes', resource('file:///a/b%20c.bin?x#y'), file('application/octet-stream', 'b c.bin')],
    ['bytes of a folder', resource('file:///a/b/', { mimeType: 'x/y' }), file('x/y', 'b')],
    ['bytes by a broken name', resource('file:///a/%E0%A4%A'), file('application/octet-stream', '%E0%A4%A')],
    ['bytes without a name', resource('/'), file('application/octet-stream')],
    ['bytes without an address', resource(''), file('application/octet-stream')],
    ['bytes of a scheme', resource('x:y'), file('application/octet-stream', 'y')],
  ] as const)
    it(`is told to the agent: ${what}`, () => assert.equal(promptContent([block as never]), [expected]))
})

/** Fields of an answer beyond the protocol. */
const metaOf = ({ ['_meta']: meta }: ReturnType<typeof promptAnswer>): { readonly [field: string]: unknown } =>
  (meta as { escapement: { [field: string]: unknown } }).escapement

describe('the answer to a prompt', (it) => {
  const run = { runId: 'r', turns: 1, usage: {}, costUsd: 0, text: '' }
  const answered = (more: object) => promptAnswer({ ...run, ...more } as never)
  for (const [more, expected] of [
    [{ stopReason: 'stop' }, 'end_turn'],
    [{ stopReason: 'length' }, 'max_tokens'],
    [{ stopReason: 'refusal' }, 'refusal'],
    [{ stopReason: 'aborted' }, 'cancelled'],
    [{ stopReason: 'paused', reason: { type: 'limit', limit: 'turns' } }, 'max_turn_requests'],
    [{ stopReason: 'paused', reason: { type: 'limit', limit: 'tokens' } }, 'max_tokens'],
    [{ stopReason: 'paused', reason: { type: 'limit', limit: 'costUsd' } }, 'max_turn_requests'],
    [{ stopReason: 'paused', reason: { type: 'limit', limit: 'ms' } }, 'max_turn_requests'],
    [{ stopReason: 'paused', reason: { type: 'stall' } }, 'max_turn_requests'],
  ] as const)
    it(`says ${expected}: ${JSON.stringify(more)}`, () => {
      const answer = answered(more)
      assert.is(answer.stopReason, expected)
      const meta = metaOf(answer)
      assert.equal(
        [meta['runId'], Object.hasOwn(meta, 'reason'), Object.hasOwn(meta, 'refusal')],
        ['r', 'reason' in more, false],
      )
    })

  it('says of a refusal which it was, and of no other end', () => {
    const refusal = { category: 'x' }
    const of = (stopReason: string) => metaOf(answered({ stopReason, refusal }))
    assert.equal([Object.hasOwn(of('refusal'), 'refusal'), Object.hasOwn(of('stop'), 'refusal')], [true, false])
  })

  for (const more of [
    { stopReason: 'error', error: { code: 'MODEL_AUTH', message: 'no key' } },
    { stopReason: 'error' },
    { stopReason: 'paused', reason: { type: 'store', error: { code: 'STORE_APPEND_FAILED', message: 'at /srv/x' } } },
    { stopReason: 'paused', reason: { type: 'interrupted' } },
  ])
    it(`is an error: ${JSON.stringify(more).slice(0, 60)}`, () => {
      let thrown: unknown
      try {
        answered(more)
      } catch (error) {
        thrown = error
      }
      const { code, data, message } = thrown as { code: number; data: { code: string }; message: string }
      assert.is(code, -32603)
      assert.is(data.code, more.error?.code ?? more.reason?.error?.code ?? 'INTERNAL')
      assert.not.match(message, '/srv')
    })
})

describe('a session that an editor begins', (it) => {
  const access = (...definitions: readonly string[]) => ({ definitions }) as unknown as AgentAccess
  const named = (escapement: unknown) => ({ _meta: { escapement } })

  it('is of the definition that it names, or the one preferred, or the first', () => {
    assert.is(definitionFor(access('a', 'b'), named({ definition: 'b' }), 'a'), 'b')
    assert.is(definitionFor(access('a', 'b'), named({}), 'b'), 'b')
    assert.is(definitionFor(access('a', 'b'), {}), 'a')
    assert.throws(() => definitionFor(access(), {}), withCode('INVALID_OPTION', 'no definitions'))
    for (const meta of [5, { definition: 5 }, null])
      assert.throws(() => definitionFor(access('a'), named(meta)), withCode('INVALID_OPTION', '_meta.escapement'))
  })

  it('is in a folder of any system, and in one alone', () => {
    for (const cwd of ['/a', 'C:\\a', 'c:/a', '\\\\host\\a']) checkFolders({ cwd })
    checkFolders({ cwd: '/a', additionalDirectories: [] })
    for (const cwd of ['', 'a', './a', 'C:a', '\\a', '~/a'])
      assert.throws(() => checkFolders({ cwd }), withCode('INVALID_OPTION', 'absolute'))
    assert.throws(
      () => checkFolders({ cwd: '/a', additionalDirectories: ['/b'] }),
      withCode('INVALID_OPTION', 'additionalDirectories'),
    )
  })

  it('has its folder noted, unless that is long or the server says it', () => {
    const long = `/${'x'.repeat(1_023)}`
    assert.equal(folderNoted({ cwd: '/a' }, undefined), { 'acp.cwd': '/a' })
    assert.equal(folderNoted({ cwd: '/a' }, { user: 'ann' }), { 'acp.cwd': '/a' })
    assert.equal(folderNoted({ cwd: long }, undefined), { 'acp.cwd': long })
    assert.equal(folderNoted({ cwd: `${long}x` }, undefined), {})
    assert.equal(folderNoted({ cwd: '/a' }, { 'acp.cwd': '/b' }), {})
    assert.equal(
      [folderOf({ 'acp.cwd': '/a' }), folderOf({ 'acp.cwd': 5 as never }), folderOf(undefined)],
      ['/a', undefined, undefined],
    )
  })

  it('is told which servers of its own it has not', () => {
    assert.is(mcpRemark([]), undefined)
    assert.match(mcpRemark([{ name: 'one' }, { name: 'two' }] as never)!, 'one, two')
  })
})

describe('a question that an editor is asked', (it) => {
  const question = (schema: object) =>
    ({
      kind: 'question',
      key: 'k',
      callId: 'c',
      agentId: 'a',
      name: 'ask',
      input: {},
      question: 'Sure?',
      schema,
    }) as never
  const asked = async (schema: object, response: object, hasForms = false) => {
    const requests: [string, unknown][] = []
    const client = {
      request: async (method: string, params: unknown) => {
        requests.push([method, params])
        return response
      },
    }
    const place = { sessionId: 's', rootId: 'a', client, hasForms, signal: new AbortController().signal }
    const verdict = await askClient(question(schema), place as never)
    return { verdict, methods: requests.map(([method]) => method) }
  }
  const selected = (optionId: string) => ({ outcome: { outcome: 'selected', optionId } })
  const denied = (reason: string) => ({ decision: 'deny', reason })
  const colours = { type: 'string', enum: ['red', 'blue'] }

  for (const [name, schema, response, expected] of [
    ['yes', { type: 'boolean' }, selected('0'), { decision: { value: true } }],
    ['no', { type: 'boolean' }, selected('1'), { decision: { value: false } }],
    ['a choice', colours, selected('1'), { decision: { value: 'blue' } }],
    ['none of them', colours, selected('none'), denied('The user did not want to answer.')],
    ['one that there is not', colours, selected('2'), denied('The user did not want to answer.')],
    ['nothing', colours, { outcome: { outcome: 'cancelled' } }, denied('The question was dismissed.')],
  ] as const)
    it(`is answered with ${name}`, async () => {
      const { verdict, methods } = await asked(schema, response)
      assert.equal([verdict, methods], [expected, ['session/request_permission']])
    })

  it('is denied where the editor has no form for it', async () => {
    const { verdict, methods } = await asked({ type: 'string' }, selected('0'))
    assert.equal([verdict, methods], [denied('The client cannot ask such a question.'), []])
  })

  for (const [response, expected] of [
    [{ action: 'decline' }, denied('The user did not want to answer.')],
    [{ action: 'cancel' }, denied('The question was dismissed.')],
  ] as const)
    it(`is denied by a form with ${response.action}`, async () => {
      const { verdict, methods } = await asked({ type: 'string' }, response, true)
      assert.equal([verdict, methods], [expected, ['elicitation/create']])
    })
})
