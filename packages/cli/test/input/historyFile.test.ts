import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { historyFile } from '../../src/terminal/input/historyFile.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { projectFolder } from '../cliChild.ts'

const script = new URL('../../src/terminal/input/historyFile.ts', import.meta.url).href

describe('what was said, in a file', (it) => {
  it('comes back in its order, whatever its characters, and without what is not to be kept', async (context) => {
    const file = join(projectFolder(context), 'history')
    const history = historyFile(file)
    assert.equal(await history.read(), [])
    for (const text of [
      'one',
      'two\nlines "quoted"',
      ' secret',
      '',
      'two\nlines "quoted"',
      '日本 👩‍💻',
      'x'.repeat(40_000),
    ])
      await history.keep(text)
    assert.equal(await historyFile(file).read(), ['one', 'two\nlines "quoted"', '日本 👩‍💻'])
    assert.is(statSync(file).mode & 0o777, 0o600)
    assert.match(readFileSync(file, 'utf8'), /^(?:\{"text":".*"\}\n)+$/)
  })

  it('is read by its owner alone, also one that others could read', async (context) => {
    const file = join(projectFolder(context, { history: '{"text":"old"}\n' }), 'history')
    chmodSync(file, 0o644)
    assert.equal(await historyFile(file).read(), ['old'])
    assert.is(statSync(file).mode & 0o777, 0o600)
  })

  it('has no secret', async (context) => {
    const file = join(projectFolder(context), 'history')
    await historyFile(file, (text) => text.replaceAll('hunter22', '[redacted]')).keep('my password is hunter22')
    assert.not.match(readFileSync(file, 'utf8'), /hunter22/)
  })

  it('goes on behind a line that a process could not finish, and passes over what it does not understand', async (context) => {
    const file = join(
      projectFolder(context, { history: '{"text":"one"}\nnonsense\n[1]\n{"text":7}\nnull\n{"te' }),
      'history',
    )
    await historyFile(file).keep('two')
    assert.equal(await historyFile(file).read(), ['one', 'two'])
  })

  it('stays small, and keeps the newest', async (context) => {
    const file = join(projectFolder(context), 'history')
    const history = historyFile(file)
    for (let i = 0; i < 58; i++) await history.keep(`${i} ${'x'.repeat(20_000)}`)
    assert.ok(statSync(file).size < 300 * 1024 && statSync(`${file}.old`).size < 300 * 1024)
    const texts = await history.read()
    assert.match(texts.at(-1)!, /^57 /)
    assert.ok(texts.length >= 13)
    const numbers = texts.map((text) => Number.parseInt(text, 10))
    assert.equal(
      numbers,
      numbers.map((_, index) => numbers[0]! + index),
    )
    assert.ok(!existsSync(`${file}.lock`))
  })

  it('has at most a thousand entries', async (context) => {
    const lines = Array.from({ length: 1_500 }, (_, i) => `${JSON.stringify({ text: `t${i}` })}\n`)
    const file = join(projectFolder(context, { history: lines.join('') }), 'history')
    const texts = await historyFile(file).read()
    assert.equal([texts.length, texts[0], texts.at(-1)], [1_000, 't500', 't1499'])
  })

  it(
    'loses no line of processes that write at the same time, also while the file is put aside',
    { timeoutMs: 60_000 },
    async (context) => {
      const file = join(projectFolder(context), 'history')
      // 4 × 60 lines of 2 kB: the file is full once, in the middle.
      const write = `const { historyFile } = await import(${JSON.stringify(script)})
const history = historyFile(${JSON.stringify(file)})
for (let i = 0; i < 60; i++) await history.keep(process.argv[1] + '-' + i + ' ' + 'x'.repeat(2000))`
      const run = promisify(execFile)
      await Promise.all(
        ['a', 'b', 'c', 'd'].map((name) => run(process.execPath, ['--input-type=module', '-e', write, name])),
      )
      const texts = new Set((await historyFile(file).read()).map((text) => text.split(' ')[0]))
      assert.is(texts.size, 240)
    },
  )

  it('loses no line when several put the full file aside at once', async (context) => {
    const lines = Array.from({ length: 10 }, (_, i) => `${JSON.stringify({ text: `old${i} ${'x'.repeat(30_000)}` })}\n`)
    const file = join(projectFolder(context, { history: lines.join('') }), 'history')
    const names = Array.from({ length: 12 }, (_, i) => `new${i}`)
    await Promise.all(names.map((name) => historyFile(file).keep(name)))
    assert.is((await historyFile(file).read()).length, 22)
  })

  it('follows no link, and waits for no pipe', async (context) => {
    const dir = projectFolder(context, { mine: 'untouched\n' })
    symlinkSync(join(dir, 'mine'), join(dir, 'history'))
    const linked = historyFile(join(dir, 'history'))
    await assert.rejects(() => linked.keep('x'), /ELOOP/)
    assert.is(readFileSync(join(dir, 'mine'), 'utf8'), 'untouched\n')
    mkdirSync(join(dir, 'folder'))
    assert.equal(await historyFile(join(dir, 'folder')).read(), [])
    await promisify(execFile)('mkfifo', [join(dir, 'pipe')])
    assert.equal(await historyFile(join(dir, 'pipe')).read(), [])
    writeFileSync(join(dir, 'after'), '')
    // A text that could not be kept does not keep others from it.
    const history = historyFile(join(dir, 'folder', 'none', 'history'))
    await assert.rejects(() => history.keep('x'), /ENOENT/)
    mkdirSync(join(dir, 'folder', 'none'))
    await history.keep('y')
    assert.equal(await history.read(), ['y'])
  })
})
