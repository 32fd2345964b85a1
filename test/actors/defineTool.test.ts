import { z } from 'zod'
import { defineTool } from '../../packages/schemas/src/defineTool.ts'
import { isBlocks } from '../../src/actors/tools/isBlocks.ts'
import { withCode } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'
import { toolContext } from '../support/toolContext.ts'

const good = { name: 'look', description: 'Looks.', input: z.object({ path: z.string() }), run: () => 'ok' }

describe('the definition of a tool', (it) => {
  it('says what may be meant by an option that is not known', () => {
    assert.throws(
      () => defineTool({ ...good, needsAproval: true } as never),
      withCode('INVALID_DEFINITION', 'Tool "look": "needsAproval" is not known; did you mean "needsApproval"?'),
    )
  })

  const bad: readonly (readonly [string, object])[] = [
    ['name', { name: '' }],
    ['name', { name: 'a b' }],
    ['name', { name: 'x'.repeat(65) }],
    ['name', { name: 'ä' }],
    ['name', { name: undefined }],
    ['description', { description: '' }],
    ['description', { description: undefined }],
    ['input', { input: undefined }],
    ['input', { input: null }],
    ['object', { input: z.string() }],
    ['object', { input: z.array(z.string()) }],
    ['object', { input: { jsonSchema: { type: 'string' } } }],
    ['run', { run: null }],
    ['run', { run: 'ls' }],
    ['needsApproval', { needsApproval: 'yes' }],
    ['timeoutMs', { timeoutMs: 0 }],
    ['timeoutMs', { timeoutMs: -1 }],
    ['timeoutMs', { timeoutMs: Number.NaN }],
    ['timeoutMs', { timeoutMs: -Infinity }],
    ['maxOutputChars', { maxOutputChars: 99 }],
    ['maxOutputChars', { maxOutputChars: 1_000.5 }],
    ['timeout', { timeout: 5 }],
    ['say how a call is undone', { effects: 'reversible' }],
    ["declare effects: 'reversible'", { undo: () => {} }],
    ["declare effects: 'reversible'", { effects: 'idempotent', undo: () => {} }],
    ['undo', { effects: 'reversible', undo: 'yes' }],
    ['no undo that takes it', { receipt: z.string() }],
    ['receipt', { effects: 'reversible', undo: () => {}, receipt: 'text' }],
  ]
  for (const [index, [named, change]] of bad.entries()) {
    const [[option, value] = ['', undefined]] = Object.entries(change)
    it(`is refused, naming ${named}, when ${option} is ${typeof value} ${String(value).slice(0, 40)} (${index})`, () => {
      assert.throws(() => defineTool({ ...good, ...change }), withCode('INVALID_DEFINITION', named))
    })
  }

  it('gives undo the input and the receipts as they are typed, or says why it cannot', async () => {
    const seen: unknown[] = []
    const { undo } = defineTool({
      name: 'book',
      description: 'Books.',
      input: z.object({ seat: z.coerce.number() }),
      effects: 'reversible',
      receipt: z.object({ id: z.number() }),
      run: ({ seat }, context) => context.keep({ id: seat }),
      undo: ({ input, receipt, earlier }) => void seen.push(input.seat + receipt.id, ...earlier.map(({ id }) => id)),
    })
    const { signal, callId, key, agent, deps, snapshots, closeWith } = toolContext()
    const call = {
      deps,
      signal,
      callId,
      key,
      agent,
      snapshots,
      closeWith,
      earlier: [{ id: 3 }],
      input: { seat: '4' },
      receipt: { id: 5 },
    }
    await undo!(call)
    assert.equal(seen, [9, 3])
    await assert.rejects(undo!({ ...call, receipt: undefined }), /what it kept no longer fits its tool/)
    await assert.rejects(undo!({ ...call, earlier: [{ id: 'x' }] }), /what it kept no longer fits its tool/)
    await assert.rejects(undo!({ ...call, input: {} }), /its arguments no longer fit its tool/)
    assert.is(seen.length, 2)
  })

  for (const nothing of [undefined, null, 'tool', 7]) {
    it(`is refused when it is ${String(nothing)}`, () => {
      assert.throws(() => defineTool(nothing as never), withCode('INVALID_DEFINITION'))
    })
  }

  it('tells the model the schema of the input as it is written, without $schema', () => {
    const { inputSchema } = defineTool({
      ...good,
      input: z.object({ n: z.string().transform(Number), m: z.number().default(1) }),
    })
    assert.is(inputSchema['type'], 'object')
    assert.ok(!('$schema' in inputSchema))
    assert.equal(inputSchema['required'], ['n'])
    assert.equal((inputSchema['properties'] as { n: unknown }).n, { type: 'string' })
  })

  it('takes a JSON schema and checks by it', () => {
    const tool = defineTool({
      ...good,
      input: { jsonSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } },
    })
    assert.is(tool.parse({ n: 1 }).ok, true)
    const wrong = tool.parse({ n: 'x' })
    assert.ok(!wrong.ok && /n: /.test(wrong.message))
  })

  it('parses: transforms and defaults apply, no input is an empty object, a string is never JSON', () => {
    const tool = defineTool({ ...good, input: z.object({ n: z.number().default(7) }) })
    assert.equal(tool.parse({}), { ok: true, value: { n: 7 } })
    assert.equal(tool.parse(undefined), { ok: true, value: { n: 7 } })
    assert.equal(tool.parse(null), { ok: true, value: { n: 7 } })
    for (const input of ['{"n":1}', '', 7, [], true]) assert.is(tool.parse(input).ok, false, JSON.stringify(input))
    const long = tool.parse('x'.repeat(10_000))
    assert.ok(!long.ok && long.message.length < 400)
  })

  it('needs no approval unless told so', async () => {
    assert.is(await defineTool(good).needsApproval({}, toolContext()), false)
    assert.is(await defineTool({ ...good, needsApproval: true }).needsApproval({}, toolContext()), true)
    assert.is(
      await defineTool({ ...good, needsApproval: ({ path }) => path === '/' }).needsApproval(
        { path: '/' },
        toolContext(),
      ),
      true,
    )
  })

  it('has the documented defaults and is frozen', () => {
    const tool = defineTool(good)
    assert.equal([tool.timeoutMs, tool.maxOutputChars], [600_000, 30_000])
    assert.throws(() => Object.assign(tool, { name: 'x' }))
    assert.is(defineTool({ ...good, timeoutMs: Infinity }).timeoutMs, Infinity)
  })
})

describe('a list of content blocks', (it) => {
  it('is one only when every block is whole', () => {
    const image = { type: 'image', data: 'x', mimeType: 'image/png' }
    assert.ok(isBlocks([{ type: 'text', text: '' }, image]))
    const odd: unknown[] = [
      [],
      'text',
      null,
      [null],
      [{}],
      [{ type: 'text' }],
      [{ type: 'text', text: 7 }],
      [{ type: 'image', data: 'x' }],
      [{ ...image, mimeType: 7 }],
      [{ ...image, data: null }],
      [image, 'text'],
      [{ type: 'thinking', text: 'x' }],
    ]
    for (const value of odd) assert.is(isBlocks(value), false, JSON.stringify(value))
  })
})
