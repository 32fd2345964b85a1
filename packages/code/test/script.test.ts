import { assert, describe } from '../../../test/support/suite.ts'
import { quickJsEngine } from '../src/quickJsEngine.ts'
import { runText, valueOf } from './scripts.ts'

const engine = quickJsEngine()

describe('a script', (it) => {
  it('that has ended waits for the calls that it did not wait for', async () => {
    const [called, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let isOver = false
    const slow = async (): Promise<void> => {
      called.resolve()
      await gate.promise
    }
    const outcome = runText(engine, 'void tools.slow(); return 1', { tools: { slow } }).finally(() => (isOver = true))
    await called.promise
    for (let turns = 0; turns < 3; turns++) await new Promise(setImmediate)
    assert.not(isOver)
    gate.resolve()
    assert.is(await valueOf(outcome), 1)
  })

  it('has as many calls under way as it may, and the others after them in order', async () => {
    const [order, most] = [[] as number[], { now: 0, ever: 0 }]
    const text = 'return (await Promise.all([1, 2, 3, 4, 5, 6, 7].map((v) => tools.one(v)))).length'
    const one = async (value: number): Promise<void> => {
      order.push(value)
      most.ever = Math.max(most.ever, (most.now += 1))
      await new Promise(setImmediate)
      most.now -= 1
    }
    assert.is(await valueOf(runText(engine, text, { tools: { one }, atOnce: 3 })), 7)
    assert.equal([order, most.ever], [[1, 2, 3, 4, 5, 6, 7], 3])
  })

  it('finds tools by names that it was not told of, in another way too', async () => {
    const tools = { 'read-file': (input: unknown) => input, $find: ({ query }: { query: string }) => [query] }
    const text = `return [await tools['read-file']({ a: 1 }), await tools.$call('read-file', { b: 2 }), await tools.$find('files')]`
    assert.equal(await valueOf(runText(engine, text, { tools })), [{ a: 1 }, { b: 2 }, ['files']])
  })

  it('returns what JSON has no form for as what it holds', async () => {
    const text = `return { map: new Map([['a', 1]]), set: new Set([1, 2]), big: 12n, error: new TypeError('no'), open: tools.read() }`
    const read = (): string => 'text'
    assert.equal(await valueOf(runText(engine, text, { tools: { read } })), {
      map: [['a', 1]],
      set: [1, 2],
      big: '12n',
      error: 'TypeError: no',
      open: '[a promise that was not awaited]',
    })
  })

  it('reads an error of a tool with its code and the place of the call', async () => {
    const fail = (): never => {
      throw Object.assign(new Error('nobody may'), { code: 'DENIED' })
    }
    const caught = `try { await tools.fail() } catch (e) { return [e instanceof ToolError, e.name, e.code, e.message] }`
    assert.equal(await valueOf(runText(engine, caught, { tools: { fail } })), [
      true,
      'ToolError',
      'DENIED',
      'nobody may',
    ])
    const outcome = await runText(engine, `\n  await tools.fail()`, { tools: { fail } })
    assert.is(outcome.ok ? '' : outcome.error, 'ToolError DENIED: nobody may (line 2, column 15)')
  })
})

const wrong: readonly (readonly [what: string, text: string, error: string])[] = [
  ['a mistake in the syntax', 'const a = 1\nconst b = ;', 'SyntaxError: Expression expected (line 2, column 11)'],
  ['a text that ends too early', 'return ((', 'SyntaxError: Expression expected (at its end)'],
  ['a mistake after types', 'const a: number = 1\nconst b = ;', 'SyntaxError: Expression expected (line 2, column 11)'],
  [
    'an enum',
    'const a = 1\nenum B { C }',
    'SyntaxError: TypeScript enum is not supported: only types can be taken away (line 2, column 1)',
  ],
  [
    'a name that is not there',
    'const a = 1\n\n  nothing.here()',
    'ReferenceError: nothing is not defined (line 3, column 3)',
  ],
  [
    'an error of its own',
    'const f = () => {\n  throw new TypeError("bad")\n}\nf()',
    'TypeError: bad (line 2, column 13)',
  ],
  ['a thrown text', 'throw "bad"', 'bad'],
  ['a thrown nothing', 'throw undefined', 'undefined'],
  ['a thrown object', 'throw { a: 1 }', '{"a":1}'],
]

describe('the error of a script', (it) => {
  for (const [what, text, error] of wrong)
    it(`for ${what} says what is wrong, and where in its own text`, async () => {
      const outcome = await runText(engine, text)
      assert.is(outcome.ok ? '' : outcome.error, error)
    })

  it('types are taken away, and what is plain is left alone', async () => {
    const text =
      'type A = { a: number }\nconst list: A[] = [{ a: 1 }]\nconst f = <T,>(x: T): T => x\nreturn f<A>(list[0] as A).a!'
    assert.is(await valueOf(runText(engine, text)), 1)
    // As TypeScript this is a call with a type; as JavaScript it is two comparisons.
    assert.is(await valueOf(runText(engine, 'const [a, b, c] = [1, 2, 3]; return a < b > (c)')), false)
  })
})
