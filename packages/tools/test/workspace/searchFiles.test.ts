import type { SearchMessage } from '../../src/workspace/searchIn.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { toolContext } from '../../../../test/support/toolContext.ts'
import { hastyClock, timeoutsOnDemand, workspaceFolder } from './workspaceFolder.ts'

const limits = { timeoutMs: 10_000 }

describe('search_files', (it) => {
  it('gives file, line and text of every match, in order of path', limits, async (context) => {
    const { call } = workspaceFolder(context, {
      'b.ts': 'const b = 1\r\nuse(b)\r\n',
      'a/x.ts': 'nothing\n\nconst ünï = 2',
      'node_modules/p/i.js': 'const hidden = 1',
      'empty.ts': '',
    })
    assert.is(await call('search_files', { pattern: '^const \\S+ =' }), 'a/x.ts:3: const ünï = 2\nb.ts:1: const b = 1')
    assert.is(await call('search_files', { pattern: 'CONST', ignoreCase: true, path: 'b.ts' }), 'b.ts:1: const b = 1')
    assert.is(await call('search_files', { pattern: '1$', path: 'a' }), '[no match in 1 file]')
    assert.is(await call('search_files', { pattern: 'const', glob: 'a/**' }), 'a/x.ts:3: const ünï = 2')
  })

  it(
    'takes expressions with and without the rules of the u flag, and explains invalid ones',
    limits,
    async (context) => {
      const { call } = workspaceFolder(context, { 'a.txt': 'Größe\na-b\n' })
      assert.is(await call('search_files', { pattern: '^\\p{L}+$' }), 'a.txt:1: Größe')
      assert.is(await call('search_files', { pattern: 'a\\-b' }), 'a.txt:2: a-b')
      await assert.rejects(
        call('search_files', { pattern: '(' }),
        /not a valid JavaScript regular expression: .*Unterminated group/,
      )
      await assert.rejects(call('search_files', { pattern: 'a', path: 'missing' }), /"missing" does not exist/)
    },
  )

  it(
    'skips binary and large files, cuts long lines around the match, and stops at the limit',
    limits,
    async (context) => {
      const { call } = workspaceFolder(context, {
        'a.bin': 'needle\0',
        'big.txt': `needle${'x'.repeat(5 * 1024 * 1024)}`,
        'long.txt': `${'x'.repeat(5000)}needle${'y'.repeat(5000)}\n`,
        'many.txt': 'needle\n'.repeat(10),
      })
      const text = await call('search_files', { pattern: 'needle', limit: 4 })
      const lines = text.split('\n')
      assert.match(lines[0] ?? '', /^long\.txt:1: …x{100}needley{194}…$/)
      assert.equal(lines.slice(1, 4), ['many.txt:1: needle', 'many.txt:2: needle', 'many.txt:3: needle'])
      assert.match(lines[4] ?? '', /^\[truncated: the first 4 matching lines/)
      assert.match(lines[5] ?? '', /^\[not searched: 1 files over 5 MB\]$/)
      assert.not.match(await call('search_files', { pattern: 'needle', limit: 11 }), /truncated/)
    },
  )

  it(
    'gives up an expression that backtracks for ever, and says in which file and what it had',
    limits,
    async (context) => {
      const files = { 'a.txt': 'aab\n', 'b.txt': `${'a'.repeat(60)}!\n` }
      const { clock, expire } = timeoutsOnDemand()
      const { call } = workspaceFolder(context, files, { clock })
      process.once('worker', (thread) =>
        thread.on('message', (message: SearchMessage) => {
          if (message.type === 'file' && message.path === 'b.txt') setImmediate(expire)
        }),
      )
      await assert.rejects(
        call('search_files', { pattern: '^(a+)+b?$|aab' }),
        /stopped after 20 s, in b\.txt\. The expression may backtrack without end: [^]*\na\.txt:1: aab$/,
      )
    },
  )

  it('stops at once when it is aborted', limits, async (context) => {
    const controller = new AbortController()
    // The timer is set when the thread starts.
    const after = (): (() => void) => {
      setImmediate(() => controller.abort(new Error('stop it')))
      return () => {}
    }
    const { call } = workspaceFolder(
      context,
      { 'b.txt': `${'a'.repeat(60)}!\n` },
      { clock: { now: hastyClock.now, after } },
    )
    const searching = call('search_files', { pattern: '^(a+)+$' }, toolContext({ signal: controller.signal }))
    await assert.rejects(searching, /stop it/)
  })
})
