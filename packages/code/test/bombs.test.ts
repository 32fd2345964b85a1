import { assert, describe } from '../../../test/support/suite.ts'
import { quickJsEngine } from '../src/quickJsEngine.ts'
import { runText, valueOf } from './scripts.ts'

const engine = quickJsEngine()

const tools = { echo: (input: unknown) => input }
/** Enough for what is right, little enough that what is not takes no time. */
const limits = { cpuMs: 80, bytes: 2 ** 24, calls: 20, valueChars: 100_000 }

const late = 'It computed for more than 80 ms.'
const full = 'It used more than 16 MiB of memory.'

const bombs: readonly (readonly [what: string, text: string, error: string | RegExp])[] = [
  ['a loop without end', 'for (;;);', late],
  ['microtasks without end', 'for (;;) await 0', late],
  ['a loop after a call', 'await tools.echo({}); for (;;);', late],
  ['a loop that catches everything', 'for (;;) { try { for (;;); } catch {} }', late],
  ['a loop in a finally', 'try { for (;;); } finally { for (;;); }', late],
  ['an expression that backtracks', 'return /^(a+)+$/.test("a".repeat(40) + "b")', late],
  ['a comparison that never ends', '[3, 2, 1].sort(() => { for (;;); })', late],
  ['a result whose toJSON never ends', 'return { toJSON() { for (;;); } }', late],
  ['a result that is awaited without end', 'return { get then() { for (;;); } }', late],
  ['an error whose message never ends', 'throw { get message() { for (;;); } }', late],
  ['a number that grows', 'let x = 3n; for (;;) x *= x', /computed|memory|RangeError/],
  ['many lines', 'for (;;) console.log("x".repeat(1e4))', late],
  ['arrays without end', 'const a = []; for (;;) a.push(new Array(1e4).fill(7))', full],
  ['a text that doubles', 'let s = "x".repeat(1 << 20); for (;;) s += s', /string too long|memory/],
  ['buffers without end', 'const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(1))', full],
  [
    'memory that it tries to go on without',
    'const a = []; for (;;) { try { a.push("x".repeat(1e5) + a.length) } catch {} }',
    full,
  ],
  ['calls within calls', 'const f = () => f(); f()', /^RangeError: Maximum call stack size exceeded \(line 1/],
  [
    'a result that is too large',
    'return "x".repeat(1e6)',
    'What it returned has 1000002 characters, more than 100000: return less.',
  ],
  ['calls without end', 'for (;;) tools.echo({})', 'It made more than 20 calls.'],
  ['21 calls that it waits for', 'for (let i = 0; i < 21; i++) await tools.echo({})', 'It made more than 20 calls.'],
  [
    'arguments that are too large',
    'await tools.echo({ text: "x".repeat(1e6) })',
    'ToolError TOO_LARGE: The arguments have 1000011 characters, more than 100000. (line 1, column 17)',
  ],
  ['a promise that never settles', 'await new Promise(() => {})', 'It waits for something that never comes.'],
]

describe('a script that would hold or fill the process', (it) => {
  for (const [what, text, error] of bombs)
    it(`${what} is ended with what its author has to know, and another script goes on`, async () => {
      const beside = runText(engine, 'return (await tools.echo({ a: 1 })).a', { tools })
      const outcome = await runText(engine, `console.log("first");${text}`, { tools, limits })
      const said = outcome.ok ? 'it ended well' : outcome.error
      if (typeof error === 'string') assert.is(said.replace(/(line 1, column )\d+/, '$117'), error)
      else assert.match(said, error)
      assert.ok(outcome.printed.startsWith('first\n'), outcome.printed.slice(0, 100))
      assert.is(await valueOf(beside), 1)
    })

  it('what it prints is kept up to a length', async () => {
    const text = 'for (let i = 0; i < 50; i++) console.log("x".repeat(9))'
    const { printed } = await runText(engine, text, { limits: { printChars: 95 } })
    assert.is(printed.length, 95)
  })
})

const unreachable = [
  'process',
  'require',
  'module',
  'fetch',
  'WebAssembly',
  'SharedArrayBuffer',
  'Atomics',
  'setTimeout',
  'setInterval',
  'performance',
  'WeakRef',
  'FinalizationRegistry',
  'Intl',
  'Buffer',
  'navigator',
  '__call',
]

/** Each returns what it found; nothing of the host is among that. */
const escapes: readonly (readonly [what: string, text: string, found: unknown])[] = [
  ['what it has not', `return ${JSON.stringify(unreachable)}.filter((name) => name in globalThis)`, []],
  ['the constructor of a tool', 'return tools.echo.constructor("return typeof process")()', 'undefined'],
  [
    'the constructor of a promise',
    'return tools.echo({}).constructor.constructor("return typeof process")()',
    'undefined',
  ],
  [
    'the constructor of an error',
    'return await tools.no({}).catch((e) => e.constructor.constructor("return typeof process")())',
    'undefined',
  ],
  ['the stack of an error', 'return /node_modules|file:|worker/.test(new Error().stack)', false],
  [
    'a hook on stacks',
    'Error.prepareStackTrace = (e, s) => s; return typeof new Error().stack?.[0]?.getThis?.()?.process',
    'undefined',
  ],
  ['modules', 'return await import("node:fs").then(() => "got it", () => "refused")', 'refused'],
  [
    'the prototype of the tools',
    'return [Object.getPrototypeOf(tools), tools.then, "x" in tools]',
    [null, null, false],
  ],
  [
    'another function in place of a tool',
    'try { tools.echo = () => 7 } catch {} return await tools.echo({ a: 1 })',
    { a: 1 },
  ],
  [
    'a caller that it changes',
    '"use strict"; try { tools.echo.call = 1; return "changed" } catch { return "frozen" }',
    'frozen',
  ],
  ['a prototype of the host', 'Object.prototype.polluted = 1; return ({}).polluted', 1],
]

/** Things that a script may break: its own calls still say what they came to. */
const poison: readonly (readonly [what: string, text: string])[] = [
  ['JSON', 'JSON.parse = () => ({ ok: true, value: "forged" }); JSON.stringify = () => \'"forged"\''],
  [
    'Promise',
    'Promise.prototype.then = function () { return 1 }; Promise.prototype.catch = null; globalThis.Promise = null',
  ],
  [
    'the constructor of promises',
    'Object.defineProperty(Promise, Symbol.species, { value: function () { throw 1 } }); Promise.prototype.constructor = undefined',
  ],
  [
    'Array.prototype',
    'Array.prototype[Symbol.iterator] = () => { throw 1 }; Array.prototype.push = Array.prototype.map = Array.prototype.join = () => { throw 1 }',
  ],
  ['Error', 'globalThis.Error = 5; Object.setPrototypeOf(Error, null)'],
  [
    'Function.prototype',
    'Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { throw 1 }',
  ],
  ['String and Object', 'globalThis.String = globalThis.Object = globalThis.Map = globalThis.Proxy = undefined'],
]

describe('a script that tries to get out', (it) => {
  for (const [what, text, found] of escapes)
    it(`${what} leads nowhere`, async () => {
      assert.equal(await valueOf(runText(engine, text, { tools })), found)
      assert.is(({} as { polluted?: number }).polluted, undefined)
    })

  for (const [what, text] of poison)
    it(`${what} can be broken without a call, its result or the end becoming another`, async () => {
      const seen: unknown[] = []
      const listening = {
        echo: (input: unknown) => {
          seen.push(input)
          return { was: input }
        },
      }
      const script = `${text}; const first = await tools.echo({ a: [1, 2] }); console.log('seen', first); return [first, await tools.echo()]`
      const outcome = await runText(engine, script, { tools: listening })
      assert.equal(seen, [{ a: [1, 2] }, {}])
      assert.equal(outcome, {
        ok: true,
        json: '[{"was":{"a":[1,2]}},{"was":{}}]',
        printed: 'seen {"was":{"a":[1,2]}}\n',
      })
    })

  it('an escape from its function is a script like another', async () => {
    assert.is(await valueOf(runText(engine, '})(); 7; (async () => { return 8', { tools })), 8)
    const outcome = await runText(engine, '}); 7; ({', { tools })
    assert.is(outcome.ok ? '' : outcome.error, 'TypeError: not a function')
  })
})
