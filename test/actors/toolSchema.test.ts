import { z } from 'zod'
import { defineTool } from '../../packages/schemas/src/defineTool.ts'
import type { ToolContext } from '../../src/actors/tools/defineTool.ts'
import type { SchemaResult, StandardInput, ToolSchema } from '../../src/actors/tools/toolSchema.ts'
import { InputChecks } from '../../packages/mcp/src/client/inputSchemas.ts'
import { checkOf } from '../../packages/openapi/src/schemas.ts'
import { withCode } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const jsonSchema = { type: 'object', properties: { n: { type: 'number' } } }
const made = (input: ToolSchema, more: object = {}) =>
  defineTool({ name: 't', description: 'T.', input: input as z.ZodType, run: (value) => value, ...more })
const run = (tool: ReturnType<typeof made>, value: unknown) => tool.run(value, {} as ToolContext)

/** A schema of another library, which is a function in some. */
function standard(validate: StandardInput['~standard']['validate'], asFunction = false): StandardInput {
  const props = { '~standard': { vendor: 'other', version: 1, validate, jsonSchema: { input: () => jsonSchema } } }
  return asFunction ? Object.assign(() => {}, props) : props
}

describe('the schema of a tool', (it) => {
  it('may be of another library that speaks Standard Schema and JSON Schema', () => {
    for (const asFunction of [false, true]) {
      const schema = standard((value) => {
        const { n } = value as { n: number }
        if (n > 0) return { value: { n: n + 1 } }
        return { issues: [{ message: 'too small', path: ['n', { key: 0 }] }, { message: 'odd' }] }
      }, asFunction)
      const tool = made(schema)
      assert.equal(tool.inputSchema, jsonSchema)
      assert.equal(tool.parse({ n: 1 }), { ok: true, value: { n: 2 } })
      assert.equal(tool.parse({ n: 0 }), {
        ok: false,
        message: 'Invalid arguments: n.0: too small; odd. Correct them and call again.',
      })
      assert.match(JSON.stringify(tool.parse('{"n"')), 'not valid JSON')
    }
  })

  it('is checked when the tool runs where its check takes time, before approvals and undoing too', async () => {
    const seen: unknown[] = []
    const schema = standard(async (value) => {
      const { n } = value as { n: number }
      return n > 0 ? { value: { n: n * 10 } } : { issues: [{ message: 'too small' }] }
    })
    const tool = made(schema, {
      effects: 'reversible',
      needsApproval: ({ n }: { n: number }) => n === 10,
      undo: ({ input }: { input: unknown }) => void seen.push(input),
    })
    const value = (n: number) => (tool.parse({ n }) as { value: unknown }).value
    assert.equal(await run(tool, value(2)), { n: 20 })
    assert.is(await tool.needsApproval(value(1), {} as never), true)
    assert.is(await tool.needsApproval(value(2), {} as never), false)
    await tool.undo!({ input: { n: 3 }, receipt: 0, earlier: [] } as never)
    assert.equal(seen, [{ n: 30 }])
    for (const wrong of [run(tool, value(0)), tool.undo!({ input: { n: 0 }, receipt: 0, earlier: [] } as never)])
      await assert.rejects(async () => wrong, /Invalid arguments: too small\./)
  })

  it('may be JSON Schema with a check of its own, which alone decides', () => {
    const tool = made({
      jsonSchema: { ...jsonSchema, not: { required: ['x'] } },
      validate: (value: unknown): SchemaResult =>
        (value as { n: unknown }).n === 'seven'
          ? { success: true, value: { n: 7 } }
          : { success: false, error: new Error('n is not seven.') },
    })
    assert.equal(tool.parse({ n: 'seven' }), { ok: true, value: { n: 7 } })
    assert.equal(tool.parse({ n: 7 }), {
      ok: false,
      message: 'Invalid arguments: n is not seven. Correct them and call again.',
    })
  })

  it('that very much breaks is told of in few words, whoever checks', () => {
    const many = { n: Array.from({ length: 50_000 }, () => 'x') }
    const numbers = z.object({ n: z.array(z.number()) })
    const asJson = z.toJSONSchema(numbers) as { type: string }
    const checks = [made(numbers).parse, new InputChecks().of(asJson).parse, checkOf(asJson).parse]
    for (const parse of checks) {
      const wrong = parse(many)
      assert.match(wrong.ok ? '' : wrong.message, /^Invalid arguments: .{500,2000}\. Correct them and call again\.$/)
    }
  })

  it('of which the check throws, or says nothing, is an error that the model reads', () => {
    const throwing = made({
      jsonSchema,
      validate: () => {
        throw new Error('broken')
      },
    })
    assert.equal(throwing.parse({}), { ok: false, message: 'The arguments could not be checked: broken' })
    const silent = made({ jsonSchema, validate: () => undefined as never })
    assert.is(silent.parse({}).ok, false)
  })

  it('as JSON Schema passes arguments on as they are, without defaults', () => {
    const tool = made({ jsonSchema: { type: 'object', properties: { n: { type: 'number', default: 5 } } } })
    assert.equal(tool.parse({}), { ok: true, value: {} })
    assert.is(tool.parse([]).ok, false)
    assert.is(tool.parse({ n: 'x' }).ok, false)
  })

  it('as JSON Schema is shown mended, and says which arguments are not checked', () => {
    const { emitWarning } = process
    const said: string[] = []
    process.emitWarning = (warning: string | Error) => void said.push(String(warning))
    try {
      const tool = made({
        jsonSchema: {
          type: 'object',
          properties: { n: { type: 'number', exclusiveMinimum: true, minimum: 0 }, m: null },
        },
      })
      assert.equal(tool.inputSchema, {
        type: 'object',
        properties: { n: { type: 'number', exclusiveMinimum: 0 }, m: {} },
      })
      assert.is(tool.parse({ n: 0 }).ok, false)
    } finally {
      process.emitWarning = emitWarning
    }
    assert.match(
      said.join(),
      /^Tool "t": some arguments are not checked, as what its schema says at \/properties\/m cannot/,
    )
  })

  it('as JSON Schema may be a reference to a part of itself, as generators write it', () => {
    const A = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }
    const tool = made({ jsonSchema: { $ref: '#/definitions/A', definitions: { A } } })
    assert.equal(tool.inputSchema, { type: 'object', definitions: { A }, properties: A.properties, required: ['n'] })
    assert.is(tool.parse({}).ok, false)
  })

  it('of a library that cannot write JSON Schema is refused', () => {
    const mute = { '~standard': { vendor: 'mute', version: 1, validate: () => ({ value: 1 }) } }
    assert.throws(() => made(mute as never), withCode('INVALID_DEFINITION', 'a schema of mute'))
    assert.throws(() => made(5 as never), withCode('INVALID_DEFINITION', 'a Standard Schema with JSON Schema'))
  })
})
