import { InputChecks } from '../../src/client/inputSchemas.ts'
import type { JsonSchema } from '../../../../src/protocol/ports/model.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const text = { type: 'string' }

/** A schema from elsewhere, arguments that fit and arguments that do not. */
const odd: Readonly<Record<string, readonly [JsonSchema, fits: object, breaks: object]>> = {
  'plain fields': [{ type: 'object', properties: { a: text }, required: ['a'] }, { a: 'x' }, {}],
  'no type': [{ properties: { a: text } }, { a: 'x' }, { a: 1 }],
  'a field that every object has': [
    { type: 'object', properties: { constructor: text, deep: { type: 'object', properties: { toString: text } } } },
    { deep: {} },
    { constructor: 1 },
  ],
  'a "not"': [{ type: 'object', not: { required: ['b'] } }, { a: 1 }, { b: 1 }],
  // oxlint-disable-next-line no-thenable -- a word of JSON Schema
  'if and then': [{ type: 'object', if: { required: ['a'] }, then: { required: ['b'] } }, { a: 1, b: 2 }, { a: 1 }],
  dependentRequired: [{ type: 'object', dependentRequired: { a: ['b'] } }, { a: 1, b: 2 }, { a: 1 }],
  unevaluatedProperties: [
    { type: 'object', allOf: [{ properties: { a: text } }], unevaluatedProperties: false },
    { a: 'x' },
    { a: 'x', b: 1 },
  ],
  'a cycle': [
    { type: 'object', properties: { child: { $ref: '#' }, name: text } },
    { child: { child: { name: 'x' } } },
    { child: { child: { name: 1 } } },
  ],
  $defs: [{ type: 'object', properties: { a: { $ref: '#/$defs/A' } }, $defs: { A: text } }, { a: 'x' }, { a: 1 }],
  'a choice at the top': [
    {
      type: 'object',
      oneOf: [
        { properties: { a: text }, required: ['a'] },
        { properties: { b: text }, required: ['b'] },
      ],
    },
    { a: 'x' },
    {},
  ],
}

describe('the check of arguments', (it) => {
  for (const [name, [schema, fits, breaks]] of Object.entries(odd))
    it(`understands ${name}`, () => {
      const { parse, unchecked } = new InputChecks().of(schema)
      assert.equal(unchecked, undefined)
      assert.equal(parse(fits), { ok: true, value: fits })
      const wrong = parse(breaks)
      assert.match(wrong.ok ? '' : wrong.message, /^Invalid arguments: .+\. Correct them and call again\.$/)
    })

  it('takes arguments without what the server fills in, and no others', () => {
    const field = { type: 'object', properties: { n: { type: 'number', default: 0 }, m: text }, required: ['n', 'm'] }
    const schema = {
      type: 'object',
      properties: { scale: { type: 'string', default: 'css' }, name: text, field },
      required: ['scale', 'name'],
    }
    const { parse, shown } = new InputChecks().of(schema)
    for (const fits of [{ name: 'x' }, { name: 'x', field: { m: 'y' } }])
      assert.equal(parse(fits), { ok: true, value: fits })
    const missing = (input: object): string => {
      const parsed = parse(input)
      return parsed.ok ? '' : parsed.message
    }
    assert.match(missing({ scale: 'css' }), /name: missing/)
    assert.match(missing({ name: 'x', scale: 1 }), /scale: expected string/)
    assert.match(missing({ name: 'x', field: {} }), /field\.m: missing/)
    assert.equal(shown['required'], ['scale', 'name'], 'a model is told to give them')
  })

  it('is left to the server where nobody understands the schema', () => {
    for (const schema of [
      { type: 'object', properties: { a: { $ref: 'https://example.org/a.json' } } },
      { type: 'object', properties: { a: { type: 'string', pattern: '(' } } },
    ]) {
      const { parse, unchecked } = new InputChecks().of(schema)
      assert.ok(unchecked !== undefined)
      assert.equal(parse({ a: 'x' }), { ok: true, value: { a: 'x' } })
    }
  })

  it('refuses what is no object before it looks at a schema', () => {
    const { parse } = new InputChecks().of({ type: 'object' })
    assert.equal(parse(undefined), { ok: true, value: {} })
    assert.equal(parse([1]).ok, false)
    assert.equal(parse(7).ok, false)
    const cut = parse('{"a": ')
    assert.match(cut.ok ? '' : cut.message, /^The arguments are not valid JSON: \{"a": /)
  })

  it('adds nothing to the arguments: defaults are those of the server', () => {
    const { parse } = new InputChecks().of({ type: 'object', properties: { a: { type: 'number', default: 7 } } })
    assert.equal(parse({}), { ok: true, value: {} })
  })

  it('reads the same schema once', () => {
    const checks = new InputChecks()
    assert.is(checks.of({ type: 'object' }), checks.of({ type: 'object' }))
  })

  it('is of what the server said, and the model is shown it mended', () => {
    const { parse, shown, unchecked } = new InputChecks().of({
      type: 'object',
      properties: { n: { type: 'number', minimum: 0, exclusiveMinimum: true }, deep: { properties: null } },
    })
    assert.equal(shown, { type: 'object', properties: { n: { type: 'number', exclusiveMinimum: 0 }, deep: {} } })
    assert.match(unchecked ?? '', '/properties/deep/properties')
    assert.is(parse({ n: 0 }).ok, false)
  })
})
