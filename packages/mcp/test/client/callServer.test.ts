import { callServer, type ServerCall } from '../../src/client/callServer.ts'
import { elicit, type AskingCall } from '../../src/client/elicitation.ts'
import { listAll, listTools } from '../../src/client/listTools.ts'
import { resourceTools } from '../../src/client/resourceTools.ts'
import type { McpSettings } from '../../src/client/options.ts'
import type { Server } from '../../src/client/server.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { toolContext } from '../../../../test/support/toolContext.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

interface Request {
  readonly method: string
  readonly params: { readonly [field: string]: unknown }
}
interface Shown {
  readonly era?: string
  readonly capabilities?: object
}
type Schema = { parse(value: unknown): unknown }

/** A server that answers with what the case says, as an SDK's client shows it. */
function scripted(
  answer: (request: Request, number: number) => unknown,
  { era = 'legacy', capabilities = { tools: {}, resources: {}, prompts: {} } }: Shown = {},
) {
  const asked: Request[] = []
  const options: { onprogress?: (report: object) => void }[] = []
  const client = {
    getProtocolEra: () => era,
    getServerCapabilities: () => capabilities,
    async request(request: Request, schema: Schema, how: object) {
      asked.push(request)
      options.push(how)
      return schema.parse(await answer(request, asked.length))
    },
    async callTool(params: Request['params'], how: object) {
      asked.push({ method: 'callTool', params })
      options.push(how)
      return await answer(asked.at(-1)!, asked.length)
    },
  }
  const clean = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll('sesame', '***')) as T
  return { server: { client, clean } as unknown as Server, client: client as never, asked, options }
}

const call: ServerCall = { name: 'look', schema: { type: 'object' }, input: { at: 1 }, shown: 'look', mayRepeat: false }
const done = { content: [{ type: 'text', text: 'done' }] }
const wants = (method: string, requestState?: string) => ({
  resultType: 'input_required',
  inputRequests: { q1: { method, params: { message: 'Who?' } } },
  ...(requestState === undefined ? {} : { requestState }),
})
const accepted = async () => ({ action: 'accept', content: { name: 'Zoë' } }) as const

describe('a call of a server', (it) => {
  const made = (server: Server, now = () => 0, context = toolContext()) =>
    callServer(server, call, context, accepted, now)

  it('is made once, with its arguments and its key, and answered as the server answers', async () => {
    const { server, asked } = scripted(() => done)
    assert.equal((await made(server)).content, done.content)
    const [{ method, params }] = asked as [Request]
    assert.equal([method, params['name'], params['arguments'], asked.length], ['tools/call', 'look', { at: 1 }, 1])
    assert.equal((params['_meta'] as { [key: string]: unknown })['escapement/key'], toolContext().key)
  })

  it('goes on with what people answered and with the state that the server gave, in each round', async () => {
    const { server, asked } = scripted((_, n) =>
      n === 1 ? wants('elicitation/create', 's1') : n === 2 ? wants('elicitation/create') : done,
    )
    assert.equal((await made(server)).content, done.content)
    assert.equal(
      asked.map(({ params }) => [params['inputResponses'], params['requestState']]),
      [
        [undefined, undefined],
        [{ q1: { action: 'accept', content: { name: 'Zoë' } } }, 's1'],
        [{ q1: { action: 'accept', content: { name: 'Zoë' } } }, undefined],
      ],
    )
  })

  it('fails where the server wants anything else of its client, and asks nobody', async () => {
    for (const method of ['sampling/createMessage', 'roots/list']) {
      const { server, asked } = scripted(() => wants(method))
      await assert.rejects(made(server), new RegExp(`it wants ${method}`))
      assert.is(asked.length, 1)
    }
  })

  it('asks ten times for input at most', async () => {
    const asks = (times: number) => scripted((_, n) => (n <= times ? wants('elicitation/create') : done))
    assert.equal((await made(asks(9).server)).content, done.content)
    const endless = asks(10)
    await assert.rejects(made(endless.server), /10 times/)
    assert.is(endless.asked.length, 10)
  })

  it('is made by the SDK where fields of it are headers too, and where that is known alone', async () => {
    const schema = { type: 'object', properties: { at: { 'x-mcp-header': 'At' } } }
    for (const [era, given, method] of [
      ['modern', schema, 'callTool'],
      ['modern', { type: 'object' }, 'tools/call'],
      ['legacy', schema, 'tools/call'],
    ] as const) {
      const { server, asked } = scripted(() => done, { era })
      await callServer(server, { ...call, schema: given }, toolContext(), accepted, () => 0)
      assert.is(asked[0]!.method, method)
    }
  })

  it('reports its progress every 100 ms at most, with what there is of it', async () => {
    let now = 0
    const reports: unknown[] = []
    const { server, options } = scripted(() => {
      const report = options[0]!.onprogress!
      report({ progress: 1, total: 4, message: 'begun' })
      now = 99
      report({ progress: 2 })
      now = 100
      report({ progress: 3 })
      now = 200
      report({ progress: 4, message: 'over' })
      return done
    })
    await made(server, () => now, { ...toolContext(), report: (one) => void reports.push(one) })
    assert.equal(reports, [
      { progress: 1, total: 4, message: 'begun' },
      { progress: 3 },
      { progress: 4, message: 'over' },
    ])
  })
})

describe('a question of a server', (it) => {
  const form = { message: 'Who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } }
  const asked = async (request: unknown, ask: () => Promise<unknown>, isAborted = false) => {
    const debug: string[] = []
    const shown: string[] = []
    const controller = new AbortController()
    if (isAborted) controller.abort(new Error('over'))
    const asking = {
      ask: (_: unknown, question: string) => {
        shown.push(question)
        return ask()
      },
      signal: controller.signal,
    } as unknown as AskingCall
    const heard = await elicit('srv', request, asking, (line) => void debug.push(line))
    return { heard, debug: debug.length, shown }
  }
  const denied = () => Promise.reject(new RuntimeError('QUESTION_DENIED', 'no'))
  const broken = () => Promise.reject(new Error('nobody can be asked'))
  const url = { mode: 'url', message: 'Sign in.', url: 'https://there.example/x' }

  for (const [what, request, ask, isAborted, action, lines] of [
    ['is not understood', { mode: 'song' }, async () => true, false, 'decline', 1],
    ['has no schema', { message: 'Who?' }, async () => true, false, 'decline', 1],
    ['is answered', form, async () => ({ name: 'Zoë' }), false, 'accept', 0],
    ['is denied', form, denied, false, 'decline', 0],
    ['cannot be asked', form, broken, false, 'decline', 1],
    ['is asked in a call that is over', form, broken, true, 'cancel', 0],
    ['is an address that was opened', url, async () => true, false, 'accept', 0],
    ['is an address that was not opened', url, async () => false, false, 'decline', 0],
    ['is an address, in a call that is over', url, denied, true, 'cancel', 0],
  ] as const)
    it(`that ${what} is answered with "${action}"`, async () => {
      const { heard, debug } = await asked(request, ask, isAborted)
      assert.equal([heard.action, debug], [action, lines])
      assert.equal(heard.content, what === 'is answered' ? { name: 'Zoë' } : undefined)
    })

  it('is put to people with the name of the server, and an address in full', async () => {
    for (const [request, words] of [
      [form, ['"srv"', 'Who?']],
      [url, ['"srv"', 'Sign in.', 'https://there.example/x', 'trust']],
    ] as const) {
      const { shown } = await asked(request, async () => true)
      for (const word of words) assert.ok(shown[0]!.includes(word), word)
    }
  })
})

const how = { signal: new AbortController().signal, timeout: 1 }

describe('a list of a server', (it) => {
  it('is read page by page, each once, to its end', async () => {
    const { client, asked } = scripted(({ params }) =>
      params['cursor'] === undefined ? { tools: [1], nextCursor: 'c' } : { tools: [2], nextCursor: '' },
    )
    assert.equal(await listAll(client, 'tools/list', 'tools', how), { entries: [1, 2], isCut: false })
    assert.equal(
      asked.map(({ params }) => params),
      [{}, { cursor: 'c' }],
    )
  })

  it('is read for 64 pages, and up to a thousand entries', async () => {
    const endless = scripted((_, n) => ({ tools: [n], nextCursor: 'c' }))
    const { entries, isCut } = await listAll(endless.client, 'tools/list', 'tools', how)
    assert.equal([entries.length, isCut, endless.asked.length], [64, true, 64])
    for (const [pages, expected, cut, reads] of [
      [[1_000], 1_000, false, 1],
      [[1_000, 0], 1_000, false, 2],
      [[600, 600, 600], 1_000, true, 2],
      [[1_001], 1_000, true, 1],
    ] as const) {
      const long = scripted((_, n) => ({
        tools: Array.from({ length: pages[n - 1]! }, (__, at) => at),
        ...(n < pages.length ? { nextCursor: 'c' } : {}),
      }))
      const read = await listAll(long.client, 'tools/list', 'tools', how)
      assert.equal([read.entries.length, read.isCut, long.asked.length], [expected, cut, reads], JSON.stringify(pages))
    }
  })

  it('is not asked for of a server that has no tools', async () => {
    const { client, asked } = scripted(() => ({ tools: [] }), { capabilities: { prompts: {} } })
    assert.equal(
      await listTools(
        client,
        how,
        (value) => value,
        () => true,
      ),
      { tools: [], trouble: [] },
    )
    assert.is(asked.length, 0)
  })

  it('loses each tool that cannot be used, and says why of those that are wanted', async () => {
    const sound = { name: 'sound', inputSchema: { type: 'object' } }
    let deep: object = {}
    for (let level = 0; level < 300; level += 1) deep = { deep }
    const given = [
      sound,
      sound,
      { name: 'task', inputSchema: {}, execution: { taskSupport: 'required' } },
      { name: 'text', inputSchema: { type: 'string' } },
      { name: 'bare' },
      { name: 'deep', inputSchema: deep },
      { name: 'unwanted' },
      null,
      { name: 'untyped', inputSchema: {} },
    ]
    const { client } = scripted(() => ({ tools: given }))
    const { tools, trouble } = await listTools(
      client,
      how,
      (value) => value,
      (name) => name !== 'unwanted',
    )
    assert.equal(
      tools.map(({ name }) => name),
      ['sound', 'untyped'],
    )
    const about = ['sound', 'task', 'text', 'bare', 'deep', 'null']
    assert.equal(
      trouble.map((line) => about.find((name) => line.includes(name))),
      about,
    )
  })
})

describe('the resources and prompts of a server', (it) => {
  const settings = {
    name: 'srv',
    resources: true,
    prompts: true,
    approve: 'none',
    callMs: 1_000,
  } as unknown as McpSettings
  const tools = (answer: Parameters<typeof scripted>[0], own: McpSettings = settings, capabilities?: object) => {
    const { server, asked } = scripted(answer, capabilities === undefined ? {} : { capabilities })
    const all = resourceTools(server, own, (_, use) => use(server, how))
    const use = async (name: string, input: object = {}): Promise<unknown> => {
      const found = all.find((one) => one.name === name)!
      const read = found.parse(input)
      if (!read.ok) throw new Error(read.message)
      return await found.run(read.value, toolContext())
    }
    return { all, use, asked }
  }
  const names = (own: McpSettings, capabilities: object): readonly string[] =>
    tools(() => ({}), own, capabilities).all.map(({ name }) => name)

  it('are tools where they are wanted and there', () => {
    const [resources, prompts] = [
      ['srv_list_resources', 'srv_read_resource'],
      ['srv_list_prompts', 'srv_get_prompt'],
    ] as const
    assert.equal(names(settings, { resources: {}, prompts: {} }), [...resources, ...prompts])
    assert.equal(names(settings, { prompts: {} }), prompts)
    assert.equal(names({ ...settings, prompts: false }, { resources: {}, prompts: {} }), resources)
    assert.equal(names({ ...settings, resources: false }, { resources: {}, prompts: {} }), prompts)
    assert.equal(names(settings, {}), [])
  })

  it('only read, and are approved first where everything is', async () => {
    for (const approve of ['none', 'all', 'unsafe'] as const) {
      const { all } = tools(() => ({}), { ...settings, approve } as never)
      for (const one of all) {
        assert.is(one.effects, 'none')
        assert.is(await one.needsApproval({}, toolContext()), approve === 'all', `${one.name} ${approve}`)
      }
    }
  })

  it('are listed with their templates, if there are any, without secrets', async () => {
    const list = (templates: object | Error) =>
      tools(({ method }) => {
        if (method === 'resources/list')
          return { resources: [{ uri: 'file:///sesame', name: 'one', description: 'first' }] }
        if (templates instanceof Error) throw templates
        return templates
      }).use('srv_list_resources')
    assert.is(
      await list({ resourceTemplates: [{ uriTemplate: 'file:///{x}' }] }),
      '- file:///*** one: first\n- file:///{x}',
    )
    assert.is(await list(new Error('no such method')), '- file:///*** one: first')
    assert.is(
      await tools(() => ({ resources: [], resourceTemplates: [] })).use('srv_list_resources'),
      'The server has no resources.',
    )
  })

  it('are read by address, and prompts got with their arguments', async () => {
    const { use, asked } = tools(({ method }) =>
      method === 'resources/read'
        ? { contents: [{ uri: 'file:///a', text: 'open sesame' }] }
        : method === 'prompts/list'
          ? { prompts: [{ name: 'hi', arguments: [{ name: 'who', required: true }, { name: 'how' }] }] }
          : {
              messages: [
                { role: 'user', content: { type: 'text', text: 'sesame' } },
                { role: 'assistant', content: [{ type: 'text', text: 'two' }] },
              ],
            },
    )
    assert.equal(await use('srv_read_resource', { uri: 'file:///a' }), [
      { type: 'text', text: '[resource file:///a]' },
      { type: 'text', text: 'open ***' },
    ])
    assert.is(await use('srv_list_prompts'), '- hi(who, how?)')
    assert.equal(await use('srv_get_prompt', { name: 'hi', arguments: { who: 'me' } }), [
      { type: 'text', text: '[user]' },
      { type: 'text', text: '***' },
      { type: 'text', text: '[assistant]' },
      { type: 'text', text: 'two' },
    ])
    await use('srv_get_prompt', { name: 'hi' })
    assert.equal(
      asked.filter(({ method }) => method !== 'prompts/list').map(({ params }) => params),
      [{ uri: 'file:///a' }, { name: 'hi', arguments: { who: 'me' } }, { name: 'hi', arguments: {} }],
    )
  })
})
