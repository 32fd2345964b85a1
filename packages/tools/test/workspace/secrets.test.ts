import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redactor } from '../../../redaction/src/redactor.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { toolContext } from '../../../../test/support/toolContext.ts'
import { workspaceFolder } from './workspaceFolder.ts'

const secret = 'S3cr3t-0123456789-abcdefghijklmnop-QRSTUVWX'
const redact = new Redactor({ secrets: { S: secret } })
const context = () => ({ ...toolContext(), redact })
const keyLine = (n: number): string => `MIIEKEY${String(n).padStart(57, 'A')}`
const privateKey = [
  '-----BEGIN PRIVATE KEY-----',
  ...Array.from({ length: 26 }, (_, n) => keyLine(n)),
  '-----END PRIVATE KEY-----',
].join('\n')

const assertNone = (text: string): void => {
  for (let at = 0; at + 8 <= secret.length; at++) assert.not.match(text, secret.slice(at, at + 8))
  assert.not.match(text, /MIIEKEY/)
}

describe('a secret in a file', (it) => {
  it('is not read by half where the text is cut or only some lines are asked for', async (given) => {
    const { call, dir } = workspaceFolder(given, { 'key.pem': `# mine\n${privateKey}\nend\n` })
    for (const [offset, limit] of [
      [1, 40],
      [5, 3],
      [20, 20],
    ])
      assertNone(await call('read_file', { path: 'key.pem', offset, limit }, context()))
    assert.is(
      await call('read_file', { path: 'key.pem', offset: 29 }, context()),
      '[lines 29–30 of 30]\n[redacted]\nend\n',
    )
    writeFileSync(join(dir, 'half.pem'), privateKey.slice(0, -40))
    assert.is(
      await call('read_file', { path: 'half.pem', offset: 5, limit: 3 }, context()),
      '[lines 5–7 of 27]\n[redacted]',
    )
    writeFileSync(join(dir, 'long.txt'), 'x'.repeat(50_000 - 20) + secret + 'y'.repeat(100))
    const text = await call('read_file', { path: 'long.txt' }, context())
    assertNone(text)
    assert.match(text, /x\[redacted:S\]$/)
    writeFileSync(join(dir, 'plain.txt'), 'é\n'.repeat(9))
    assert.is(
      await call('read_file', { path: 'plain.txt', offset: 3, limit: 2 }, context()),
      '[lines 3–4 of 9]\né\né\n',
    )
  })

  it('is not found by half in a search', async (given) => {
    const { call } = workspaceFolder(given, {
      'key.pem': privateKey,
      'long.txt': `${'x'.repeat(400)} needle ${'y'.repeat(180)}${secret} ${'z'.repeat(400)}`,
      'crlf.txt': 'one\r\nneedle two\r\n\r\nneedle',
    })
    assert.match(await call('search_files', { pattern: 'A12$' }, context()), /^key\.pem:14: \[redacted\]$/)
    const found = await call('search_files', { pattern: 'needle' }, context())
    assertNone(found)
    assert.match(found, /^crlf\.txt:2: needle two\ncrlf\.txt:4: needle\nlong\.txt:1: …x+ needle y+\[redacted:S\]…$/)
    assert.match(await call('search_files', { pattern: 'needle two' }), /^crlf\.txt:2: needle two$/)
  })

  it('is not shown by half beside an edit', async (given) => {
    const line = `${'x'.repeat(180)}${secret}${'y'.repeat(100)}`
    const { call } = workspaceFolder(given, { 'a.txt': `${line}\nold\n${line}\n` })
    const edited = await call('edit_file', { path: 'a.txt', oldText: 'old', newText: `new ${line}` }, context())
    assertNone(edited)
    assert.match(edited, /\+new x+\[redacted:S\]/)
    const wanted = { path: 'a.txt', oldText: `${'x'.repeat(180)}S3cr3t`.replace('xx', 'xz'), newText: '' }
    const problem = await call('edit_file', wanted, context()).catch(String)
    assert.match(problem, /The most similar line is 1:\nx+\[redact/)
    assertNone(problem)
  })

  it('is not told by half by a command, in its output and on the way', { timeoutMs: 20_000 }, async (given) => {
    const { call, dir } = workspaceFolder(given)
    const room = 10_000 - 20
    writeFileSync(join(dir, 'out.txt'), `${'x'.repeat(room)}${secret}${'y\n'.repeat(20_000)}${privateKey}\nlast\n`)
    const seen = context()
    const text = await call('run_command', { command: 'cat out.txt' }, seen)
    assertNone(text)
    assert.match(text, /characters left out/)
    assert.match(text, /\n\[redacted\]\nlast\n\[exit code 0/)
    assertNone(JSON.stringify(seen.reports))
  })
})
