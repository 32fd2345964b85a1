import * as fc from 'fast-check'
import { ServerSecrets } from '../../src/client/serverSecrets.ts'
import { StandardError } from '../../src/client/standardError.ts'
import { someRuns } from '../../../../test/support/seeds.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { opened, raw } from './opened.ts'

const timeoutMs = 10_000
const secret = 'hunter2-hunter2'
const noRestart = { restart: { maxRestarts: 0 } }

describe('the last line that a server wrote to standard error', (it) => {
  const lastOf = (...pieces: readonly string[]): string | undefined => {
    const stderr = new StandardError()
    for (const piece of pieces) stderr.push(piece)
    return stderr.lastLine((text) => new ServerSecrets([secret, 'two\nlines of a key'], () => {}).cutOff(text))
  }

  it('is the last that is not empty, in one line, of at most 200 characters', () => {
    for (const [pieces, line] of [
      [[], undefined],
      [['\n  \r\n'], undefined],
      [['first\nsec', 'ond\n\n \n'], 'second'],
      [['\u001B[31mError:\u001B[0m\tno\u0007 folder\r\n'], 'Error: no folder'],
      [['a'.repeat(1_000)], `${'a'.repeat(199)}…`],
      [['x'.repeat(100_000)], undefined],
      [['x'.repeat(100_000), '\nthe end'], 'the end'],
    ] as const)
      assert.is(lastOf(...pieces), line)
  })

  const node = 'Node.js v24.21.0'
  for (const [what, text, line] of [
    [
      'an error that was thrown',
      `file:///x/server.mjs:3\nthrow new Error("DATABASE_URL is not set")\n      ^\n\nError: DATABASE_URL is not set\n    at file:///x/server.mjs:3:7\n    at async node:internal/x:1:2\n\n${node}\n`,
      'Error: DATABASE_URL is not set',
    ],
    [
      'a file that is missing',
      `node:internal/modules/cjs/loader:1424\n  throw err;\n  ^\n\nError: Cannot find module '/x/y.js'\nRequire stack:\n- /x/z.js\n    at Function._resolveFilename (node:internal:1:1) {\n  code: 'MODULE_NOT_FOUND',\n  requireStack: []\n}\n\n${node}\n`,
      "Error: Cannot find module '/x/y.js' Require stack: - /x/z.js",
    ],
    [
      'an error with a cause',
      `started\nDatabaseError: no connection\n    at a (b:1:1) {\n  [cause]: Error: connect ECONNREFUSED\n      at c (d:1:1) {\n    errno: -111\n  }\n}\n`,
      'DatabaseError: no connection',
    ],
    [
      'an error without frames',
      `Failed to start: [Error: wrong DSN] {\n  code: 'X'\n}\n`,
      'Failed to start: [Error: wrong DSN] {',
    ],
    [
      'a rejection',
      `node:internal/process/promises:394\n      triggerUncaughtException(err, true);\n      ^\n\n[UnhandledPromiseRejection: reason "x".] {\n  code: 'ERR_UNHANDLED_REJECTION'\n}\n\n${node}\n`,
      '[UnhandledPromiseRejection: reason "x".] {',
    ],
    [
      'Python',
      'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    main()\nValueError: no key\n',
      'ValueError: no key',
    ],
    [
      'Go',
      'panic: no key\n\ngoroutine 1 [running]:\nmain.main()\n\t/x/main.go:4 +0x1d\nexit status 2\n',
      'panic: no key',
    ],
    [
      'Java',
      'Exception in thread "main" java.lang.RuntimeException: x\n\tat A.b(A.java:1)\nCaused by: java.io.IOException: no key\n\tat A.c(A.java:2)\n\t... 1 more\n',
      'Caused by: java.io.IOException: no key',
    ],
    ['Rust', "thread 'main' panicked at src/main.rs:2:5:\nno key\nnote: run with `RUST_BACKTRACE=1`\n", 'no key'],
    [
      'an error that it went on after',
      `Error: a request failed\n    at a (b:1:1)\nThe port 80 is taken.\n`,
      'The port 80 is taken.',
    ],
    ['only brackets', '  }\n}\n', '}'],
  ] as const)
    it(`is the error of a crash: ${what}`, () => assert.is(lastOf(text), line))

  it('has no secret, nor a part of one, wherever it is cut', () => {
    assert.is(lastOf(`key: ${secret}\n`), 'key: [redacted:mcp]')
    assert.is(lastOf('key: two\nlines of a key.\n'), 'key: [redacted:mcp].')
    assert.is(lastOf('key: hunter2-hun'), 'key: [redacted]')
    const pieces = fc.array(fc.oneof(fc.constantFrom(secret, '\n', 'x'.repeat(190), 'y'.repeat(32_700)), fc.string()))
    fc.assert(
      fc.property(pieces, (all) => assert.not.match(lastOf(...all) ?? '', /hunter2|-hunt/)),
      { numRuns: someRuns(200), seed: 18 },
    )
  })

  it('is in the trouble of one that does not start, or does not answer', { timeoutMs }, async (context) => {
    const writes = 'starting\nError: $TOKEN has no rights\n'
    for (const [start, more, trouble] of [
      ['exit', {}, 'it did not start: it exited with code 3'],
      // Long enough for a process to begin on a machine that is busy.
      ['hang', { connectMs: 2_500 }, 'it did not answer within 2500 ms'],
    ] as const) {
      const options = { ...raw({ start, writes }), env: { TOKEN: secret }, ...noRestart, ...more }
      const { connection } = await opened(context, options)
      const said = ', and last wrote "Error: [redacted:mcp] has no rights"'
      assert.is(connection.trouble, `${trouble}${said}`)
      assert.is(connection.status().trouble, `${trouble}${said}`)
    }
  })

  it('is in the error of a call in which it died, and of those after it', { timeoutMs }, async (context) => {
    const options = { ...raw({ writes: 'cannot open $TOKEN\n' }), env: { TOKEN: secret }, ...noRestart }
    const open = await opened(context, options)
    const why = 'it exited with code 7, and last wrote "cannot open [redacted:mcp]"'
    for (const [name, says] of [
      ['die', `ended in the middle of the call: ${why}. Whether it took effect is not known.`],
      ['echo', `is not there: ${why}.`],
    ] as const) {
      const thrown = await open.call(name).catch((error: unknown) => error)
      assert.is((thrown as Error).message, `The MCP server "raw" ${says}`)
    }
  })
})

describe('what a server writes to standard error', (it) => {
  it('is told without secrets, though they come in pieces', { timeoutMs }, async (context) => {
    const [first, second] = ['hunter2-', 'hunter2']
    const write = (text: string): string => `process.stderr.write(${JSON.stringify(text)})`
    const script = `${write(`a\nkey: ${first}`)}; setTimeout(() => { ${write(`${second}\nlast: ${secret.slice(0, -1)}`)} }, 300)`
    const options = { name: 'told', command: process.execPath, args: ['-e', script], env: { TOKEN: secret } }
    const { log } = await opened(context, { ...options, ...noRestart })
    const told = log.filter((line) => line.includes('wrote to standard error')).join('\n')
    assert.not.match(told, /hunter2|-hunt/)
    assert.match(told, /key: [^]*\[redacted:mcp\]/)
    assert.match(told, /last: [^]*\[redacted\]/)
  })
})
