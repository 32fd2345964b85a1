import { z } from 'zod'
import { settingsOf } from '../../src/actors/turn/modelSettings.ts'
import type { JsonSchema } from '../../src/protocol/ports/model.ts'
import { readAnswer } from '../../src/protocol/checks/readOutput.ts'
import { fromOutput, outputSchema, unwrapped } from '../../src/protocol/checks/strictOutput.ts'
import { assert, describe } from '../support/suite.ts'

const shown = (schema: z.ZodType) => {
  const { $schema: _, ...written } = z.toJSONSchema(schema, { io: 'input' }) as JsonSchema
  return outputSchema(written)
}

type Part = { readonly [keyword: string]: unknown }

/** The parts of a schema that OpenAI's rules refuse, as its pages have them. */
function refusedIn(schema: JsonSchema): string | undefined {
  if (schema['type'] !== 'object' || 'anyOf' in schema) return 'the root is no object'
  const walk = (part: Part): string | undefined => {
    const odd = ['oneOf', 'allOf', 'not', 'default', 'minLength', 'maxLength', 'prefixItems'].find(
      (word) => word in part,
    )
    if (odd !== undefined) return odd
    const {
      properties = {},
      required = [],
      items,
      anyOf = [],
      $defs = {},
    } = part as {
      readonly properties?: Part
      readonly required?: readonly string[]
      readonly items?: Part
      readonly anyOf?: readonly Part[]
      readonly $defs?: Part
    }
    if (part['type'] === 'object') {
      if (part['additionalProperties'] !== false) return 'additionalProperties'
      const missing = Object.keys(properties).find((name) => !required.includes(name))
      if (missing !== undefined) return `not required: ${missing}`
    }
    const inner = [
      ...Object.values(properties),
      ...anyOf,
      ...Object.values($defs),
      ...(items === undefined ? [] : [items]),
    ]
    return inner.map((one) => walk(one as Part)).find((found) => found !== undefined)
  }
  return walk(schema)
}

const tree: z.ZodType = z.object({
  v: z.string(),
  get next() {
    return tree.optional()
  },
})
const list: z.ZodType = z.array(z.lazy(() => list))

/** A schema, what a model writes that is held to it, and what that says. */
const held: Readonly<Record<string, readonly [z.ZodType, written: unknown, says: unknown]>> = {
  'an object': [z.object({ a: z.string() }), { a: 'x' }, { a: 'x' }],
  'a list': [z.array(z.string()), { final_answer: ['x'] }, ['x']],
  'a text': [z.string(), { final_answer: 'x' }, 'x'],
  'a choice': [z.union([z.object({ a: z.string() }), z.object({ b: z.int() })]), { final_answer: { b: 1 } }, { b: 1 }],
  'a choice by a tag, in a field': [
    z.object({
      r: z.discriminatedUnion('t', [
        z.object({ t: z.literal('x') }),
        z.object({ t: z.literal('y'), n: z.int().optional() }),
      ]),
    }),
    { r: { t: 'y', n: null } },
    { r: { t: 'y' } },
  ],
  'a field that may be missing': [
    z.object({ a: z.string(), b: z.string().optional() }),
    { a: 'x', b: null },
    { a: 'x' },
  ],
  'one that would be made of null': [z.object({ n: z.coerce.number().optional() }), { n: null }, {}],
  'one with a default': [z.object({ a: z.string().default('d') }), { a: null }, { a: 'd' }],
  'one that may be null too': [z.object({ a: z.string().nullable().optional() }), { a: null }, { a: null }],
  'missing fields within lists': [
    z.object({ l: z.array(z.object({ b: z.int().optional() })) }),
    { l: [{ b: null }, { b: 1 }] },
    { l: [{}, { b: 1 }] },
  ],
  'itself within': [tree, { v: 'a', next: { v: 'b', next: null } }, { v: 'a', next: { v: 'b' } }],
  'a list of itself': [list, { final_answer: [[], [[]]] }, [[], [[]]]],
  'the input of what is converted': [
    z.object({ n: z.string().transform(Number).pipe(z.number()), at: z.iso.datetime().transform((at) => at.length) }),
    { n: '7', at: '2026-01-01T00:00:00Z' },
    { n: 7, at: 20 },
  ],
  'bounds that the rules do not know': [
    z.object({ a: z.string().min(2).max(9), e: z.email() }),
    { a: 'xx', e: 'a@b.co' },
    { a: 'xx', e: 'a@b.co' },
  ],
}

describe('the schema of an answer', (it) => {
  for (const [what, [schema, written, says]] of Object.entries(held))
    it(`holds a model to ${what}, by rules that know little, and the answer is read back`, () => {
      const { schema: json, strict } = shown(schema)
      assert.is(strict, true)
      assert.is(refusedIn(json), undefined, JSON.stringify(json))
      assert.equal(readAnswer(schema, JSON.stringify(written)), { ok: true, value: says })
      assert.equal(readAnswer(schema, JSON.stringify(written === says ? says : unwrapped(written))), {
        ok: true,
        value: says,
      })
    })

  it('is by its input side what an agent asks for, so that what a model writes by it is taken', () => {
    const output = z.object({
      n: z.string().transform(Number).pipe(z.number()),
      at: z.codec(z.string(), z.date(), { decode: (at) => new Date(at), encode: String }),
    })
    const { responseFormat } = settingsOf(undefined, output, 'Agent "a"')
    const { properties } = responseFormat!.schema as { readonly properties: object }
    assert.equal(properties, { n: { type: 'string' }, at: { type: 'string' } })
    assert.is(responseFormat!.strict, true)
  })

  it('that the rules cannot say is an object all the same, and is not to be held to', () => {
    const loose = [
      z.object({ m: z.record(z.string(), z.int()) }),
      z.tuple([z.int()]),
      z.unknown(),
      z.looseObject({}),
      z.json(),
    ]
    for (const schema of loose) {
      const { schema: json, strict } = shown(schema)
      assert.equal([json['type'], strict], ['object', false])
    }
    const records = z.object({ m: z.record(z.string(), z.int()) })
    assert.equal(readAnswer(records, '{"m":{"k":1}}'), { ok: true, value: { m: { k: 1 } } })
  })

  it('says in words what narrows a value beyond the rules', () => {
    const { schema } = shown(z.object({ a: z.string().min(2).describe('A name.') }))
    assert.equal(schema['properties'], { a: { type: 'string', description: 'A name. {"minLength":2}' } })
  })

  it('leaves an answer alone that has nothing of it', () => {
    const own = { type: 'object', properties: { final_answer: { type: 'string' } } }
    assert.equal(fromOutput({ final_answer: 'x' }, own), { final_answer: 'x' })
    assert.equal(fromOutput({ a: null }, { type: 'object' }), { a: null })
  })
})
